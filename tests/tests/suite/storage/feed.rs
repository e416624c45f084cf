//! What an index is made from.

use cicerone_domain::ports::{
    AgentContent, AgentStore as _, JobStore as _, PassageFeed as _, SourceStore as _,
};

use super::fixture::{extracted, new_id, new_job, on_each, website};

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
        let mut expected = vec![(one.id, 1), (two.id, 2)];
        expected.sort();
        assert_eq!(content, AgentContent { generation: 2, sources: expected });

        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_source(&scope, one.id, now, None).await.unwrap();
        let content = world.storage.agent_content(agent.id).await.unwrap();
        assert_eq!(content, Some(AgentContent { generation: 3, sources: vec![(two.id, 2)] }));
        world.storage.delete_agent(&scope, agent.id, now, None).await.unwrap();
        assert_eq!(world.storage.agent_content(agent.id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn passages_are_given_for_the_version_that_answers_only() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "old").await;
        let (id, storage) = (source.id, &world.storage);
        assert_eq!(storage.documents(id, 1).await.unwrap(), Some(vec![(0, 1)]));
        let old = extracted("old", 2).passages.into_iter().map(|passage| (0, passage)).collect();
        assert_eq!(storage.passages(id, 1, &[0]).await.unwrap(), Some(old));
        assert_eq!(storage.passages(id, 1, &[1, 2]).await.unwrap(), Some(Vec::new()));
        assert_eq!(storage.passages(id, 2, &[0]).await.unwrap(), None);
        assert_eq!(storage.documents(id, 2).await.unwrap(), None);

        let (scope, now) = (world.scope(), world.now());
        storage.refresh_source(&scope, id, new_job(), now, None).await.unwrap();
        assert!(storage.passages(id, 1, &[0]).await.unwrap().is_some());
        world.finish(&source, extracted("", 0)).await;
        assert_eq!(storage.passages(id, 1, &[0]).await.unwrap(), None);
        assert_eq!(storage.documents(id, 2).await.unwrap(), Some(vec![(0, 2)]));
        assert_eq!(storage.passages(id, 2, &[0]).await.unwrap(), Some(Vec::new()));
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
            while version < 20 {
                let content = world.storage.agent_content(agent.id).await.unwrap().unwrap();
                let [(id, found)] = content.sources[..] else { panic!("{content:?}") };
                assert_eq!(found, content.generation);
                assert!(found >= version);
                version = found;
                let found = world.storage.passages(id, version, &[0]).await.unwrap();
                let Some(passages) = found else { continue };
                let round = (version - 1).to_string();
                let whole = passages
                    .iter()
                    .enumerate()
                    .all(|(position, passage)| passage.1.text == format!("{round} {position}"));
                assert!(whole, "version {version} has {passages:?}");
                assert_eq!(passages.len(), if version == 1 { 2 } else { 20 });
            }
        };
        tokio::join!(writer, reader);
    })
    .await;
}
