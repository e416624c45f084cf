//! Ratings, and the counts of conversations and days.

use cicerone_domain::conversation::{Channel, ConversationCounts, ConversationFilter, NewRating};
use cicerone_domain::ports::{ConversationStore as _, UsageStore as _};
use cicerone_domain::statistics::{DayRange, DayStatistics, Latencies};
use cicerone_domain::usage::Day;
use cicerone_domain::{Agent, Conversation, Error, Timestamp};
use cicerone_storage::migrations;

use super::fixture::{World, all_pages, assert_not_found, first, new_id, on_each};

fn rating(value: &str) -> NewRating {
    NewRating::parse(value, Some(format!("it is {value}"))).unwrap()
}

async fn counts(world: &World, conversation: &Conversation) -> ConversationCounts {
    let found = world.storage.find_conversation(&world.scope(), conversation.id).await;
    found.unwrap().unwrap().0.counts
}

async fn days(world: &World, agent: &Agent) -> Vec<DayStatistics> {
    let (scope, range) = (world.scope(), DayRange::default());
    let list = async |page| world.storage.list_statistics(&scope, agent.id, range, page).await;
    all_pages(1, list).await
}

#[tokio::test]
async fn a_rating_changes_the_counts_of_its_conversation_and_of_the_day_of_its_reply() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        let (scope, id, storage) = (world.scope(), conversation.id, &world.storage);
        // A day after the reply.
        let later = world.now().plus_millis(24 * 60 * 60 * 1_000);
        let of_all = async |up, down| {
            let expected =
                ConversationCounts { messages: 2, unanswered: 1, rated_up: up, rated_down: down };
            assert_eq!(counts(world, &conversation).await, expected);
            let days = days(world, &agent).await;
            assert_eq!(days.len(), 1, "{days:?}");
            assert_eq!((days[0].rated_up, days[0].rated_down), (up, down));
            assert_eq!(days[0].day, Day::of(conversation.created_at));
        };
        let rated =
            storage.rate_message(&scope, id, 2, rating("up"), new_id(), later).await.unwrap();
        assert_eq!(rated.rated_at, later);
        of_all(1, 0).await;
        storage.rate_message(&scope, id, 2, rating("down"), new_id(), later).await.unwrap();
        of_all(0, 1).await;
        let other = NewRating { comment: None, ..rating("down") };
        storage.rate_message(&scope, id, 2, other, new_id(), later).await.unwrap();
        of_all(0, 1).await;
        storage.unrate_message(&scope, id, 2, None).await.unwrap();
        of_all(0, 0).await;
        assert_not_found(storage.unrate_message(&scope, id, 2, None).await, "rating");
        for number in [0, 3, u64::MAX] {
            let rated =
                storage.rate_message(&scope, id, number, rating("up"), new_id(), later).await;
            assert_not_found(rated, "message");
        }
        let of_user = storage.rate_message(&scope, id, 1, rating("up"), new_id(), later).await;
        assert!(matches!(of_user, Err(Error::InvalidOperation(_))), "{of_user:?}");
        for outside in world.outside().await {
            let rated = storage.rate_message(&outside, id, 2, rating("up"), new_id(), later).await;
            assert_not_found(rated, "conversation");
            let removed = storage.unrate_message(&outside, id, 2, None).await;
            assert_not_found(removed, "conversation");
        }
        // Removed usage of a day stays removed.
        world.execute("DELETE FROM usage_days");
        storage.rate_message(&scope, id, 2, rating("up"), new_id(), later).await.unwrap();
        assert_eq!((days(world, &agent).await, world.count("usage_days")), (Vec::new(), 0));
    })
    .await;
}

#[tokio::test]
async fn ratings_are_deleted_with_their_conversation_in_parts() {
    on_each(async |world| {
        let agent = world.agent().await;
        let conversation = world.conversation(&agent, &[]).await;
        for _ in 0..1_500 {
            let turn = world.next_turn(&conversation, "And?");
            world.storage.append_turn(turn, None).await.unwrap();
        }
        world.execute(
            "INSERT INTO ratings (conversation_id, position, account_id, value, comment, rated_at) \
             SELECT conversation_id, position, account_id, 'down', content, 1 FROM messages \
             WHERE role = 'assistant'",
        );
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_conversation(&scope, conversation.id, now, None).await.unwrap();
        for table in ["ratings", "messages", "conversations"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_statistics_of_days_are_what_their_turns_were() {
    on_each(async |world| {
        let agent = world.agent().await;
        let mut slow = world.first_turn(&agent, &[]);
        slow.reply.timestamp = slow.question.timestamp.plus_millis(1_500);
        let next_day = slow.question.timestamp.plus_millis(24 * 60 * 60 * 1_000);
        let slow = world.storage.append_turn(slow, None).await.unwrap();
        let mut next = world.next_turn(&slow.conversation, "And now?");
        next.question.timestamp = next_day;
        next.reply.timestamp = next_day.plus_millis(50);
        next.conversation.updated_at = next.reply.timestamp;
        world.storage.append_turn(next, None).await.unwrap();
        let day = |at: Timestamp, conversations, total_ms, bucket: usize| {
            let mut latencies = Latencies { total_ms, ..Latencies::default() };
            latencies.buckets[bucket] = 1;
            DayStatistics {
                day: Day::of(at),
                messages: 1,
                conversations,
                answered: 0,
                unanswered: 1,
                rated_up: 0,
                rated_down: 0,
                latencies,
            }
        };
        let first_day = slow.question.timestamp;
        let expected = [day(next_day, 0, 50, 0), day(first_day, 1, 1_500, 5)];
        assert_eq!(days(world, &agent).await, expected);
        let scope = world.scope();
        let range = DayRange { from: Some(Day::of(next_day)), to: None };
        let page = world.storage.list_statistics(&scope, agent.id, range, first(9)).await.unwrap();
        assert_eq!(page.items, expected[..1]);
        for outside in world.outside().await {
            let page = world.storage.list_statistics(&outside, agent.id, range, first(9)).await;
            assert_not_found(page, "agent");
        }
        let unknown = world.storage.list_statistics(&scope, new_id(), range, first(9)).await;
        assert_not_found(unknown, "agent");
    })
    .await;
}

#[tokio::test]
async fn conversations_of_earlier_versions_know_their_unanswered_replies() {
    on_each(async |world| {
        let agent = world.agent().await;
        let refused = world.conversation(&agent, &[]).await;
        let answered = world.conversation(&agent, &[]).await;
        world.execute(&format!(
            "UPDATE messages SET sources_used = '[]' WHERE conversation_id = '{}' AND position = 1",
            answered.id
        ));
        let name = "ratings_and_statistics";
        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains(name)) {}
        migrations::run(&world.url).unwrap();
        assert_eq!(counts(world, &refused).await.unanswered, 1);
        assert_eq!(counts(world, &answered).await.unanswered, 0);
        let listed = async |filter| {
            let scope = world.scope();
            let page = world.storage.list_conversations(&scope, agent.id, filter, first(9)).await;
            page.unwrap().items.into_iter().map(|found| found.id).collect::<Vec<_>>()
        };
        let unanswered = ConversationFilter { unanswered: true, ..Default::default() };
        assert_eq!(listed(unanswered).await, [refused.id]);
        let api = ConversationFilter { channel: Some(Channel::Api), ..Default::default() };
        assert_eq!(listed(api).await, [answered.id, refused.id]);
        let none = ConversationFilter { channel: Some(Channel::OpenAi), ..Default::default() };
        assert_eq!(listed(none).await, []);
    })
    .await;
}
