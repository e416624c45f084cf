//! Pages that fail, sites that go down, and time that runs out.

use std::time::Duration;

use cicerone_ingestion::{CrawlEnd, CrawlSettings};

use crate::bench::{Bench, quick};
use crate::scripted::{self, Network};
use crate::server::{Server, broken, links, page, redirect, status};

#[tokio::test]
async fn a_transient_fault_is_tried_again() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/a", "/b"])));
    site.set_all("/a", vec![status(503), broken(), page("A", "")]);
    site.set_all("/b", vec![status(429), page("B", "")]);
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ indexed", "/a indexed", "/b indexed"]);
    assert_eq!((site.requests("/a"), site.requests("/b")), (3, 2));
}

#[tokio::test]
async fn a_site_of_which_some_pages_fail_is_trained_with_the_others() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/a", "/b", "/c", "/d"])));
    site.set("/a", status(500));
    site.set("/b", broken());
    site.set("/c", status(403));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed",
            "/a failed the server answered 500",
            "/b failed the connection was interrupted",
            "/c failed the server answered 403: it does not let the crawler in",
            "/d failed there is no such page (the server answered 404)",
        ]
    );
    let requests = ["/a", "/b", "/c", "/d"].map(|path| site.requests(path));
    assert_eq!(requests, [3, 3, 1, 1], "only what may pass is tried again");
    let progress = bench.store.progress().pop().unwrap();
    assert_eq!((progress.pages_done, progress.pages_failed), (5, 4));
}

#[tokio::test(start_paused = true)]
async fn pauses_between_attempts_double() {
    let network = Network::new(Duration::ZERO);
    network.set("http://example.com/", scripted::page("Start", &["/a"]));
    network.set_all("http://example.com/a", vec![Err(scripted::broken())]);
    let settings = CrawlSettings { attempts: 4, ..CrawlSettings::default() };
    Bench::over(network.clone(), settings).crawl("http://example.com").await;
    let times = network.times("http://example.com/a");
    let pauses: Vec<u128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (pause, expected) in pauses.iter().zip([1_000, 2_000, 4_000]) {
        assert!((expected * 8 / 10..=expected * 12 / 10 + 2).contains(pause), "{pauses:?}");
    }
    assert_eq!(pauses.len(), 3);
}

/// A site of a start page and `count` others, all of which fail; the start page too, once it was read.
fn dying(network: &Network, count: usize) {
    let paths: Vec<String> = (0..count).map(|number| format!("/{number:02}")).collect();
    let to: Vec<&str> = paths.iter().map(String::as_str).collect();
    let start = vec![Ok(scripted::page("Start", &to)), Err(scripted::broken())];
    network.set_all("http://example.com/", start);
    for path in &paths {
        let url = format!("http://example.com{path}");
        network.set_all(&url, vec![Err(scripted::broken())]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_that_stops_answering_is_left_alone() {
    let network = Network::new(Duration::from_millis(10));
    dying(&network, 30);
    let bench = Bench::over(network.clone(), quick());
    assert!(matches!(bench.crawl("http://example.com").await, CrawlEnd::Finished { .. }));
    let pages = bench.pages();
    assert_eq!(pages.len(), 31);
    let left = pages.iter().filter(|page| page.contains("had stopped answering")).count();
    assert!((17..=20).contains(&left), "{pages:?}");
}

/// Each request waits for the client's 15 seconds.
#[tokio::test(start_paused = true)]
async fn a_site_that_never_answers_holds_a_crawl_for_a_minute_and_a_half() {
    let network = Network::new(Duration::from_secs(15));
    dying(&network, 30);
    let bench = Bench::over(network.clone(), CrawlSettings::default());
    assert!(matches!(bench.crawl("http://example.com").await, CrawlEnd::Finished { .. }));
    let left = network.times("http://example.com/00")[0];
    let took = tokio::time::Instant::now().duration_since(network.begun()).as_millis() - left;
    assert!((60_000..95_000).contains(&took), "{took} ms");
}

#[tokio::test(start_paused = true)]
async fn a_refresh_of_a_site_that_stops_answering_fails() {
    for count in [1, 30] {
        let network = Network::new(Duration::from_millis(10));
        network.set("http://example.com/", scripted::page("Start", &["/00"]));
        network.set("http://example.com/00", scripted::page("Zero", &[]));
        let bench = Bench::over(network.clone(), quick());
        bench.train("http://example.com").await;
        dying(&network, count);
        let message = bench.fail("http://example.com").await;
        assert!(message.starts_with("the site stopped answering"), "{message}");
        assert_eq!(bench.store.documents().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_site_that_fails_does_not_hide_the_rest() {
    let network = Network::new(Duration::from_millis(10));
    dying(&network, 30);
    let mut to: Vec<String> = (0..30).map(|number| format!("/{number:02}")).collect();
    to.push("/fine".to_owned());
    let to: Vec<&str> = to.iter().map(String::as_str).collect();
    network.set("http://example.com/", scripted::page("Start", &to));
    network.set("http://example.com/fine", scripted::page("Fine", &[]));
    let bench = Bench::over(network.clone(), quick());
    for status in ["indexed", "unchanged"] {
        bench.crawl("http://example.com").await;
        let pages = bench.pages();
        assert!(pages.contains(&format!("/fine {status}")), "{pages:?}");
        let failed =
            pages.iter().filter(|page| page.ends_with("the connection was interrupted")).count();
        assert_eq!(failed, 30, "{pages:?}");
        bench.store.finish();
    }
}

/// A page that fails is tried again with pauses, so it is usually the last one to be visited.
#[tokio::test(start_paused = true)]
async fn a_page_that_fails_last_does_not_keep_copies_from_being_read() {
    let network = Network::new(Duration::from_millis(10));
    let url = |path: &str| format!("http://example.com{path}");
    network.set(&url("/"), scripted::page("Start", &["/a", "/busy"]));
    network.set(&url("/a"), scripted::copy("A", "/missing"));
    network.set(&url("/busy"), scripted::busy(503, None));
    let bench = Bench::over(network, quick());
    bench.crawl(&url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed",
            "/a indexed",
            "/busy failed the server answered 503",
            "/missing failed there is no such page (the server answered 404)",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_fails_last_does_not_drop_what_only_a_sitemap_lists() {
    let network = Network::new(Duration::from_millis(10));
    let url = |path: &str| format!("http://example.com{path}");
    network.set(&url("/"), scripted::page("Start", &["/busy"]));
    network.set(&url("/busy"), scripted::page("Busy", &[]));
    network.set(&url("/listed"), scripted::page("Listed", &[]));
    network.set(&url("/sitemap.xml"), scripted::text(&url("/listed")));
    let bench = Bench::over(network.clone(), quick());
    bench.train(&url("/")).await;
    assert_eq!(bench.store.documents().len(), 3);
    for path in ["/sitemap.xml", "/busy"] {
        network.set(&url(path), scripted::busy(503, None));
    }
    bench.train(&url("/")).await;
    assert_eq!(bench.store.documents().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn when_the_time_is_over_the_pages_so_far_count() {
    let network = Network::new(Duration::from_secs(60));
    let url = |path: &str| format!("http://example.com{path}");
    for number in 0..30 {
        let next = format!("/{}", number + 1);
        network
            .set(&url(&format!("/{number}")), scripted::page(&format!("Page {number}"), &[&next]));
    }
    let bench = Bench::over(network.clone(), quick());
    bench.crawl(&url("/0")).await;
    let pages = bench.pages();
    // robots.txt, the start page and the sitemap take three minutes of ten.
    assert_eq!(pages.iter().filter(|page| page.ends_with("indexed")).count(), 7, "{pages:?}");
    let left = "/7 skipped not visited: the crawl reached its limit of 10 minutes";
    assert!(pages.contains(&left.to_owned()), "{pages:?}");
}

#[tokio::test(start_paused = true)]
async fn at_the_time_limit_unvisited_pages_keep_their_text() {
    let network = Network::new(Duration::ZERO);
    let url = |path: &str| format!("http://example.com{path}");
    network.set(&url("/"), scripted::page("Start", &["/a"]));
    network.set(&url("/a"), scripted::page("A", &["/b"]));
    network.set(&url("/b"), scripted::page("B", &[]));
    let bench = Bench::over(network.clone(), CrawlSettings { parallel: 1, ..quick() });
    bench.train(&url("/")).await;
    assert_eq!(bench.store.documents().len(), 3);
    network.set(&url("/robots.txt"), scripted::text("user-agent: *\ncrawl-delay: 10\n"));
    network.set(&url("/"), scripted::page("New start", &["/x", "/a"]));
    for number in 0..100 {
        let next = format!("/x{number}");
        network.set(&url("/x"), scripted::page("X", &["/x0"]));
        let further = format!("/x{}", number + 1);
        network.set(&url(&next), scripted::page(&next, &[&further]));
    }
    network.set_all(&url("/a"), vec![Err(scripted::broken())]);
    let message = bench.train(&url("/")).await;
    assert_eq!(message, "New start");
    let documents = bench.store.documents();
    assert!(documents.iter().any(|(known, _)| *known == url("/a")), "{documents:?}");
    assert!(documents.iter().any(|(known, _)| *known == url("/b")), "{documents:?}");
}

#[tokio::test]
async fn a_redirect_to_an_endless_address_is_not_followed() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/far"])));
    site.set("/far", redirect(&format!("/far?utm_source={}", "a".repeat(9_000))));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ indexed", "/far failed the server answered 301"]);
    assert_eq!(site.requests("/far"), 1);
}
