//! A source changes document by document, and only changed documents are read and written again.

use std::collections::BTreeMap;
use std::time::Duration;

use cicerone_domain::Passage;
use cicerone_domain::ports::PassageIndex as _;

use crate::feed::{World, pair, passage, source_id};

/// A site of this many pages, each with a word of its own.
fn site(pages: i64) -> World {
    let world = World::new();
    world.rows.change(world.agent, "site", |documents, version| {
        documents.extend((0..pages).map(|at| (at, (version, vec![page(at)]))));
    });
    world
}

fn page(at: i64) -> Passage {
    passage(at, &format!("Page number{at} of the manual tells about topic{at}."))
}

async fn synchronise(world: &World) {
    world.index.synchronise(world.rows.version(world.agent)).await.unwrap();
}

/// The positions that a question finds.
async fn found(world: &World, question: &str) -> Vec<i64> {
    world.ask(question).await.hits.iter().map(|hit| hit.position).collect()
}

#[tokio::test]
async fn one_changed_document_among_two_hundred_is_the_only_one_read() {
    let world = site(200);
    synchronise(&world).await;
    assert_eq!(world.rows.work(), (1, 200));
    world.rows.change(world.agent, "site", |documents, version| {
        documents.remove(&17);
        documents.insert(200, (version, vec![passage(200, "The zeppelin lands at noon.")]));
    });
    assert_eq!(found(&world, "zeppelin").await.first(), Some(&200));
    assert_eq!(world.rows.work(), (2, 201));
    assert!(!found(&world, "topic17").await.contains(&17));
    assert_eq!(found(&world, "topic18").await.first(), Some(&18));
    assert_eq!(found(&world, "topic199").await.first(), Some(&199));
}

#[tokio::test]
async fn a_document_whose_position_is_taken_again_is_replaced() {
    let world = site(3);
    synchronise(&world).await;
    world.rows.change(world.agent, "site", |documents, version| {
        documents.insert(1, (version, vec![passage(1, "The zeppelin lands at noon.")]));
    });
    assert_eq!(found(&world, "zeppelin").await.first(), Some(&1));
    assert!(!found(&world, "topic1").await.contains(&1));
    assert_eq!(world.rows.work(), (2, 4));
}

#[tokio::test]
async fn a_removed_document_is_gone_from_the_next_answer_and_from_the_disk() {
    let world = site(30);
    world.put("other", vec![passage(0, "Nothing of this changes.")]);
    synchronise(&world).await;
    let before = world.rows.work();
    world.rows.change(world.agent, "site", |documents, _| drop(documents.remove(&7)));
    assert!(!found(&world, "topic7").await.contains(&7));
    assert_eq!(world.rows.work(), (before.0 + 1, before.1), "nothing is read to remove something");
    for file in std::fs::read_dir(world.folder()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let trace = format!("{}/7@{}", source_id("site"), 1_u64 << 32);
        let is_there = bytes.windows(trace.len()).any(|window| window == trace.as_bytes());
        assert!(!is_there, "`{trace}` is still in {}", path.display());
    }
    let segments = tantivy::Index::open_in_dir(world.folder()).unwrap();
    for segment in segments.searchable_segment_metas().unwrap() {
        assert_eq!(segment.max_doc(), segment.num_docs(), "a deleted passage is only marked so");
    }
    assert_eq!(found(&world, "topic8").await.first(), Some(&8));
}

#[tokio::test]
async fn a_source_that_lost_documents_only_is_in_step_after_a_restart() {
    let mut world = site(10);
    synchronise(&world).await;
    world.rows.change(world.agent, "site", |documents, _| drop(documents.remove(&9)));
    synchronise(&world).await;
    let before = world.rows.work();
    world.restart();
    assert_eq!(found(&world, "topic8").await.first(), Some(&8));
    assert_eq!(world.rows.work(), before, "the index knows the version that it holds");
}

#[tokio::test]
async fn sources_without_passages_are_not_read_again() {
    let mut world = World::new();
    world.rows.change(world.agent, "none", |_, _| {});
    world.put("blank", Vec::new());
    world.put("some", vec![passage(0, "The museum opens at nine.")]);
    synchronise(&world).await;
    assert_eq!(world.rows.work(), (3, 2));
    world.put("more", vec![passage(0, "The library closes at eight.")]);
    assert_eq!(found(&world, "museum").await.first(), Some(&0));
    assert_eq!(world.rows.work(), (4, 3));
    world.restart();
    assert_eq!(found(&world, "museum").await.first(), Some(&0));
    assert_eq!(world.rows.work(), (4, 3));
}

#[tokio::test]
async fn of_a_thousand_sources_the_one_that_changed_is_looked_at() {
    let world = World::new();
    for number in 0..1_000 {
        let text = format!("Source number{number} tells about topic{number}.");
        world.put(&number.to_string(), vec![passage(0, &text)]);
    }
    synchronise(&world).await;
    assert_eq!(world.rows.work(), (1_000, 1_000));
    world.put("17", vec![passage(0, "The zeppelin lands at noon.")]);
    assert_eq!(world.ask("zeppelin").await.hits[0].source_id, source_id("17"));
    assert_eq!(world.rows.work(), (1_001, 1_001));
    world.rows.delete(world.agent, "18");
    assert!(world.ask("topic18").await.hits.iter().all(|hit| !hit.is_relevant));
    assert_eq!(world.rows.work(), (1_001, 1_001));
}

#[tokio::test]
async fn five_hundred_pairs_are_read_in_a_few_goes() {
    let world = World::new();
    world.rows.change(world.agent, "faq", |documents, version| {
        let pairs: BTreeMap<_, _> = (0..500)
            .map(|at| (at, (version, vec![pair(at, &format!("What is topic{at}?"), "A topic.")])))
            .collect();
        documents.extend(pairs);
    });
    assert_eq!(found(&world, "What is topic321?").await.first(), Some(&321));
    assert_eq!(world.rows.reads.load(std::sync::atomic::Ordering::Relaxed), 5);
}

/// The numbers of passages of the segments on the disk.
fn segments(world: &World) -> Vec<u32> {
    let index = tantivy::Index::open_in_dir(world.folder()).unwrap();
    let segments = index.searchable_segment_metas().unwrap();
    segments.iter().map(tantivy::SegmentMeta::num_docs).collect()
}

/// The number of files with the words of a segment.
fn dictionaries(world: &World) -> usize {
    let files = std::fs::read_dir(world.folder()).unwrap();
    files
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "term"))
        .count()
}

#[tokio::test(start_paused = true)]
async fn segments_are_merged_once_the_content_does_not_change() {
    let world = site(60);
    synchronise(&world).await;
    for pages in [60..64, 64..68] {
        world.rows.change(world.agent, "site", |documents, version| {
            documents.extend(pages.map(|at| (at, (version, vec![page(at)]))));
        });
        synchronise(&world).await;
        tokio::time::sleep(Duration::from_secs(4)).await;
    }
    assert_eq!(segments(&world).len(), 3);
    let before = found(&world, "Which page tells about topic61?").await;
    let work = world.rows.work();
    // Time passes only while nothing else happens.
    while segments(&world).len() > 1 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(segments(&world), [68]);
    assert_eq!(dictionaries(&world), 1, "files of merged segments are removed");
    assert_eq!(found(&world, "Which page tells about topic61?").await.first(), before.first());
    assert_eq!(found(&world, "topic7").await.first(), Some(&7));
    assert_eq!(world.rows.work(), work, "nothing is read from the database for it");
    world.rows.change(world.agent, "site", |documents, _| drop(documents.remove(&7)));
    assert!(!found(&world, "topic7").await.contains(&7));
    assert_eq!(segments(&world), [67]);
}
