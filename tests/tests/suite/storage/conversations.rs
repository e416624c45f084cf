//! Conversations and their messages.

use cicerone_domain::agent::RetentionDays;
use cicerone_domain::conversation::{CitedPassage, ConversationFilter, PlacedMessage, Turn};
use cicerone_domain::idempotency::Claimed;
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, Housekeeping as _, UsageStore as _,
};
use cicerone_domain::usage::{AccountQuotas, Consumption, Day, Quota, TokenCount, UsageFilter};
use cicerone_domain::{AgentPatch, Citation, Conversation, Page, limits};

use super::fixture::{
    after, all_pages, assert_conflict, assert_not_found, completion, first, new_id, on_each,
};

/// A citation with one passage.
fn citation(title: &str) -> Citation {
    let document_id = new_id();
    let passage = CitedPassage {
        document_id,
        position: 7,
        title: Some(title.to_owned()),
        url: Some("https://example.com/röm".to_owned()),
        page: Some(3),
        heading: None,
        text: "Sieben Hügel".to_owned(),
    };
    Citation {
        id: new_id(),
        title: title.to_owned(),
        url: passage.url.clone(),
        document_id: Some(document_id),
        passages: vec![passage],
    }
}

#[tokio::test]
async fn a_citation_that_an_earlier_version_stored_has_no_passages() {
    on_each(async |world| {
        let agent = world.agent().await;
        let mut turn = world.first_turn(&agent, &[]);
        turn.reply.sources_used = vec![citation("Rom")];
        let stored = world.storage.append_turn(turn, None).await.unwrap();
        let cited = Citation {
            url: None,
            document_id: None,
            passages: Vec::new(),
            ..stored.reply.sources_used[0].clone()
        };
        let json = format!("[{{\"id\": \"{}\", \"title\": \"Rom\"}}]", cited.id);
        world.execute(&format!("UPDATE messages SET sources_used = '{json}' WHERE position = 1"));
        let id = stored.conversation.id;
        let (_, messages) =
            world.storage.find_conversation(&world.scope(), id).await.unwrap().unwrap();
        assert_eq!(messages.items[0].message.sources_used, [cited]);
    })
    .await;
}

#[tokio::test]
async fn a_conversation_reads_back_with_its_messages_in_order() {
    on_each(async |world| {
        let agent = world.agent().await;
        let mut one = world.first_turn(&agent, &[("user", "Ännchen"), ("b", "")]);
        one.reply.sources_used = vec![citation("Rom 🏛")];
        one.conversation.counts.unanswered = 0;
        let stored = world.storage.append_turn(one.clone(), None).await.unwrap();
        assert_eq!(stored, one);
        let two = world.next_turn(&one.conversation, "And now?");
        world.storage.append_turn(two.clone(), None).await.unwrap();

        let (scope, id) = (world.only(&agent), one.conversation.id);
        let (conversation, messages) =
            world.storage.find_conversation(&scope, id).await.unwrap().unwrap();
        assert_eq!(conversation, two.conversation);
        let placed = [two.reply, two.question, one.reply, one.question];
        let placed = (0..4).rev().zip(placed);
        let placed =
            placed.map(|(position, message)| PlacedMessage { position, message, rating: None });
        assert_eq!(messages, Page { items: placed.collect(), next: None });
        assert_eq!(world.storage.find_conversation(&scope, new_id()).await.unwrap(), None);
        let context = world.storage.context(&scope, agent.id, Some(id), 9).await.unwrap();
        let (_, history) = context.conversation.unwrap();
        assert!(history.iter().all(|message| message.sources_used.is_empty()), "{history:?}");
    })
    .await;
}

#[tokio::test]
async fn a_conversation_shows_the_newest_messages_that_fit_and_pages_give_the_others() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        // The reply repeats the question, so that two turns take two thirds of the limit.
        let large = "x".repeat(limits::LIST_BYTES / 6);
        for number in 0..3 {
            let turn = world.next_turn(&conversation, &format!("{number}{large}"));
            world.storage.append_turn(turn, None).await.unwrap();
        }
        let (scope, id) = (world.scope(), conversation.id);
        let (_, shown) = world.storage.find_conversation(&scope, id).await.unwrap().unwrap();
        let positions = |page: &Page<PlacedMessage>| {
            page.items.iter().map(|message| message.position).collect::<Vec<_>>()
        };
        assert_eq!(positions(&shown), [7, 6, 5, 4, 3]);
        let list = async |page| world.storage.list_messages(&scope, id, page).await;
        let older = list(after(100, shown.next)).await.unwrap();
        assert_eq!(positions(&older), [2, 1, 0]);
        assert_eq!(older.next, None);
        for size in [1, 3, 100] {
            let all = all_pages(size, list).await;
            let all: Vec<_> = all.iter().map(|message| message.position).collect();
            assert_eq!(all, [7, 6, 5, 4, 3, 2, 1, 0], "page_size {size}");
        }
        let nobody = world.storage.list_messages(&scope, new_id(), first(9)).await;
        assert_not_found(nobody, "conversation");
    })
    .await;
}

#[tokio::test]
async fn what_lies_outside_the_scope_does_not_exist() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        let (storage, id) = (&world.storage, conversation.id);
        for scope in world.outside().await {
            assert_not_found(storage.context(&scope, agent.id, None, 9).await, "agent");
            assert_not_found(storage.context(&scope, agent.id, Some(id), 9).await, "agent");
            let filter = ConversationFilter::default();
            let list = storage.list_conversations(&scope, agent.id, filter, first(9)).await;
            assert_not_found(list, "agent");
            assert_eq!(storage.find_conversation(&scope, id).await.unwrap(), None);
            let messages = storage.list_messages(&scope, id, first(9)).await;
            assert_not_found(messages, "conversation");
            let delete = storage.delete_conversation(&scope, id, world.now(), None).await;
            assert_not_found(delete, "conversation");
        }
        assert_eq!(world.count("conversations"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_message_finds_its_agent_and_the_last_messages() {
    on_each(async |world| {
        let agent = world.agent().await;
        let first = world.first_turn(&agent, &[]);
        let mut conversation = world.storage.append_turn(first, None).await.unwrap().conversation;
        let mut messages = Vec::new();
        for number in 0..3 {
            let turn = world.next_turn(&conversation, &format!("Question {number}"));
            conversation = turn.conversation.clone();
            messages.extend([turn.question.clone(), turn.reply.clone()]);
            world.storage.append_turn(turn, None).await.unwrap();
        }
        let (scope, storage) = (world.scope(), &world.storage);
        let context = storage.context(&scope, agent.id, Some(conversation.id), 4).await.unwrap();
        assert_eq!(context.agent, agent);
        assert_eq!(context.conversation, Some((conversation, messages[2..].to_vec())));
        let context = storage.context(&scope, agent.id, None, 4).await.unwrap();
        assert_eq!((context.agent, context.conversation), (agent, None));
    })
    .await;
}

#[tokio::test]
async fn a_message_to_what_does_not_fit_is_refused() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        let conversation = world.conversation(&agent, &[]).await;
        let (scope, storage, id) = (world.scope(), &world.storage, Some(conversation.id));
        assert_not_found(storage.context(&scope, new_id(), None, 9).await, "agent");
        let unknown = storage.context(&scope, agent.id, Some(new_id()), 9).await;
        assert_not_found(unknown, "conversation");
        assert_conflict(storage.context(&scope, other.id, id, 9).await);
        // It does not exist for a key that does not see the conversation's agent.
        assert_not_found(
            storage.context(&world.only(&other), other.id, id, 9).await,
            "conversation",
        );
    })
    .await;
}

#[tokio::test]
async fn a_turn_of_what_was_deleted_meanwhile_is_refused() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        let (scope, storage) = (world.scope(), &world.storage);
        storage.delete_conversation(&scope, conversation.id, world.now(), None).await.unwrap();
        let next = world.next_turn(&conversation, "Still there?");
        assert_not_found(storage.append_turn(next, None).await, "conversation");

        let new = world.first_turn(&agent, &[("a", "b")]);
        storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
        assert_not_found(storage.append_turn(new, None).await, "agent");
        for table in ["conversations", "conversation_metadata", "messages"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn turns_of_one_conversation_never_interleave() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        let other = world.reopen();
        let mut turns: Vec<Turn> =
            (0..40).map(|n| world.next_turn(&conversation, &format!("Question {n}"))).collect();
        // Each was asked before others that were stored before it.
        for turn in &mut turns {
            turn.conversation.counts = conversation.counts;
            turn.question.timestamp = conversation.updated_at;
        }
        let appends = turns.iter().enumerate().map(|(number, turn)| {
            let storage = if number % 2 == 0 { &world.storage } else { &other };
            storage.append_turn(turn.clone(), None)
        });
        let mut stored = Vec::new();
        for result in futures_util::future::join_all(appends).await {
            let turn = result.unwrap();
            stored.push((turn.number(), turn.question.timestamp, turn.reply.timestamp));
        }
        let found = world.storage.find_conversation(&world.scope(), conversation.id).await;
        let (conversation, messages) = found.unwrap().unwrap();
        assert_eq!(messages.items.len(), 82);
        for pair in messages.items.chunks(2) {
            let [reply, question] = [&pair[0].message, &pair[1].message];
            assert_eq!(reply.content, format!("Re: {}", question.content));
        }
        let last = turns.iter().map(|turn| turn.conversation.updated_at).max();
        assert_eq!(Some(conversation.updated_at), last, "the time of the latest message stays");
        let mut times: Vec<_> =
            messages.items.iter().map(|placed| placed.message.timestamp).collect();
        times.reverse();
        assert!(times.is_sorted(), "{times:?}");
        stored.sort_unstable();
        let told: Vec<_> =
            stored.iter().flat_map(|(_, asked, replied)| [*asked, *replied]).collect();
        assert_eq!(told, times[2..]);
    })
    .await;
}

#[tokio::test]
async fn a_list_is_newest_first_and_its_cursor_stays_in_its_place() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        world.conversation(&other, &[]).await;
        let mut conversations = Vec::new();
        for _ in 0..5 {
            conversations.push(world.conversation(&agent, &[("n", "1")]).await);
        }
        conversations.reverse();
        let (scope, storage) = (world.scope(), &world.storage);
        let filter = ConversationFilter::default();
        let page = async |size, next| {
            let page = after(size, next);
            storage.list_conversations(&scope, agent.id, filter.clone(), page).await.unwrap()
        };
        let one = page(2, None).await;
        world.conversation(&agent, &[]).await;
        storage.delete_conversation(&scope, conversations[1].id, world.now(), None).await.unwrap();
        let two = page(3, one.next).await;
        assert_eq!([one.items, two.items].concat(), conversations);
        assert_eq!(two.next, None);
    })
    .await;
}

#[tokio::test]
async fn a_list_is_filtered_by_time_and_by_every_pair() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        world.conversation(&other, &[("user", "ann")]).await;
        let a = world.conversation(&agent, &[("user", "ann"), ("tier", "gold")]).await;
        let b = world.conversation(&agent, &[("user", "ann"), ("tier", "tin:soft")]).await;
        let c = world.conversation(&agent, &[("tier", "gold")]).await;
        let (scope, storage) = (world.scope(), &world.storage);
        let list = async |filter: ConversationFilter| -> Vec<Conversation> {
            all_pages(1, async |page| {
                storage.list_conversations(&scope, agent.id, filter.clone(), page).await
            })
            .await
        };
        let pairs = |pairs: &[(&str, &str)]| ConversationFilter {
            metadata: pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
            ..ConversationFilter::default()
        };
        assert_eq!(list(pairs(&[("user", "ann")])).await, [b.clone(), a.clone()]);
        assert_eq!(
            list(pairs(&[("user", "ann"), ("tier", "gold")])).await,
            std::slice::from_ref(&a)
        );
        assert_eq!(list(pairs(&[("tier", "tin:soft")])).await, std::slice::from_ref(&b));
        assert_eq!(list(pairs(&[("tier", "Gold")])).await, []);
        let between = ConversationFilter {
            created_after: Some(a.created_at),
            created_before: Some(c.created_at),
            ..ConversationFilter::default()
        };
        assert_eq!(list(between).await, [b]);
    })
    .await;
}

#[tokio::test]
async fn deleting_a_conversation_leaves_no_row_of_it() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[("a", "b")]).await;
        let (scope, now) = (world.scope(), world.now());
        let delete = || world.storage.delete_conversation(&scope, conversation.id, now, None);
        delete().await.unwrap();
        for table in ["conversations", "conversation_metadata", "messages"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
        assert_not_found(delete().await, "conversation");
    })
    .await;
}

#[tokio::test]
async fn conversations_are_kept_as_long_as_their_agent_says() {
    on_each(async |world| {
        let (keeping, forever) = (world.agent().await, world.agent().await);
        let patch = AgentPatch {
            retention_days: Some(Some(RetentionDays::parse(2).unwrap())),
            ..AgentPatch::default()
        };
        let (scope, now) = (world.scope(), world.now());
        world.storage.update_agent(&scope, keeping.id, patch, now, None).await.unwrap();
        let claim = world.claim("asked").await;
        let turn = world.first_turn(&keeping, &[("a", "b")]);
        let subject = (turn.conversation.id.to_string(), Some(keeping.id));
        let kept = completion(&claim, "a reply", Some(subject));
        let old = world.storage.append_turn(turn, kept).await.unwrap().conversation;
        let other = world.conversation(&forever, &[]).await;
        let later = world.next_turn(&world.conversation(&keeping, &[]).await, "And now?");
        let newer = world.storage.append_turn(later, None).await.unwrap().conversation;

        let days = |count: i64| count * 24 * 60 * 60 * 1_000;
        let end = old.updated_at.plus_millis(days(2));
        assert_eq!(world.storage.expire_conversations(end).await.unwrap(), 0);
        assert_eq!(world.storage.expire_conversations(end.plus_millis(1)).await.unwrap(), 1);
        let (gone, there) = (old.id, [other.id, newer.id]);
        assert_eq!(world.storage.find_conversation(&scope, gone).await.unwrap(), None);
        for id in there {
            assert!(world.storage.find_conversation(&scope, id).await.unwrap().is_some());
        }
        let repeated = world.repeat("asked").await;
        assert!(matches!(repeated, Claimed::Erased(_)), "its answer is erased: {repeated:?}");
        let end = newer.updated_at.plus_millis(days(2));
        assert_eq!(world.storage.expire_conversations(end.plus_millis(1)).await.unwrap(), 1);
        assert!(world.storage.find_conversation(&scope, other.id).await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn usage_is_kept_for_400_days_and_that_of_a_month_as_long_as_one_of_its_days() {
    on_each(async |world| {
        let agent = world.agent().await;
        let used_at = world.conversation(&agent, &[]).await.updated_at;
        let (used, month) = (Day::of(used_at), Day::month_of(used_at).0);
        let after = |days| Day::kept_since(Day::from_number(used.number() + days).start());
        let expire = |before| world.storage.expire_usage(before);
        assert_eq!(expire(after(400)).await.unwrap(), 0);
        assert_eq!(world.count("usage_days"), 1);
        assert_eq!(expire(after(401)).await.unwrap(), 1);
        assert_eq!(world.count("usage_days"), 0);
        let counted = world.storage.consumption(world.account, month).await.unwrap();
        assert_eq!(counted.messages, 1, "its quota still applies");
        assert_eq!(expire(after(432)).await.unwrap(), 1);
        let counted = world.storage.consumption(world.account, month).await.unwrap();
        assert_eq!(counted.messages, 0);
    })
    .await;
}

#[tokio::test]
async fn messages_and_tokens_are_counted_with_the_turn() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        for _ in 0..2 {
            let turn = world.next_turn(&conversation, "And now?");
            world.storage.append_turn(turn, None).await.unwrap();
        }
        let (month, next) = Day::month_of(conversation.created_at);
        let used = world.storage.consumption(world.account, month).await.unwrap();
        assert_eq!(used, Consumption { messages: 3, tokens: 30 });
        let none = world.storage.consumption(world.account, next).await.unwrap();
        assert_eq!(none, Consumption::default());
        let scope = world.scope();
        let list = |page| world.storage.list_usage(&scope, UsageFilter::default(), page);
        let listed = all_pages(1, list).await;
        assert_eq!((listed.len(), listed[0].agent_id, listed[0].messages), (1, agent.id, 3));
        assert_eq!(listed[0].tokens, TokenCount { prompt: 21, completion: 9 });
        for scope in world.outside().await {
            let page = world.storage.list_usage(&scope, UsageFilter::default(), first(9)).await;
            assert!(page.unwrap().items.is_empty());
        }
        let quotas = AccountQuotas {
            messages: Quota::AtMost(5),
            tokens: Quota::Unlimited,
            ..AccountQuotas::default()
        };
        let set = world.storage.set_quotas("ours", Some(quotas)).await.unwrap();
        assert_eq!(set, (world.account, quotas));
        assert_eq!(world.storage.set_quotas("ours", None).await.unwrap(), set);
        assert_eq!(world.storage.account_quotas(world.account).await.unwrap(), quotas);
        assert_not_found(world.storage.set_quotas("nobody", Some(quotas)).await, "account");
    })
    .await;
}

#[tokio::test]
async fn filters_by_common_pairs_and_by_rare_ones_find_the_same_among_thousands() {
    on_each(async |world| {
        let agent = world.agent().await;
        let (account, id) = (world.account, agent.id);
        world.execute(&format!(
            "INSERT INTO conversations (id, account_id, agent_id, metadata, message_count, \
             created_at, updated_at) WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n \
             WHERE x < 3000) SELECT 'conv_' || substr(CAST(10000000000 + x AS TEXT), 2), \
             '{account}', '{id}', '{{}}', 0, x, x FROM n"
        ));
        // Twenty pairs that all conversations have, one that every second one has, and one that
        // three have.
        for (name, condition) in (0..20)
            .map(|number| (format!("all{number}"), "true"))
            .chain([("half".to_owned(), "created_at % 2 = 0")])
            .chain([("rare".to_owned(), "created_at IN (7, 1000, 2998)")])
        {
            world.execute(&format!(
                "INSERT INTO conversation_metadata (conversation_id, name, value, agent_id, \
                 account_id) SELECT id, '{name}', 'yes', agent_id, account_id FROM conversations \
                 WHERE agent_id = '{id}' AND {condition}"
            ));
        }
        let found = async |names: &[String]| -> Vec<i64> {
            let pairs = names.iter().map(|name| (name.clone(), "yes".to_owned()));
            let filter = ConversationFilter { metadata: pairs.collect(), ..Default::default() };
            let scope = world.scope();
            let page = world.storage.list_conversations(&scope, id, filter, first(3)).await;
            page.unwrap().items.iter().map(|item| item.created_at.as_millis()).collect()
        };
        let all: Vec<String> = (0..20).map(|number| format!("all{number}")).collect();
        let with = |more: &[&str]| {
            let more = more.iter().map(|name| (*name).to_owned());
            more.chain(all[..18].iter().cloned()).collect::<Vec<_>>()
        };
        assert_eq!(found(&all).await, [3000, 2999, 2998]);
        assert_eq!(found(&with(&["half"])).await, [3000, 2998, 2996]);
        assert_eq!(found(&with(&["rare"])).await, [2998, 1000, 7]);
        assert_eq!(found(&with(&["half", "rare"])).await, [2998, 1000]);
        assert_eq!(found(&["rare".to_owned()]).await, [2998, 1000, 7]);
        assert!(found(&with(&["nothing"])).await.is_empty());
    })
    .await;
}
