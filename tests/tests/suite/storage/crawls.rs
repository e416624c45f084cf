//! Crawls: page by page, interrupted, ended.

mod ends;
mod guards;
mod refreshes;

use std::sync::Arc;

use cicerone_domain::crawl::{CrawlSoFar, PageContent, PageReason, SeenPage, VisitedPage};
use cicerone_domain::job::Reclaim;
use cicerone_domain::ports::{CrawlStore as _, JobStore as _, PassageFeed as _, SourceStore as _};
use cicerone_domain::source::{CrawledPageStatus, Progress};
use cicerone_domain::{Error, SourceState, SourceStatus, limits};

use super::crawling::{found, page, url, without};
use super::fixture::{new_id, on_each, website};

#[tokio::test]
async fn a_crawl_begins_with_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let lease = world.claim_job().await.unwrap().lease;
        let begun = world.storage.begin_crawl(&lease, world.now()).await.unwrap();
        assert_eq!(begun, Some(CrawlSoFar::default()));
        assert_eq!(world.storage.known_pages(&lease).await.unwrap(), Some(Vec::new()));
        assert_eq!(world.stored_source(&source).await.progress, Some(Progress::default()));
        assert!(world.pages(&source).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_crawl_goes_on_where_it_was() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let home = page("/", "home");
        let links = vec![found("/a", 1), found("/b", 1), found("/c", 1)];
        world.record_found(&crawl, vec![home.clone()], links).await;
        let failed = without("/b", CrawledPageStatus::Failed, "it answered 500");
        let reason = Some(PageReason::Redirects { to: url("/d") });
        let moved = VisitedPage { reason, ..without("/c", CrawledPageStatus::Skipped, "") };
        world.record_found(&crawl, vec![failed, moved], vec![found("/d", 2)]).await;

        let seen = |path, status, content_hash| SeenPage {
            url: url(path),
            status,
            content_hash,
            is_redirect: path == "/c",
        };
        let visited = vec![
            seen("/", CrawledPageStatus::Indexed, home.content_hash),
            seen("/b", CrawledPageStatus::Failed, None),
            seen("/c", CrawledPageStatus::Skipped, None),
        ];
        let waiting = vec![found("/a", 1), found("/d", 2)];
        let expected = CrawlSoFar { waiting, visited, crashes: 0 };
        // Requested again with the same lease, returned in the same order, and taken back after a
        // crash.
        let again = world.storage.begin_crawl(&crawl.lease, world.now()).await.unwrap();
        assert_eq!(again.as_ref(), Some(&expected));
        assert!(world.storage.requeue(&crawl.lease, world.now(), true).await.unwrap());
        assert_eq!(world.begin().await.so_far, expected);
        world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await.unwrap();
        let crawl = world.begin().await;
        assert_eq!(crawl.so_far, CrawlSoFar { crashes: 1, ..expected });
        let source = world.end(&crawl).await;
        assert_eq!(world.texts(&source).await, [(0, "home".to_owned())]);
    })
    .await;
}

#[tokio::test]
async fn crashes_count_unless_a_page_was_visited_first_between_them() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        for round in 0..limits::JOB_CRASHES + 2 {
            let crawl = world.begin().await;
            let text = format!("text {round}");
            world.record(&crawl, vec![page(&format!("/{round}"), &text)]).await;
            let back = world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await;
            assert_eq!(back.unwrap().poisoned, 0, "crash {round}");
        }
        // The last of these crashes counts: no page was recorded after it.
        for crashes in 2..=limits::JOB_CRASHES {
            world.begin().await;
            let back = world.storage.reclaim(Reclaim::All, world.now(), Arc::new(new_id)).await;
            assert_eq!(back.unwrap().poisoned, u64::from(crashes == limits::JOB_CRASHES));
        }
        assert_eq!(world.stored_source(&source).await.state.status(), SourceStatus::Failed);
    })
    .await;
}

#[tokio::test]
async fn a_crawl_that_ends_without_a_title_takes_that_of_its_first_page() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let nothing = without("/", CrawledPageStatus::Skipped, "it asks not to be found");
        world.record(&crawl, vec![nothing, page("/a", "a"), page("/b", "b")]).await;
        let ended = world.storage.finish_crawl(&crawl.lease, None, new_id(), world.now()).await;
        assert_eq!(ended.unwrap().unwrap().id, source.id);
        let stored = world.stored_source(&source).await;
        let SourceState::Trained(trained) = stored.state else { panic!("{stored:?}") };
        assert_eq!(trained.title.as_deref(), Some("Page /a"));
    })
    .await;
}

#[tokio::test]
async fn a_page_has_one_place_however_often_it_is_found() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let long = format!("/{}", "x".repeat(9_000));
        let links = vec![found("/a", 1), found("/", 1), found("/a", 1), found(&long, 1)];
        world.record_found(&crawl, vec![page("/", "home")], links.clone()).await;
        world.record_found(&crawl, vec![page(&long, "long")], links).await;
        let moved = page("/moved", "never found, but visited");
        world.record_found(&crawl, vec![moved], vec![found("/b", 2), found("/moved", 2)]).await;
        world.record(&crawl, vec![page("/b", "b")]).await;
        let pages = world.pages(&source).await;
        let places: Vec<_> = pages.into_iter().map(|page| (page.position, page.url)).collect();
        let expected = [(0, url("/")), (2, url(&long)), (3, url("/moved")), (4, url("/b"))];
        assert_eq!(places, expected, "waiting pages are not listed");
    })
    .await;
}

#[tokio::test]
async fn a_listed_page_says_what_became_of_it() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let skipped = without("/b", CrawledPageStatus::Skipped, "it asks not to be found");
        world.record(&crawl, vec![page("/", "home"), skipped]).await;
        let pages = world.pages(&source).await;
        let VisitedPage { title, character_count, http_status, fetched_at, .. } = page("/", "home");
        assert_eq!(pages[0].status, CrawledPageStatus::Indexed);
        assert_eq!((&pages[0].title, pages[0].character_count), (&title, character_count));
        assert_eq!((pages[0].http_status, pages[0].fetched_at), (http_status, fetched_at));
        assert_eq!(pages[1].status, CrawledPageStatus::Skipped);
        let reason = PageReason::Unreadable { message: "it asks not to be found".to_owned() };
        assert_eq!(pages[1].reason, Some(reason));
        assert_eq!((&pages[1].title, pages[1].character_count), (&None, None));
    })
    .await;
}

#[tokio::test]
async fn nothing_of_a_crawl_under_way_is_found_or_listed_as_a_document() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/", "new"), page("/b", "more")]).await;
        let texts = [(0, "/".to_owned()), (1, "/a".to_owned())];
        assert_eq!(world.texts(&source).await, texts);
        assert_eq!(world.passage_texts(&source).await.len(), 4);
        assert_eq!(world.documents(&source).await, [(0, 1), (1, 1)]);
        let (id, version) = (source.id, source.state.searchable().unwrap().version);
        let passages = world.storage.passages(id, version, &[0, 1], None).await.unwrap().unwrap();
        assert_eq!(passages.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 0, 1, 1]);
        let stored = world.stored_source(&source).await;
        assert_eq!(stored.state.searchable(), source.state.searchable());
        assert_eq!(stored.progress.map(|progress| progress.pages_found), Some(2));
        let statuses = world.statuses(&source).await;
        assert_eq!(statuses, [("/".to_owned(), "indexed"), ("/b".to_owned(), "indexed")]);
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_visited_again_has_its_last_text_only() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        world.record(&crawl, vec![page("/", "first"), page("/", "second")]).await;
        world.record(&crawl, vec![page("/", "third"), page("/a", "a")]).await;
        world.record(&crawl, vec![without("/a", CrawledPageStatus::Failed, "gone")]).await;
        assert_eq!((world.count("documents"), world.count("passages")), (1, 2));
        let source = world.end(&crawl).await;
        assert_eq!(world.texts(&source).await, [(2, "third".to_owned())]);
        assert_eq!(source.state.searchable().unwrap().character_count, 5);
    })
    .await;
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_changes_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let lease = world.claim_job().await.unwrap().lease;
        let storage = &world.storage;
        let early = storage.record_pages(&lease, Vec::new(), Vec::new(), Progress::default());
        assert!(matches!(early.await, Err(Error::Internal(_))), "no crawl has begun");
        let early = storage.finish_crawl(&lease, None, new_id(), world.now()).await;
        assert!(matches!(early, Err(Error::Internal(_))), "{early:?}");

        storage.begin_crawl(&lease, world.now()).await.unwrap().unwrap();
        let kept = VisitedPage { content: PageContent::Kept(0), ..page("/a", "a") };
        let pages = vec![page("/", "home"), kept];
        let record = storage.record_pages(&lease, pages, Vec::new(), Progress::default()).await;
        assert!(matches!(record, Err(Error::Internal(_))), "{record:?}");
        assert!(world.pages(&source).await.is_empty());
        assert_eq!(world.count("documents"), 0);
    })
    .await;
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_changes_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let lost = world.begin().await.lease;
        world.execute("UPDATE jobs SET lease_until = 0");
        let (storage, now) = (&world.storage, world.now());
        storage.reclaim(Reclaim::Expired, now, Arc::new(new_id)).await.unwrap();
        for is_taken_over in [false, true] {
            if is_taken_over {
                world.begin().await;
            }
            assert_eq!(storage.begin_crawl(&lost, now).await.unwrap(), None);
            assert_eq!(storage.known_pages(&lost).await.unwrap(), None);
            let (pages, links) = (vec![page("/", "home")], vec![found("/a", 1)]);
            let record = storage.record_pages(&lost, pages, links, Progress::default()).await;
            assert!(!record.unwrap());
            let end = storage.finish_crawl(&lost, None, new_id(), now).await;
            assert_eq!(end.unwrap(), None);
        }
        assert!(world.pages(&source).await.is_empty());
        assert_eq!((world.count("documents"), world.count("crawl_pages")), (0, 0));
        assert_eq!((world.count("events"), world.count("jobs")), (0, 1));
    })
    .await;
}

#[tokio::test]
async fn a_source_that_is_deleted_while_it_is_crawled_leaves_nothing() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        let crawl = world.refresh(&source).await;
        world.record(&crawl, vec![page("/", "new")]).await;
        let (storage, scope, now) = (&world.storage, world.scope(), world.now());
        storage.delete_source(&scope, source.id, now, None).await.unwrap();
        let lease = &crawl.lease;
        let record =
            storage.record_pages(lease, vec![page("/a", "b")], vec![], Progress::default());
        assert!(!record.await.unwrap());
        assert_eq!(storage.finish_crawl(lease, None, new_id(), now).await.unwrap(), None);
        for table in ["crawls", "crawl_pages", "documents", "document_texts", "passages", "jobs"] {
            assert_eq!(world.count(table), 0, "{table}");
        }
    })
    .await;
}
