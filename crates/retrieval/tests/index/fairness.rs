//! The questions of two accounts, one of which floods the index.

use std::time::Duration;

use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::{AgentVersion, Query};
use cicerone_domain::{Error, Id, SystemEntropy, kind};
use tokio::time::Instant;

use crate::feed::{World, passage};

/// This many agents of one account, each with a text, as the worker and the API pass them.
fn agents(world: &World, count: usize) -> Vec<AgentVersion> {
    let account_id: Id<kind::Account> = Id::random(&SystemEntropy);
    let mut versions = Vec::new();
    for _ in 0..count {
        let agent: Id<kind::Agent> = Id::random(&SystemEntropy);
        world.rows.put(agent, agent.suffix(), vec![passage(0, "The museum opens at nine.")]);
        versions.push(AgentVersion { account_id, ..world.rows.version(agent) });
    }
    versions
}

fn question() -> Query {
    Query { text: "When does the museum open?".to_owned(), ..Query::default() }
}

#[tokio::test]
async fn warm_ups_that_never_end_hold_up_neither_questions_nor_another_account() {
    let world = World::new();
    let (flood, other) = (agents(&world, 50), agents(&world, 2));
    let stalled: Vec<_> = flood.iter().map(|agent| agent.id).take(49).collect();
    world.rows.stall(&stalled);
    let warm_ups: Vec<_> = flood
        .iter()
        .map(|agent| {
            let (index, agent) = (world.index.clone(), *agent);
            tokio::spawn(async move { index.synchronise(agent).await })
        })
        .collect();
    tokio::task::yield_now().await;

    world.index.synchronise(other[0]).await.unwrap();
    for asked in [other[0], other[1], flood[49]] {
        let found = world.index.search(asked, &question(), 5).await.unwrap();
        assert_eq!(found.hits.len(), 1);
    }
    warm_ups.into_iter().for_each(|warm_up| warm_up.abort());
}

#[tokio::test(start_paused = true)]
async fn an_index_that_is_long_in_changing_refuses_questions_in_time_and_delays_no_deletion() {
    let world = World::new();
    let agent = agents(&world, 1)[0];
    world.rows.stall(&[agent.id]);
    let began = Instant::now();
    let refused = world.index.search(agent, &question(), 5).await;
    assert!(matches!(refused, Err(Error::Overloaded)), "{refused:?}");
    assert_eq!(began.elapsed().as_secs(), 30);
    let began = Instant::now();
    world.index.purge(agent).await.unwrap();
    world.index.remove(agent.id).await.unwrap();
    assert_eq!(began.elapsed().as_secs(), 2);
}

#[tokio::test]
async fn questions_that_never_end_hold_up_no_other_account() {
    let world = World::new();
    let (flood, other) = (agents(&world, 50), agents(&world, 3));
    let stalled: Vec<_> = flood.iter().map(|agent| agent.id).collect();
    world.rows.stall(&stalled);
    let asked: Vec<_> = flood
        .iter()
        .map(|agent| {
            let (index, agent) = (world.index.clone(), *agent);
            tokio::spawn(async move { index.search(agent, &question(), 5).await })
        })
        .collect();
    tokio::task::yield_now().await;
    for agent in other {
        assert_eq!(world.index.search(agent, &question(), 5).await.unwrap().hits.len(), 1);
    }
    asked.into_iter().for_each(|question| question.abort());
}

/// How many of the agents' indexes have more than one segment.
fn scattered(world: &World, agents: &[AgentVersion]) -> usize {
    let segments = |agent: &&AgentVersion| {
        let folder = world.directory.path().join(agent.id.to_string());
        tantivy::Index::open_in_dir(folder).unwrap().searchable_segment_metas().unwrap().len()
    };
    agents.iter().filter(|agent| segments(agent) > 1).count()
}

#[tokio::test(start_paused = true)]
async fn merges_of_many_indexes_hold_up_no_other_account() {
    let world = World::with_open_agents(100);
    let (mut flood, other) = (agents(&world, 50), agents(&world, 2));
    for text in ["one", "another"] {
        for agent in &mut flood {
            world.index.synchronise(*agent).await.unwrap();
            world.rows.put(agent.id, text, vec![passage(0, "The museum opens at nine.")]);
            agent.generation = world.rows.version(agent.id).generation;
        }
    }
    for agent in &flood {
        world.index.synchronise(*agent).await.unwrap();
    }
    assert_eq!(scattered(&world, &flood), 50);
    // The tasks look after five seconds, and again after five seconds without a change. Then all merges are due at once.
    tokio::time::sleep(Duration::from_secs(9)).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    tokio::task::yield_now().await;
    world.index.synchronise(other[0]).await.unwrap();
    let found = world.index.search(other[1], &question(), 5).await.unwrap();
    assert_eq!(found.hits.len(), 1);
    let waiting = scattered(&world, &flood);
    assert!(waiting > 25, "the other account had to wait for {} merges", 50 - waiting);
    // The next change of the flooding account waits for its merges.
    let next = AgentVersion { account_id: flood[0].account_id, ..agents(&world, 1)[0] };
    world.index.synchronise(next).await.unwrap();
    assert_eq!(scattered(&world, &flood), 0);
}
