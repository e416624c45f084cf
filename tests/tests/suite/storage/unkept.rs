//! Replies that are counted and not stored, and turns for a conversation of a certain length.

use cicerone_domain::Agent;
use cicerone_domain::conversation::Turn;
use cicerone_domain::idempotency::{Claimed, Subject};
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, IdempotencyStore as _, SourceStore as _,
    UsageStore as _,
};
use cicerone_domain::usage::{Day, TokenCount};

use super::fixture::{assert_conflict, assert_not_found, completion, on_each, response};

#[tokio::test]
async fn a_reply_that_is_not_stored_is_counted_and_its_answer_is_kept() {
    on_each(async |world| {
        let agent = world.agent().await;
        let turn = world.first_turn(&agent, &[("user", "17")]);
        let subject = Some((agent.id.to_string(), Some(agent.id)));
        let done = completion(&world.claim("reply").await, "reply", subject);
        let counted = world.storage.count_reply(turn.clone(), done).await.unwrap();
        assert_eq!(counted, turn);
        for table in ["conversations", "messages", "conversation_metadata"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
        let (month, _) = Day::month_of(world.now());
        let used = world.storage.consumption(world.account, month).await.unwrap();
        let TokenCount { prompt, completion } = turn.tokens;
        assert_eq!((used.messages, used.tokens), (1, prompt + completion));
        let again = world.repeat("reply").await;
        assert!(matches!(again, Claimed::Replay(..)), "{again:?}");

        world.storage.delete_agent(&world.scope(), agent.id, world.now(), None).await.unwrap();
        let again = world.repeat("reply").await;
        assert!(matches!(again, Claimed::Erased(..)), "{again:?}");
        assert_not_found(world.storage.count_reply(turn, None).await, "agent");
    })
    .await;
}

#[tokio::test]
async fn deleting_a_source_erases_answers_with_replies_that_are_not_stored() {
    on_each(async |world| {
        let (agent, other) = (world.agent().await, world.agent().await);
        let (scope, source) = (world.scope(), world.text_source(&agent).await);
        let replies = |agent: &Agent| Some((Subject::of_replies(agent.id).id, Some(agent.id)));
        for (key, agent) in [("reply", &agent), ("other", &other)] {
            let done = completion(&world.claim(key).await, "a reply", replies(agent));
            world.storage.count_reply(world.first_turn(agent, &[]), done).await.unwrap();
        }
        let claim = world.claim("agent").await;
        let itself = Some((agent.id.to_string(), Some(agent.id)));
        world.storage.complete(&claim, response("an agent", itself)).await.unwrap();
        world.storage.delete_source(&scope, source.id, world.now(), None).await.unwrap();
        for (key, is_erased) in [("reply", true), ("other", false), ("agent", false)] {
            let again = world.repeat(key).await;
            assert_eq!(matches!(again, Claimed::Erased(..)), is_erased, "{key}: {again:?}");
        }
        world.storage.delete_agent(&scope, other.id, world.now(), None).await.unwrap();
        assert!(matches!(world.repeat("other").await, Claimed::Erased(..)));
    })
    .await;
}

#[tokio::test]
async fn a_turn_for_a_conversation_that_has_gone_on_is_refused() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        let after = |after| Turn { after, ..world.next_turn(&conversation, "And then?") };
        assert_conflict(world.storage.append_turn(after(Some(4)), None).await);
        world.storage.append_turn(after(Some(2)), None).await.unwrap();
        assert_conflict(world.storage.append_turn(after(Some(2)), None).await);
        world.storage.append_turn(after(None), None).await.unwrap();
        assert_eq!(world.count("messages"), 6);
        let (month, _) = Day::month_of(world.now());
        let used = async || world.storage.consumption(world.account, month).await.unwrap();
        assert_eq!(used().await.messages, 3, "a refused turn counts nothing by itself");

        let refused = after(Some(2));
        let TokenCount { prompt, completion } = refused.tokens;
        let before = used().await.tokens;
        for n in 4..6 {
            world.storage.count_refused_reply(world.account, refused.usage()).await.unwrap();
            assert_eq!(used().await.messages, n);
            // The second time, the agent is gone.
            if n == 4 {
                let (scope, now) = (world.scope(), world.now());
                world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
            }
        }
        assert_eq!(used().await.tokens, before + 2 * (prompt + completion));
    })
    .await;
}
