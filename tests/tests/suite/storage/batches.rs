//! Conversations with their messages, batch by batch, and search in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use cicerone_domain::conversation::{
    Batch, ConversationFilter, NewRating, NumberedText, PlacedMessage, ReadFrom, SearchWords,
};
use cicerone_domain::ports::{
    ConversationStore, LanguageModel, ModelError, ModelReply, PassageIndex, ReplyRequest, TokenSink,
};
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::services::{ConversationLimits, Conversations, Quotas};
use cicerone_domain::{
    Agent, Conversation, Error, Id, PageRequest, SystemClock, SystemEntropy, kind, limits,
};

use super::fixture::{World, assert_not_found, first, new_id, on_each};

/// Reads everything in batches of texts; returns the ids and texts, and the number of batches.
async fn texts(
    world: &World,
    agent: &Agent,
) -> (Vec<(Id<kind::Conversation>, Vec<String>)>, usize) {
    let (mut all, mut from, mut count) = (Vec::new(), Some(ReadFrom::default()), 0);
    while let Some(position) = from {
        let filter = ConversationFilter::default();
        let batch: Batch<NumberedText> =
            world.storage.read_texts(&world.scope(), agent.id, filter, position).await.unwrap();
        count += 1;
        let bytes: usize =
            batch.read.iter().flat_map(|read| &read.messages).map(|text| text.text.len()).sum();
        assert!(bytes <= limits::BATCH_BYTES, "{bytes} bytes");
        assert!(
            batch.read.len() <= 64
                && batch.read.iter().map(|read| read.messages.len()).sum::<usize>() <= 1_000
        );
        for read in batch.read {
            let id = read.conversation.id;
            if all.last().is_none_or(|(last, _)| *last != id) {
                all.push((id, Vec::new()));
            }
            let (_, texts) = all.last_mut().unwrap();
            for text in read.messages {
                assert_eq!(text.number, texts.len() as u64 + 1);
                texts.push(text.text);
            }
        }
        from = batch.next;
    }
    (all, count)
}

#[tokio::test]
async fn batches_together_are_all_conversations_with_all_messages() {
    on_each(async |world| {
        let agent = world.agent().await;
        let mut expected = Vec::new();
        for number in 0..70 {
            let conversation = world.conversation(&agent, &[]).await;
            let mut texts = vec!["How many hills?".to_owned(), "Re: How many hills?".to_owned()];
            // One that is larger than a batch by its bytes, and one by its messages.
            let (turns, question) = match number {
                10 => (5, "é".repeat(100_000)),
                20 => (600, "And?".to_owned()),
                _ => (number % 3, "And now?".to_owned()),
            };
            for _ in 0..turns {
                let turn = world.next_turn(&conversation, &question);
                world.storage.append_turn(turn, None).await.unwrap();
                texts.extend([question.clone(), format!("Re: {question}")]);
            }
            expected.insert(0, (conversation.id, texts));
        }
        let (read, batches) = texts(world, &agent).await;
        assert_eq!(read.len(), expected.len());
        for (read, expected) in read.iter().zip(&expected) {
            assert!(read == expected, "{}: {} messages", read.0, read.1.len());
        }
        assert!((5..=12).contains(&batches), "{batches} batches");
        for outside in world.outside().await {
            let (filter, from) = (ConversationFilter::default(), ReadFrom::default());
            let refused = world.storage.read_texts(&outside, agent.id, filter, from).await;
            assert_not_found(refused, "agent");
        }
    })
    .await;
}

#[tokio::test]
async fn messages_of_a_batch_have_their_citations_and_ratings_and_those_of_the_deleted_are_gone() {
    on_each(async |world| {
        let agent = world.agent().await;
        let large = world.conversation(&agent, &[]).await;
        for _ in 0..600 {
            let turn = world.next_turn(&large, "And?");
            world.storage.append_turn(turn, None).await.unwrap();
        }
        let small = world.conversation(&agent, &[]).await;
        let scope = world.scope();
        for (conversation, number) in [(&small, 2), (&large, 4)] {
            let rating = NewRating::parse("up", None).unwrap();
            let now = world.now();
            world
                .storage
                .rate_message(&scope, conversation.id, number, rating, new_id(), now)
                .await
                .unwrap();
        }
        let read = async |from| -> Batch<PlacedMessage> {
            let filter = ConversationFilter::default();
            world.storage.read_messages(&scope, agent.id, filter, from).await.unwrap()
        };
        let one = read(ReadFrom::default()).await;
        assert_eq!((one.read.len(), one.read[0].conversation.id), (1, small.id));
        let (_, shown) = world.storage.find_conversation(&scope, small.id).await.unwrap().unwrap();
        let shown: Vec<PlacedMessage> = shown.items.into_iter().rev().collect();
        assert_eq!(one.read[0].messages, shown);
        let two = read(one.next.unwrap()).await;
        let rated: Vec<i64> = two.read[0]
            .messages
            .iter()
            .filter(|one| one.rating.is_some())
            .map(|one| one.position)
            .collect();
        assert_eq!((two.read[0].messages.len(), rated), (1_000, vec![3]));
        let next = two.next.unwrap();
        assert_eq!(next.within, Some((large.id, 1_000)));
        world.storage.delete_conversation(&scope, large.id, world.now(), None).await.unwrap();
        let three = read(next).await;
        assert!(three.read.is_empty(), "{three:?}");
        let four = read(three.next.unwrap()).await;
        assert_eq!(four, Batch { read: Vec::new(), next: None });
    })
    .await;
}

/// An index and a model that nobody asks.
struct Unasked;

#[async_trait]
impl PassageIndex for Unasked {
    async fn search(&self, _: AgentVersion, _: &Query, _: usize) -> Result<Found, Error> {
        Err(Error::Overloaded)
    }

    async fn synchronise(&self, _: AgentVersion) -> Result<(), Error> {
        Ok(())
    }

    async fn remove(&self, _: Id<kind::Agent>) -> Result<(), Error> {
        Ok(())
    }
}

#[async_trait]
impl LanguageModel for Unasked {
    fn is_local(&self, _: &cicerone_domain::agent::AgentProfile) -> bool {
        true
    }

    async fn reply(&self, _: ReplyRequest, _: Option<TokenSink>) -> Result<ModelReply, ModelError> {
        Ok(ModelReply::default())
    }
}

fn service(world: &World) -> Conversations {
    let storage = Arc::new(world.storage.clone());
    let clock = Arc::new(SystemClock);
    let quotas = Quotas::new(storage.clone(), Default::default(), clock.clone());
    Conversations::new(
        storage,
        Arc::new(Unasked),
        Arc::new(Unasked),
        clock,
        Arc::new(SystemEntropy),
        quotas,
        ConversationLimits::default(),
    )
}

/// Adds many conversations of two messages as another process would. Every thousandth contains `needle`.
fn flood(world: &World, agent: &Agent, count: u32) {
    let values =
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ";
    let begin = format!("{values}{count})");
    let (account, agent) = (world.account, agent.id);
    let id = "'conv_' || substr('0000000000' || CAST(n AS TEXT), length(CAST(n AS TEXT)) + 1, 10)";
    world.execute(&format!(
        "{begin} INSERT INTO conversations (id, account_id, agent_id, metadata, message_count, created_at, updated_at) \
         SELECT {id}, '{account}', '{agent}', '{{}}', 2, n, n FROM numbers"
    ));
    for (position, role) in [(0, "user"), (1, "assistant")] {
        world.execute(&format!(
            "{begin} INSERT INTO messages (conversation_id, position, account_id, role, content, created_at) \
             SELECT {id}, {position}, '{account}', '{role}', \
             CASE WHEN n % 1000 = 0 THEN 'a Needle in hay' ELSE 'nothing but hay and straw' END, n FROM numbers"
        ));
    }
}

#[tokio::test]
async fn a_search_through_many_conversations_returns_bounded_pages_and_finds_all() {
    on_each(async |world| {
        let agent = world.agent().await;
        flood(world, &agent, 10_000);
        let conversations = service(world);
        let words = SearchWords::parse("NEEDLE hay").unwrap();
        let (mut found, mut pages, mut empty) = (Vec::new(), 0, 0);
        let mut request = first(5);
        loop {
            let filter = ConversationFilter::default();
            let page =
                conversations.search(&world.scope(), agent.id, filter, &words, request).await;
            let page = page.unwrap();
            pages += 1;
            empty += usize::from(page.items.is_empty());
            assert!(page.items.len() <= 2, "a page looks at 2,000 conversations at most");
            for item in page.items {
                let text = item.found.unwrap();
                assert_eq!((text.number, text.text.as_str()), (1, "a Needle in hay"));
                found.push(item.conversation.created_at.as_millis());
            }
            let Some(next) = page.next else { break };
            request = PageRequest { size: 5, after: Some(next) };
        }
        let expected: Vec<i64> = (1..=10).rev().map(|n| n * 1_000).collect();
        assert_eq!(found, expected);
        assert!((5..=60).contains(&pages), "{pages} pages, {empty} of them empty");
    })
    .await;
}

/// What a search must find: by a plain scan over everything.
fn scan(
    all: &BTreeMap<i64, (Conversation, Vec<String>)>,
    filter: &ConversationFilter,
    words: &[&str],
) -> Vec<Id<kind::Conversation>> {
    let holds = |(conversation, texts): &(Conversation, Vec<String>)| {
        let metadata = conversation.metadata.pairs();
        let in_texts = |word: &&str| {
            texts.iter().any(|text| text.to_lowercase().contains(&word.to_lowercase()))
        };
        filter.metadata.iter().all(|(key, value)| metadata.get(key) == Some(value))
            && filter.created_after.is_none_or(|after| conversation.created_at > after)
            && filter.created_before.is_none_or(|before| conversation.created_at < before)
            && filter.channel.is_none_or(|channel| conversation.channel == channel)
            && (!filter.unanswered || conversation.counts.unanswered > 0)
            && words.iter().all(in_texts)
    };
    all.values().rev().filter(|entry| holds(entry)).map(|(one, _)| one.id).collect()
}

#[tokio::test]
async fn text_and_the_other_filters_hold_together() {
    use cicerone_domain::conversation::Channel;
    on_each(async |world| {
        let agent = world.agent().await;
        let mut all = BTreeMap::new();
        for number in 0..40_u32 {
            let plan = ["free", "pro"][number as usize % 2];
            let mut turn = world.first_turn(&agent, &[("plan", plan)]);
            turn.conversation.channel = Channel::ALL[number as usize % Channel::ALL.len()];
            let texts = ["Straße", "ÖFFNEN um neun", "İstanbul cafe\u{301}"];
            turn.question.content = texts[number as usize % 3].to_owned();
            turn.reply.content = texts[number as usize / 3 % 3].to_owned();
            let texts = vec![turn.question.content.clone(), turn.reply.content.clone()];
            let stored = world.storage.append_turn(turn, None).await.unwrap().conversation;
            all.insert(stored.created_at.as_millis(), (stored, texts));
        }
        let conversations = service(world);
        let middle = all.values().nth(20).unwrap().0.created_at;
        let none = ConversationFilter::default();
        let filters = [
            none.clone(),
            ConversationFilter { created_after: Some(middle), ..none.clone() },
            ConversationFilter { created_before: Some(middle), ..none.clone() },
            ConversationFilter {
                metadata: vec![("plan".to_owned(), "pro".to_owned())],
                ..none.clone()
            },
            ConversationFilter { channel: Some(Channel::OpenAi), unanswered: true, ..none.clone() },
        ];
        for filter in filters {
            for text in ["straße", "öff neun", "CAFE\u{301}", "İSTANBUL STRAß", "nothing"] {
                let words: Vec<&str> = text.split(' ').collect();
                let parsed = SearchWords::parse(text).unwrap();
                for size in [1, 7, 100] {
                    let (mut found, mut request) = (Vec::new(), first(size));
                    loop {
                        let page = conversations
                            .search(&world.scope(), agent.id, filter.clone(), &parsed, request)
                            .await
                            .unwrap();
                        found.extend(page.items.iter().map(|item| item.conversation.id));
                        let Some(next) = page.next else { break };
                        request = PageRequest { size, after: Some(next) };
                    }
                    assert_eq!(found, scan(&all, &filter, &words), "{text} {filter:?} {size}");
                }
            }
        }
        let words = SearchWords::parse("x").unwrap();
        let refused = conversations.search(&world.scope(), new_id(), none, &words, first(1)).await;
        assert_not_found(refused, "agent");
    })
    .await;
}
