//! Turns and new sources that are stored at the same time. PostgreSQL stores turns of an account together, and new sources
//! of an agent.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use cicerone_domain::conversation::Turn;
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, SourceStore as _, UsageStore as _,
};
use cicerone_domain::statistics::DayRange;
use cicerone_domain::usage::{Day, Quota, TokenCount};
use cicerone_domain::{Error, Managed, Page, Scope, Source, SourceContent};
use futures_util::future::join_all;

use super::bytes;
use super::fixture::{
    World, assert_conflict, assert_not_found, first, new_job, on_each, text, website,
};

/// Sources that a stranger adds.
const FLOOD: usize = 600;

/// The turns are stored at once, by two servers in turn.
async fn append_all(world: &World, turns: &[Turn]) -> Vec<Result<Turn, Error>> {
    let other = world.reopen();
    let appends = turns.iter().enumerate().map(|(number, turn)| {
        let storage = if number % 3 == 0 { &other } else { &world.storage };
        storage.append_turn(turn.clone(), None)
    });
    join_all(appends).await
}

#[tokio::test]
async fn turns_at_once_are_stored_and_counted_each_as_if_it_came_alone() {
    on_each(async |world| {
        let agents = [world.agent().await, world.agent().await];
        let mut begun = Vec::new();
        for agent in &agents {
            begun.push(world.conversation(agent, &[]).await);
        }
        let mut turns = Vec::new();
        for number in 0..80_usize {
            let n = number.to_string();
            turns.push(world.first_turn(&agents[number % 2], &[("n", &n), ("even", "?")]));
            turns.push(world.next_turn(&begun[number % 2], &n));
        }
        // Two are larger than what is stored together, and one was made on the next day.
        for turn in turns.iter_mut().take(2) {
            turn.reply.content = "x".repeat(300_000);
        }
        let tomorrow = turns[4].reply.timestamp.plus_millis(24 * 60 * 60 * 1_000);
        turns[4].reply.timestamp = tomorrow;
        let mut numbers = [BTreeSet::new(), BTreeSet::new()];
        for (number, stored) in append_all(world, &turns).await.into_iter().enumerate() {
            let (stored, turn) = (stored.unwrap(), &turns[number]);
            if turn.is_first {
                assert_eq!(&stored, turn);
            } else {
                assert_eq!(stored.question.content, turn.question.content);
                let counts = stored.conversation.counts;
                assert_eq!(counts.unanswered * 2, counts.messages);
                numbers[number / 2 % 2].insert(stored.number());
            }
            let (scope, id) = (world.scope(), stored.conversation.id);
            let found = world.storage.find_conversation(&scope, id).await.unwrap();
            let (conversation, Page { items, .. }) = found.unwrap();
            assert_eq!(conversation.metadata, turn.conversation.metadata);
            let at = items.iter().position(|placed| placed.message == stored.reply).unwrap();
            assert_eq!(items[at + 1].message, stored.question);
            assert_eq!(items[at + 1].position + 1, items[at].position);
        }
        let all: BTreeSet<u64> = (2..=41).map(|turn| turn * 2).collect();
        assert_eq!(numbers, [all.clone(), all]);
        let expected = [("messages", 324), ("conversation_metadata", 160), ("gap_questions", 162)];
        for (table, count) in expected {
            assert_eq!(world.count(table), count, "{table}");
        }
        let (month, _) = Day::month_of(world.now());
        let mut used = world.storage.consumption(world.account, month).await.unwrap();
        let (next_month, _) = Day::month_of(tomorrow);
        if next_month != month {
            let more = world.storage.consumption(world.account, next_month).await.unwrap();
            used.messages += more.messages;
            used.tokens += more.tokens;
        }
        let TokenCount { prompt, completion } = turns[0].tokens;
        assert_eq!((used.messages, used.tokens), (162, 162 * (prompt + completion)));
        let (mut messages, mut conversations) = (Vec::new(), 0);
        for agent in &agents {
            let (scope, days) = (world.scope(), DayRange::default());
            let days = world.storage.list_statistics(&scope, agent.id, days, first(10)).await;
            for day in days.unwrap().items {
                messages.push(day.messages);
                conversations += day.conversations;
                assert_eq!(day.latencies.buckets.iter().sum::<u64>(), day.messages);
                assert_eq!((day.answered, day.unanswered), (0, day.messages));
            }
        }
        assert_eq!((messages, conversations), (vec![1, 80, 81], 82));
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_is_refused_leaves_those_beside_it_alone() {
    on_each(async |world| {
        let (agent, gone) = (world.agent().await, world.agent().await);
        let kept = world.conversation(&agent, &[]).await;
        let deleted = world.conversation(&agent, &[]).await;
        let (scope, now, storage) = (world.scope(), world.now(), &world.storage);
        storage.delete_agent(&scope, gone.id, now, None).await.unwrap();
        storage.delete_conversation(&scope, deleted.id, now, None).await.unwrap();
        for with_agent in [false, true] {
            let before = world.count("messages");
            let mut turns = Vec::new();
            for _ in 0..5 {
                turns.push(world.first_turn(&agent, &[("n", "1")]));
                turns.push(world.next_turn(&kept, "And then?"));
                turns.push(world.next_turn(&deleted, "And then?"));
                if with_agent {
                    turns.push(world.first_turn(&gone, &[("n", "1")]));
                }
            }
            for (stored, turn) in append_all(world, &turns).await.into_iter().zip(&turns) {
                if turn.conversation.id == deleted.id {
                    assert_not_found(stored, "conversation");
                } else if turn.conversation.agent_id == gone.id {
                    assert_not_found(stored, "agent");
                } else {
                    stored.unwrap();
                }
            }
            assert_eq!(world.count("messages") - before, 20);
        }
        let (month, _) = Day::month_of(world.now());
        let used = storage.consumption(world.account, month).await.unwrap();
        assert_eq!(used.messages, 22, "two at the beginning and twenty since");
        assert_eq!(world.count("conversation_metadata"), 10);
    })
    .await;
}

/// The sources are added at once, each within its scope, by two servers in turn.
async fn add_all(world: &World, new: &[(Scope, Source)]) -> Vec<Result<Source, Error>> {
    let other = world.reopen();
    let added = new.iter().enumerate().map(|(number, (scope, source))| {
        let storage = if number % 3 == 0 { &other } else { &world.storage };
        storage.insert_source(scope, source.clone(), new_job(), None)
    });
    join_all(added).await
}

#[tokio::test]
async fn sources_at_once_are_added_and_counted_each_as_if_it_came_alone() {
    on_each(async |world| {
        let agents = [world.agent().await, world.agent().await];
        let upload = world.upload().await;
        let mut new = Vec::new();
        for number in 0..120_usize {
            let content = match number {
                // Three are larger than what is stored together.
                0..3 => text(&"x".repeat(300_000)),
                3 => SourceContent::File(upload.id),
                4..9 => website(number % 2 == 0),
                _ => text(&format!("Text {number}.")),
            };
            let agent = &agents[number % 2];
            let scope = if number % 5 == 0 { world.only(agent) } else { world.scope() };
            new.push((scope, world.new_source(agent, content)));
        }
        for (added, (_, source)) in add_all(world, &new).await.into_iter().zip(&new) {
            assert_eq!(&added.unwrap(), source);
            assert_eq!(&world.stored_source(source).await, source);
        }
        assert_eq!((world.count("sources"), world.count("jobs")), (120, 120));
        let jobs = "source_id IN (SELECT id FROM sources) AND state = 'queued' AND attempts = 0";
        assert_eq!(world.count_where("jobs", jobs), 120);
        assert!(bytes::kept(world).await > 900_000);
    })
    .await;
}

#[tokio::test]
async fn a_source_that_is_refused_leaves_those_beside_it_alone() {
    on_each(async |world| {
        let (agent, gone) = (world.agent().await, world.agent().await);
        let deleted = world.storage.delete_agent(&world.scope(), gone.id, world.now(), None).await;
        deleted.unwrap();
        let outside = world.outside().await;
        let identity =
            Managed::parse("museum".to_owned(), "prices".to_owned(), "0".repeat(64)).unwrap();
        let mut new = Vec::new();
        for number in 0..10 {
            let source = || world.new_source(&agent, text(&format!("Text {number}.")));
            new.push((world.scope(), source()));
            new.push((outside[number % outside.len()].clone(), source()));
            new.push((world.scope(), world.new_source(&gone, text("Too late."))));
            let managed = Some(identity.clone());
            new.push((world.scope(), Source { managed, ..source() }));
        }
        let (mut identified, mut kept) = (0, 0);
        for (added, (scope, source)) in add_all(world, &new).await.into_iter().zip(&new) {
            if source.agent_id == gone.id || outside.contains(scope) {
                assert_not_found(added, "agent");
            } else if source.managed.is_some() && added.is_err() {
                assert_conflict(added);
            } else {
                identified += u32::from(source.managed.is_some());
                kept += added.unwrap().content.as_text().len();
            }
        }
        assert_eq!((identified, world.count("sources"), world.count("jobs")), (1, 11, 11));
        assert_eq!(bytes::kept(world).await, u64::try_from(kept).unwrap());
    })
    .await;
}

#[tokio::test]
async fn sources_at_once_fill_a_quota_and_do_not_exceed_it() {
    on_each(async |world| {
        let agent = world.agent().await;
        bytes::limit(world, Quota::AtMost(1_000)).await;
        let new: Vec<_> = (0..30)
            .map(|_| (world.scope(), world.new_source(&agent, text(&"x".repeat(90)))))
            .collect();
        let added = add_all(world, &new).await;
        let refused = added.iter().filter(|added| match added {
            Ok(_) => false,
            Err(Error::BytesExceeded { limit: 1_000 }) => true,
            Err(error) => panic!("{error:?}"),
        });
        assert_eq!(refused.count(), 19);
        assert_eq!((world.count("sources"), bytes::kept(world).await), (11, 990));
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_sources_for_the_agent_of_another_account_does_not_delay_its_owner() {
    on_each(async |world| {
        let agent = world.agent().await;
        let stranger = world.outside().await.swap_remove(0);
        let refused = AtomicUsize::new(0);
        let flood = join_all((0..FLOOD).map(async |_| {
            let source = world.new_source(&agent, text(&"x".repeat(30_000)));
            let added = world.storage.insert_source(&stranger, source, new_job(), None).await;
            refused.fetch_add(1, Ordering::Relaxed);
            added
        }));
        let owner = async {
            for _ in 0..3 {
                world.text_source(&agent).await;
            }
            refused.load(Ordering::Relaxed)
        };
        let (flood, refused_before) = tokio::join!(flood, owner);
        for added in flood {
            assert_not_found(added, "agent");
        }
        assert!(refused_before < FLOOD / 2, "{refused_before} of {FLOOD} came first");
        assert_eq!(world.count("sources"), 3);
    })
    .await;
}
