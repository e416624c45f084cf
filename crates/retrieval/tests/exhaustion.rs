//! A process that has run out of files answers that it is overloaded, and discards no index.
//!
//! This is a separate binary because the limit applies to the whole process.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

#[allow(dead_code, reason = "shared with the other tests")]
#[path = "index/feed.rs"]
mod feed;

use std::fs::File;
use std::sync::atomic::Ordering;

use cicerone_domain::Error;
use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::Query;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use feed::{World, passage};

#[tokio::test]
async fn without_files_an_index_is_neither_thrown_away_nor_made_again() {
    let mut world = World::new();
    world.put("a", vec![passage(0, "The museum opens at nine in the morning.")]);
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    world.restart();
    let reads = world.rows.reads.load(Ordering::Relaxed);
    let files = || {
        let entries = std::fs::read_dir(world.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = files();
    let Rlimit { maximum, current } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(128), maximum }).unwrap();
    let mut taken = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        taken.push(file);
    }
    let query = Query { text: "museum".to_owned(), ..Query::default() };
    for _ in 0..3 {
        let found = world.index.search(world.rows.version(world.agent), &query, 5).await;
        assert!(matches!(found, Err(Error::Unavailable(_))), "{found:?}");
    }
    drop(taken);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    assert_eq!(files(), before);
    assert_eq!(world.ask("museum").await.hits.len(), 1);
    assert_eq!(world.rows.reads.load(Ordering::Relaxed), reads, "nothing was read again");
}
