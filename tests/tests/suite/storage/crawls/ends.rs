//! How a crawl ends.

use std::sync::Arc;

use cicerone_domain::job::{POISONED, Reclaim};
use cicerone_domain::limits::{JOB_CRASHES, JOB_CRASHES_IN_ALL};
use cicerone_domain::ports::JobStore as _;
use cicerone_domain::source::{CrawledPageStatus, Progress, Trained};
use cicerone_domain::{Source, SourceState};

use crate::storage::crawling::{Crawl, found, page, without};
use crate::storage::fixture::{World, new_id, on_each, website};

async fn fail(world: &World, crawl: &Crawl) -> Source {
    let message = "the start page answered 503".to_owned();
    let failed = world.storage.finish_failed(&crawl.lease, message, new_id(), world.now()).await;
    failed.unwrap().unwrap()
}

#[tokio::test]
async fn a_crawl_that_ends_well_answers_with_all_its_pages_at_once() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let skipped = without("/b", CrawledPageStatus::Skipped, "it is an image");
        let links = vec![found("/late", 1)];
        world.record_found(&crawl, vec![page("/", "home"), skipped], links).await;
        world.record(&crawl, vec![page("/ä", "drüben")]).await;
        let source = world.end(&crawl).await;

        let version = source.state.searchable().unwrap().version;
        let trained =
            Trained { character_count: 10, title: Some("Rome".to_owned()), version, partial: None };
        assert_eq!(source.state, SourceState::Trained(trained));
        assert_eq!(source.progress, None);
        assert_eq!(world.stored_source(&source).await, source);
        assert_eq!(world.changes(&agent).await, 1);
        let texts = [(0, "home".to_owned()), (1, "drüben".to_owned())];
        assert_eq!(world.texts(&source).await, texts);
        let passages = ["home", "home", "drüben", "drüben"].map(str::to_owned);
        let passages: Vec<_> = (0..).zip(passages).collect();
        assert_eq!(world.passage_texts(&source).await, passages);
        assert_eq!(world.statuses(&source).await.len(), 3, "waiting pages are removed");
        assert_eq!((world.count("jobs"), world.count("crawl_pages")), (0, 3));
        let trained = "name = 'source.trained' AND payload LIKE '%\"character_count\":10%'";
        assert_eq!(world.count_where("events", trained), 1);
    })
    .await;
}

#[tokio::test]
async fn a_first_crawl_that_fails_leaves_its_pages_to_be_looked_at() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let failed = without("/", CrawledPageStatus::Failed, "it answered 503");
        world.record_found(&crawl, vec![failed, page("/a", "a")], vec![found("/b", 1)]).await;
        let source = fail(world, &crawl).await;
        assert_eq!(source.progress, None);
        assert_eq!(source.state.searchable(), None);
        assert_eq!((world.count("documents"), world.count("passages")), (0, 0));
        let statuses = world.statuses(&source).await;
        assert_eq!(statuses, [("/".to_owned(), "failed"), ("/a".to_owned(), "indexed")]);
        assert_eq!(world.changes(&agent).await, 0);

        let crawl = world.refresh(&source).await;
        assert_eq!((crawl.known.len(), crawl.so_far.visited.len()), (0, 0));
        assert_eq!(world.stored_source(&source).await.progress, Some(Progress::default()));
        assert!(world.pages(&source).await.is_empty(), "the new crawl is shown");
        world.record(&crawl, vec![page("/", "home")]).await;
        let source = world.end(&crawl).await;
        assert_eq!(world.texts(&source).await, [(0, "home".to_owned())]);
    })
    .await;
}

#[tokio::test]
async fn a_refresh_that_fails_keeps_the_content_of_before() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let (texts, passages) = (world.texts(&source).await, world.passage_texts(&source).await);
        let crawl = world.refresh(&source).await;
        let known = crawl.known.clone();
        world.record(&crawl, vec![page("/", "new"), page("/c", "c")]).await;
        let failed = fail(world, &crawl).await;
        assert_eq!(failed.state.searchable(), source.state.searchable());
        assert_eq!(world.texts(&source).await, texts);
        assert_eq!(world.passage_texts(&source).await, passages);
        assert_eq!((world.count("documents"), world.count("document_texts")), (2, 2));
        assert_eq!(world.changes(&agent).await, 1);
        let statuses = world.statuses(&source).await;
        assert_eq!(statuses, [("/".to_owned(), "indexed"), ("/c".to_owned(), "indexed")]);

        let crawl = world.refresh(&source).await;
        assert_eq!(crawl.known, known, "the last successful one counts");
        assert!(crawl.so_far.visited.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_refresh_that_crashes_three_times_keeps_the_content_of_before() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/", "new")]).await;
        for crash in 1..=JOB_CRASHES {
            world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await.unwrap();
            if crash < JOB_CRASHES {
                assert_eq!(world.begin().await.so_far.visited.len(), 1);
            }
        }
        let failed = world.stored_source(&source).await;
        let last = source.state.searchable().cloned();
        assert_eq!(failed.state, SourceState::Failed { message: POISONED.to_owned(), last });
        assert_eq!(failed.progress, None);
        assert_eq!(world.texts(&source).await, [(0, "/".to_owned())]);
        assert_eq!((world.count("documents"), world.count("passages")), (1, 2));
        assert_eq!(world.statuses(&source).await, [("/".to_owned(), "indexed")]);
    })
    .await;
}

#[tokio::test]
async fn what_is_extracted_otherwise_replaces_a_crawl_and_its_pages() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/", "new")]).await;
        let extracted = crate::storage::fixture::extracted("whole", 1);
        let end = world.storage.finish_trained(&crawl.lease, extracted, new_id(), world.now());
        let source = end.await.unwrap().unwrap();
        assert_eq!(world.texts(&source).await, [(0, "whole".to_owned())]);
        assert_eq!(world.documents(&source).await, [(0, 2)]);
        assert!(world.refresh(&source).await.known.is_empty());
        assert_eq!((world.count("documents"), world.count("crawl_pages")), (1, 0));
    })
    .await;
}

#[tokio::test]
async fn a_thousand_pages_end_as_one() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let paths: Vec<String> = (0..1_000).map(|number| format!("/{number}")).collect();
        let links = paths.iter().map(|path| found(path, 1)).collect();
        world.record_found(&crawl, Vec::new(), links).await;
        for paths in paths.chunks(50) {
            let pages = paths.iter().map(|path| page(path, &path.repeat(500))).collect();
            world.record(&crawl, pages).await;
        }
        let source = world.end(&crawl).await;
        assert_eq!(world.texts(&source).await.len(), 1_000);
        assert_eq!(world.passage_texts(&source).await.len(), 2_000);

        let crawl = world.refresh(&source).await;
        assert_eq!(crawl.known.len(), 1_000);
        assert_eq!(crawl.known[999].url, crate::storage::crawling::url("/999"));
        world.record(&crawl, vec![page("/", "all others are gone")]).await;
        let source = world.end(&crawl).await;
        assert_eq!(world.documents(&source).await, [(1_000, 2)]);
        assert_eq!((world.count("documents"), world.count("passages")), (1, 2));
    })
    .await;
}

/// Simulates a crash of the server in the middle of a crawl. Returns whether the job is tried
/// again.
async fn crash(world: &World) -> bool {
    let back = world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await.unwrap();
    back.requeued == 1
}

#[tokio::test]
async fn finding_pages_or_visiting_one_again_does_not_excuse_crashes() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        world.record(&crawl, vec![page("/", "first")]).await;
        for life in 0.. {
            if !crash(world).await {
                assert_eq!(life, JOB_CRASHES - 1, "it failed after too many crashes");
                break;
            }
            let crawl = world.begin().await;
            assert_eq!(crawl.so_far.crashes, life + 1);
            world.record(&crawl, vec![page("/", "again")]).await;
            world.record_found(&crawl, Vec::new(), vec![found(&format!("/{life}"), 1)]).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_crawl_that_moves_on_between_crashes_has_a_hundred_lives() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let mut lives = 0;
        loop {
            let crawl = world.begin().await;
            assert_eq!(crawl.so_far.crashes, u32::from(lives > 0));
            lives += 1;
            world.record(&crawl, vec![page(&format!("/{lives}"), "new")]).await;
            if !crash(world).await {
                break;
            }
        }
        assert_eq!(lives, JOB_CRASHES_IN_ALL);
    })
    .await;
}
