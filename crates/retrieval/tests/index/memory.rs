//! Agents with little content, whose indexes are in memory only.

use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::{AgentVersion, Query};
use cicerone_domain::{Id, kind};

use crate::feed::{MEMORY_BYTES, World, open, passage};

/// Longer than the text of an index in memory may be.
fn long_text() -> String {
    "The lighthouse keeper counts the ships that pass. ".repeat(1_500)
}

fn query(text: &str) -> Query {
    Query { text: text.to_owned(), ..Query::default() }
}

/// A world whose index may be in memory.
fn world(memory_bytes: u64) -> World {
    let mut world = World::new();
    world.index = open(&world.directory, &world.rows, 16, memory_bytes);
    world
}

/// The texts that are found.
async fn found(world: &World, agent: AgentVersion, question: &str) -> Vec<String> {
    let found = world.index.search(agent, &query(question), 5).await.unwrap();
    found.hits.iter().map(|hit| hit.text.to_string()).collect()
}

#[tokio::test]
async fn an_agent_that_grows_moves_to_the_disk_and_leaves_it_when_it_shrinks() {
    let world = world(MEMORY_BYTES);
    let agent = || world.rows.version(world.agent);
    world.put("small", vec![passage(0, "The harbour has two piers.")]);
    assert_eq!(found(&world, agent(), "piers").await, ["The harbour has two piers."]);
    assert!(!world.folder().exists());

    let long = long_text();
    world.put("large", vec![passage(0, &long)]);
    assert_eq!(found(&world, agent(), "lighthouse keeper").await, [long]);
    assert_eq!(found(&world, agent(), "piers").await, ["The harbour has two piers."]);
    assert!(world.folder().exists());
    assert_eq!(world.index.open_agents(), 1);

    world.rows.delete(world.agent, "large");
    // The worker does this after a deletion, without a question.
    world.index.synchronise(agent()).await.unwrap();
    assert!(!world.folder().exists(), "what was deleted is gone from the disk");
    assert!(found(&world, agent(), "lighthouse keeper").await.is_empty());
    assert_eq!(found(&world, agent(), "piers").await, ["The harbour has two piers."]);
    assert_eq!(world.index.open_agents(), 1);
}

#[tokio::test]
async fn unchanged_content_is_read_once() {
    let world = world(MEMORY_BYTES);
    world.put("a", vec![passage(0, "The harbour has two piers.")]);
    let agent = world.rows.version(world.agent);
    for _ in 0..5 {
        assert_eq!(found(&world, agent, "piers").await.len(), 1);
    }
    assert_eq!(world.rows.whole_reads(), 1);
    world.put("b", vec![passage(0, "The third pier is being built.")]);
    assert_eq!(found(&world, world.rows.version(world.agent), "piers").await.len(), 2);
    assert_eq!(world.rows.whole_reads(), 2);
}

#[tokio::test]
async fn a_deleted_agent_is_not_found() {
    let world = world(MEMORY_BYTES);
    world.put("a", vec![passage(0, "The harbour has two piers.")]);
    let agent = world.rows.version(world.agent);
    assert_eq!(found(&world, agent, "piers").await.len(), 1);
    world.rows.delete_agent(world.agent);
    world.index.remove(world.agent).await.unwrap();
    assert!(found(&world, agent, "piers").await.is_empty());
    assert_eq!(world.index.open_agents(), 0);
}

#[tokio::test]
async fn a_thousand_agents_take_no_more_memory_than_the_bound() {
    let bytes = 200_000;
    let world = world(bytes);
    let agents: Vec<Id<kind::Agent>> =
        (0..1_000).map(|number| format!("agent_{number:010}").parse().unwrap()).collect();
    for agent in &agents {
        world.rows.put(*agent, "a", vec![passage(0, &format!("The harbour {agent} has piers."))]);
        let text = format!("The harbour {agent} has piers.");
        assert_eq!(found(&world, world.rows.version(*agent), "piers").await, [text]);
    }
    let open = world.index.open_agents();
    // One takes a few kilobytes, so the limit leaves room for some of them, not all.
    assert!((20..200).contains(&open), "{open} are open");
    let again = found(&world, world.rows.version(agents[0]), "piers").await;
    assert_eq!(again.len(), 1, "one that was closed is made again");
}
