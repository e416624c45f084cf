//! An answer is based on content as new as the agent's row that was read for it.

use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::Query;

use crate::feed::{World, passage, source_id};

#[tokio::test]
async fn new_content_is_seen_by_the_very_next_search() {
    let world = World::new();
    world.put("a", vec![passage(0, "The museum opens at nine in the morning.")]);
    assert_eq!(world.ask("When does the museum open?").await.hits.len(), 1);
    world.put("b", vec![passage(0, "The restaurant serves dinner until ten.")]);
    let found = world.ask("Until when is dinner served?").await;
    assert_eq!(found.hits[0].source_id, source_id("b"));
    assert!(found.hits[0].is_relevant);
}

#[tokio::test]
async fn deleted_content_is_never_seen_again_and_gone_from_the_disk() {
    let world = World::new();
    world.put("a", vec![passage(0, "The secret word is xylophone.")]);
    world.put("b", vec![passage(0, "The weather was fine all week long.")]);
    assert_eq!(world.ask("xylophone").await.hits.len(), 1);
    world.rows.delete(world.agent, "a");
    assert!(world.ask("xylophone").await.hits.is_empty());
    let segments = tantivy::Index::open_in_dir(world.folder()).unwrap();
    for segment in segments.searchable_segment_metas().unwrap() {
        assert_eq!(segment.max_doc(), segment.num_docs(), "a deleted passage is only marked so");
    }
    for file in std::fs::read_dir(world.folder()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        for trace in ["xylo", "phone"] {
            let found = bytes.windows(trace.len()).any(|window| window == trace.as_bytes());
            assert!(!found, "`{trace}` is still in {}", path.display());
        }
    }
}

#[tokio::test]
async fn the_last_source_can_be_deleted() {
    let world = World::new();
    world.put("a", vec![passage(0, "The secret word is xylophone.")]);
    assert_eq!(world.ask("xylophone").await.hits.len(), 1);
    world.rows.delete(world.agent, "a");
    world.index.synchronise(world.rows.version(world.agent)).await.unwrap();
    assert!(world.ask("xylophone").await.hits.is_empty());
}

#[tokio::test]
async fn a_deleted_agent_finds_nothing_and_leaves_no_folder() {
    let world = World::new();
    world.put("a", vec![passage(0, "The museum opens at nine.")]);
    world.ask("museum").await;
    let before = world.rows.version(world.agent);
    world.rows.delete_agent(world.agent);
    world.index.remove(world.agent).await.unwrap();
    assert!(!world.folder().exists());
    let query = Query { text: "museum".to_owned(), ..Query::default() };
    assert!(world.index.search(before, &query, 5).await.unwrap().hits.is_empty());
    assert!(!world.folder().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_search_of_two_hundred_rounds_sees_exactly_one_version() {
    let world = std::sync::Arc::new(World::new());
    let texts = |round: u64| {
        (0..3).map(|n| passage(n, &format!("Round marker{round} part{n} of the plan."))).collect()
    };
    world.put("a", texts(0));
    let searching: Vec<_> = (0..2)
        .map(|_| {
            let world = std::sync::Arc::clone(&world);
            tokio::spawn(async move {
                let mut searches = 0;
                loop {
                    let before = world.rows.version(world.agent).generation >> 32;
                    let found = world.ask("plan").await;
                    let mut versions: Vec<&str> = found
                        .hits
                        .iter()
                        .map(|hit| hit.text.split_whitespace().nth(1).unwrap())
                        .collect();
                    versions.dedup();
                    assert_eq!(found.hits.len(), 3);
                    assert_eq!(versions.len(), 1, "old and new content were mixed");
                    let seen: u64 = versions[0].trim_start_matches("marker").parse().unwrap();
                    assert!(seen + 1 >= before, "saw {seen} where {before} was there before");
                    searches += 1;
                    // A search that need not wait does not yield, so this does.
                    tokio::task::yield_now().await;
                    if before >= 200 {
                        return searches;
                    }
                }
            })
        })
        .collect();
    for round in 1..200 {
        world.put("a", texts(round));
        let found = world.ask(&format!("marker{round}")).await;
        assert_eq!(found.hits.len(), 3, "round {round} was not seen");
        if round % 50 == 0 {
            world.remove_folder();
        }
    }
    for task in searching {
        assert!(task.await.unwrap() > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_that_wait_for_one_change_share_it() {
    let world = std::sync::Arc::new(World::new());
    world.put("a", vec![passage(0, "The museum opens at nine.")]);
    let asked: Vec<_> = (0..16)
        .map(|_| {
            let world = std::sync::Arc::clone(&world);
            tokio::spawn(async move { world.ask("museum").await.hits.len() })
        })
        .collect();
    for task in asked {
        assert_eq!(task.await.unwrap(), 1);
    }
    assert_eq!(world.rows.reads.load(std::sync::atomic::Ordering::Relaxed), 1);
}
