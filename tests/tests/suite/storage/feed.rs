//! The data from which an index is built.

use std::collections::BTreeMap;

use cicerone_domain::content::StoredPassage;
use cicerone_domain::ports::{
    AgentContent, AgentStore as _, JobStore as _, PassageFeed as _, SourceStore as _, Wanted,
    WholeContent,
};
use cicerone_domain::{Extracted, Source, SourceState};

use super::documents::listed;
use super::fixture::{World, counted, extracted, new_id, new_job, on_each, website};

#[tokio::test]
async fn the_content_of_an_agent_is_every_source_that_answers() {
    on_each(async |world| {
        let agent = world.agent().await;
        let empty = AgentContent { generation: 0, sources: Vec::new() };
        assert_eq!(world.storage.agent_content(agent.id).await.unwrap(), Some(empty));
        let one = world.trained(&agent, website(false), "one").await;
        let two = world.trained(&agent, website(false), "two").await;
        let other = world.agent().await;
        world.trained(&other, website(false), "elsewhere").await;
        world.text_source(&agent).await;

        let mut content = world.storage.agent_content(agent.id).await.unwrap().unwrap();
        content.sources.sort();
        let version = |source: &Source| source.state.searchable().unwrap().version;
        let mut expected = vec![(one.id, version(&one)), (two.id, version(&two))];
        expected.sort();
        assert_eq!((counted(version(&one)), counted(version(&two))), (1, 2));
        assert_eq!(content, AgentContent { generation: version(&two), sources: expected });

        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_source(&scope, one.id, now, None).await.unwrap();
        let content = world.storage.agent_content(agent.id).await.unwrap().unwrap();
        assert_eq!(counted(content.generation), 3);
        assert_eq!(content.sources, [(two.id, version(&two))]);
        world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        assert_eq!(world.storage.agent_content(agent.id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_small_agent_is_read_as_a_whole() {
    on_each(async |world| {
        let agent = world.agent().await;
        let storage = &world.storage;
        let all = Wanted { bytes: 100_000, least: 0, known: None };
        let empty = WholeContent { generation: 0, passages: Some(Vec::new()) };
        assert_eq!(storage.whole_content(agent.id, all).await.unwrap(), Some(empty));
        let one = world.trained(&agent, website(false), "one").await;
        let two = world.trained(&agent, website(false), "two").await;
        let other = world.agent().await;
        world.trained(&other, website(false), "elsewhere").await;
        world.text_source(&agent).await;

        let whole = storage.whole_content(agent.id, all).await.unwrap().unwrap();
        let content = storage.agent_content(agent.id).await.unwrap().unwrap();
        assert_eq!(whole.generation, content.generation);
        let mut expected = Vec::new();
        for (id, version) in content.sources {
            let passages = storage.passages(id, version, &[0], None).await.unwrap().unwrap();
            expected.extend(passages.into_iter().map(|(_, passage)| (id, passage)));
        }
        expected.sort_by_key(|(id, passage)| (*id, passage.passage.position));
        assert!(expected.len() > 2, "{expected:?}");
        assert_eq!(whole.passages, Some(expected));
        let few = Wanted { bytes: 1, ..all };
        assert_eq!(storage.whole_content(agent.id, few).await.unwrap(), None, "more than a byte");
        let generation = whole.generation;
        let unread = Some(WholeContent { generation, passages: None });
        for unwanted in
            [Wanted { known: Some(generation), ..all }, Wanted { least: generation + 1, ..few }]
        {
            assert_eq!(storage.whole_content(agent.id, unwanted).await.unwrap(), unread);
        }

        let (scope, now) = (world.scope(), world.now());
        storage.delete_source(&scope, one.id, now, None).await.unwrap();
        let whole = storage.whole_content(agent.id, all).await.unwrap().unwrap();
        let passages = whole.passages.unwrap();
        assert!(passages.iter().all(|(id, _)| *id == two.id), "{passages:?}");
        storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        assert_eq!(storage.whole_content(agent.id, all).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn passages_are_given_for_the_version_that_answers_only() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "old").await;
        let (id, storage) = (source.id, &world.storage);
        let first = source.state.searchable().unwrap().version;
        assert_eq!(storage.documents(id, first).await.unwrap(), Some(vec![(0, first)]));
        let old = fed(world, &source, &extracted("old", 2)).await;
        assert_eq!(storage.passages(id, first, &[0], None).await.unwrap(), Some(old));
        assert_eq!(storage.passages(id, first, &[1, 2], None).await.unwrap(), Some(Vec::new()));
        assert_eq!(storage.passages(id, first + 1, &[0], None).await.unwrap(), None);
        assert_eq!(storage.documents(id, first + 1).await.unwrap(), None);

        let (scope, now) = (world.scope(), world.now());
        storage.refresh_source(&scope, id, new_job(), now, None).await.unwrap();
        assert!(storage.passages(id, first, &[0], None).await.unwrap().is_some());
        let source = world.finish(&source, extracted("", 0)).await;
        let second = source.state.searchable().unwrap().version;
        assert_eq!(storage.passages(id, first, &[0], None).await.unwrap(), None);
        assert_eq!(storage.documents(id, second).await.unwrap(), Some(vec![(0, second)]));
        assert_eq!(storage.passages(id, second, &[0], None).await.unwrap(), Some(Vec::new()));
    })
    .await;
}

#[tokio::test]
async fn a_reader_sees_the_old_content_or_the_new_and_never_a_mixture() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "0").await;
        let scope = world.scope();
        let writer = async {
            for round in 1..20 {
                let (storage, now) = (&world.storage, world.now());
                storage.refresh_source(&scope, source.id, new_job(), now, None).await.unwrap();
                let job = world.claim_job().await.unwrap();
                let content = extracted(&round.to_string(), 20);
                storage.finish_trained(&job.lease, content, new_id(), now).await.unwrap();
            }
        };
        let reader = async {
            let mut version = 0;
            while counted(version) < 20 {
                let content = world.storage.agent_content(agent.id).await.unwrap().unwrap();
                let [(id, found)] = content.sources[..] else { panic!("{content:?}") };
                assert_eq!(found, content.generation);
                assert!(found >= version);
                version = found;
                let found = world.storage.passages(id, version, &[0], None).await.unwrap();
                let Some(passages) = found else { continue };
                let round = (counted(version) - 1).to_string();
                let whole = passages
                    .iter()
                    .zip(0..)
                    .map(|((_, stored), at)| (&stored.passage, at))
                    .all(|(passage, at)| passage.position == at && passage.text == round);
                assert!(whole, "version {version} has {passages:?}");
                assert_eq!(passages.len(), if counted(version) == 1 { 2 } else { 20 });
            }
        };
        tokio::join!(writer, reader);
    })
    .await;
}

#[tokio::test]
async fn two_histories_of_one_agent_never_share_a_version() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;
        let generation = world.stored_agent(&agent).await.index_generation;
        let table = "agents SET index_generation";
        let mut seen = std::collections::BTreeSet::from([generation]);
        for round in 0..20 {
            // As after a restore, the counter begins at the same number each time.
            world.execute(&format!("UPDATE {table} = {generation} WHERE id = '{}'", agent.id));
            let (scope, now) = (world.scope(), world.now());
            world.storage.refresh_source(&scope, source.id, new_job(), now, None).await.unwrap();
            let trained = world.finish(&source, extracted(&round.to_string(), 1)).await;
            let SourceState::Trained(trained) = trained.state else { panic!("{trained:?}") };
            assert_eq!(counted(trained.version), 2);
            assert!(seen.insert(trained.version), "{} twice", trained.version);
        }
    })
    .await;
}

#[tokio::test]
async fn a_generation_of_an_earlier_program_is_raised_above_itself() {
    on_each(async |world| {
        let agent = world.agent().await;
        // Earlier versions only counted.
        world.execute(&format!("UPDATE agents SET index_generation = 7 WHERE id = '{}'", agent.id));
        let source = world.trained(&agent, website(false), "one").await;
        assert_eq!(counted(source.state.searchable().unwrap().version), 1);
    })
    .await;
}

/// The passages of an extraction, as a source stores them.
pub(super) async fn passages_of(
    world: &World,
    source: &Source,
    extracted: &Extracted,
) -> Vec<StoredPassage> {
    let fed = fed(world, source, extracted).await;
    fed.into_iter().map(|(_, passage)| passage).collect()
}

/// The passages of an extraction, as an index is given them.
pub(super) async fn fed(
    world: &World,
    source: &Source,
    extracted: &Extracted,
) -> Vec<(i64, StoredPassage)> {
    let documents = listed(world, source).await.into_iter();
    let ids: BTreeMap<i64, _> =
        documents.map(|stored| (stored.document.position, stored.id)).collect();
    let stored = |(at, passage)| (at, StoredPassage { document_id: ids[&at], passage });
    extracted.passages().map(stored).collect()
}
