//! Crawls that end in the middle.

use std::sync::Arc;
use std::time::Duration;

use cicerone_ingestion::{CrawlEnd, CrawlSettings};
use tokio::sync::Semaphore;

use crate::bench::{Bench, quick};
use crate::scripted::{self, Network};
use crate::server::{Server, links, page};

/// A site whose start page links to `quick` pages and to two that are held.
async fn site(held: &Arc<Semaphore>) -> Server {
    let site = Server::start().await;
    let paths: Vec<String> = (0..20).map(|number| format!("/quick/{number}")).collect();
    let mut to: Vec<&str> = vec!["/held/0", "/held/1"];
    to.extend(paths.iter().map(String::as_str));
    site.set("/", page("Start", &links(&to)));
    for path in &paths {
        site.set(path, page(path, &links(&["/last"])));
    }
    site.set("/held/0", page("Held 0", &links(&["/after"])).held(held));
    site.set("/held/1", page("Held 1", "").held(held));
    site.set("/after", page("After", ""));
    site.set("/last", page("Last", ""));
    site
}

#[tokio::test]
async fn an_interrupted_crawl_continues_and_repeats_only_requests_in_flight() {
    let held = Arc::new(Semaphore::new(0));
    let site = site(&held).await;
    let bench = Bench::new();
    let start = site.url("/");
    tokio::select! {
        end = bench.crawl(&start) => panic!("it ended as {end:?}"),
        // The start page, the quick ones and the last.
        () = bench.store.recorded(22) => {}
    }
    held.add_permits(10);
    let end = bench.crawl(&start).await;
    assert!(matches!(end, CrawlEnd::Finished { .. }), "{end:?}");
    let pages = bench.pages();
    assert_eq!(pages.len(), 25, "{pages:?}");
    assert!(pages.iter().all(|page| page.ends_with(" indexed")), "{pages:?}");
    for path in site.log().iter().filter(|path| *path != "/robots.txt") {
        let expected = if path.starts_with("/held/") { 2 } else { 1 };
        assert_eq!(site.requests(path), expected, "{path}");
    }
}

#[tokio::test]
async fn a_crawl_that_ended_with_all_recorded_is_done_at_once() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/a"])));
    site.set("/a", page("A", ""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    site.forget();
    let end = bench.crawl(&site.url("/")).await;
    assert!(matches!(end, CrawlEnd::Finished { .. }), "{end:?}");
    assert_eq!(site.log(), ["/robots.txt"]);
    assert_eq!(bench.pages(), ["/ indexed", "/a indexed"]);
}

#[tokio::test]
async fn the_limit_of_pages_holds_across_an_interruption() {
    let held = Arc::new(Semaphore::new(0));
    let site = site(&held).await;
    let settings = CrawlSettings { pages: 10, ..quick() };
    let bench = Bench::with(settings);
    let start = site.url("/");
    tokio::select! {
        end = bench.crawl(&start) => panic!("it ended as {end:?}"),
        () = bench.store.recorded(8) => {}
    }
    held.add_permits(10);
    bench.crawl(&start).await;
    let indexed = bench.pages().iter().filter(|page| page.ends_with(" indexed")).count();
    assert_eq!(indexed, 10);
}

#[tokio::test(start_paused = true)]
async fn redirects_of_before_an_interruption_do_not_count_as_pages() {
    // Each answer takes a minute.
    let network = Network::new(Duration::from_secs(60));
    let url = |path: &str| format!("http://example.com{path}");
    let pages = ["/a", "/b", "/c"];
    network.set(&url("/"), scripted::page("Start", &pages));
    for path in pages {
        network.set(&url(path), scripted::page(path, &[]));
    }
    let time = Duration::from_secs(7 * 60);
    let bench =
        Bench::over(network.clone(), CrawlSettings { pages: 5, parallel: 1, time, ..quick() });
    bench.train(&url("/")).await;
    assert_eq!(bench.store.documents().len(), 4);

    let moved: Vec<String> = (0..9).map(|number| format!("/moved/{number}")).collect();
    let to: Vec<&str> = moved.iter().map(String::as_str).chain(pages).collect();
    network.set(&url("/"), scripted::page("New start", &to));
    for path in &moved {
        network.set(&url(path), scripted::redirect("/a"));
    }
    let start = url("/");
    tokio::select! {
        end = bench.crawl(&start) => panic!("it ended as {end:?}"),
        // The start page and three redirects.
        () = bench.store.recorded(4) => {}
    }
    // The time is over before the pages are visited, so they keep their text.
    bench.train(&start).await;
    assert_eq!(bench.store.documents().len(), 4, "{:?}", network.log());
}

#[tokio::test]
async fn dropping_the_future_ends_all_requests() {
    let held = Arc::new(Semaphore::new(0));
    let site = site(&held).await;
    let bench = Bench::new();
    let start = site.url("/");
    tokio::select! {
        end = bench.crawl(&start) => panic!("it ended as {end:?}"),
        () = bench.store.recorded(22) => {}
    }
    // A task that were left behind would keep a connection until it has asked for its next page.
    drop(bench);
    let log = site.log();
    held.add_permits(10);
    site.unused().await;
    assert_eq!(site.log(), log);
}

#[tokio::test]
async fn a_lost_lease_ends_the_crawl_at_once() {
    let held = Arc::new(Semaphore::new(0));
    let site = site(&held).await;
    let bench = Bench::new();
    let start = site.url("/");
    let lose = async {
        bench.store.recorded(1).await;
        bench.store.abandon();
        held.add_permits(10);
    };
    let (end, ()) = tokio::join!(bench.crawl(&start), lose);
    assert_eq!(end, CrawlEnd::Abandoned);
    assert_eq!(bench.crawl(&start).await, CrawlEnd::Abandoned);
}

#[tokio::test]
async fn progress_moves_while_the_crawl_runs() {
    let held = Arc::new(Semaphore::new(0));
    let site = site(&held).await;
    let bench = Bench::new();
    let start = site.url("/");
    let watch = async {
        bench.store.recorded(22).await;
        let progress = bench.store.progress();
        assert_eq!(progress[0].pages_done, 0);
        assert_eq!(progress[0].pages_found, 1);
        assert_eq!(progress[1].pages_done, 1);
        assert_eq!(progress[1].pages_found, 23);
        held.add_permits(10);
    };
    let (end, ()) = tokio::join!(bench.crawl(&start), watch);
    assert!(matches!(end, CrawlEnd::Finished { .. }), "{end:?}");
    let last = bench.store.progress().pop().unwrap();
    assert_eq!((last.pages_done, last.pages_found, last.pages_failed), (25, 25, 0));
}
