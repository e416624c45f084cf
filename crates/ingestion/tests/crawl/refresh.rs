//! Crawling again: what did not change costs nothing, what failed keeps what it had.

use crate::bench::{Bench, quick};
use crate::server::{Server, answer, broken, links, page, redirect, status};

/// A site of four pages: two with an entity tag, one with a date, one with neither.
async fn site() -> Server {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/a", "/b"])).with("etag", "\"start\""));
    site.set("/a", page("A", &links(&["/c"])).with("etag", "W/\"a\""));
    site.set("/b", page("B", "").with("last-modified", "Sat, 31 Jan 2026 08:00:00 GMT"));
    site.set("/c", page("C", ""));
    site
}

#[tokio::test]
async fn nothing_changed_transfers_no_bodies_and_reads_nothing() {
    let site = site().await;
    site.set("/c", page("C", "").with("etag", "\"c\""));
    site.set("/robots.txt", status(404));
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    let documents = bench.store.documents();
    assert_eq!(bench.reader.take_read().len(), 4);
    site.forget();
    assert_eq!(
        bench.crawl(&site.url("/")).await,
        cicerone_ingestion::CrawlEnd::Finished { title: Some("Start".to_owned()) }
    );
    assert_eq!(bench.pages(), ["/ unchanged", "/a unchanged", "/b unchanged", "/c unchanged"]);
    assert_eq!(bench.reader.take_read(), Vec::<String>::new());
    // What was sent are the two refusals of files that are not there.
    assert_eq!(site.body_bytes(), 2 * "sorry".len());
    let unchanged = site.statuses().iter().filter(|(_, status)| *status == 304).count();
    assert_eq!(unchanged, 4);
    bench.store.finish();
    assert_eq!(bench.store.documents(), documents);
}

#[tokio::test]
async fn a_page_without_a_version_is_compared_by_its_content() {
    let site = site().await;
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    bench.reader.take_read();
    bench.crawl(&site.url("/")).await;
    assert!(bench.pages().contains(&"/c unchanged".to_owned()));
    assert_eq!(bench.reader.take_read(), Vec::<String>::new());
}

#[tokio::test]
async fn only_what_changed_is_read_again() {
    let site = site().await;
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    let before = bench.store.documents();
    bench.reader.take_read();
    site.set("/a", page("A", &links(&["/c", "/new"])).with("etag", "W/\"a2\""));
    site.set("/new", page("New", ""));
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        ["/ unchanged", "/a indexed", "/b unchanged", "/c unchanged", "/new indexed"]
    );
    assert_eq!(bench.reader.take_read(), ["/a", "/new"]);
    bench.store.finish();
    let same = bench.store.documents().iter().filter(|known| before.contains(known)).count();
    assert_eq!(same, 3);
}

#[tokio::test]
async fn a_page_that_is_gone_is_dropped() {
    let site = site().await;
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    site.remove("/c");
    site.set("/b", status(410));
    bench.train(&site.url("/")).await;
    let left: Vec<String> = bench.store.documents().into_iter().map(|(url, _)| url).collect();
    assert_eq!(left, [site.url("/"), site.url("/a")]);
}

#[tokio::test]
async fn a_page_that_nothing_links_to_any_more_is_dropped_unasked() {
    let site = site().await;
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    site.set("/a", page("A", ""));
    site.forget();
    bench.train(&site.url("/")).await;
    assert_eq!(site.requests("/c"), 0);
    assert_eq!(bench.store.documents().len(), 3);
}

#[tokio::test]
async fn a_page_that_fails_keeps_its_text_and_what_it_leads_to() {
    let site = site().await;
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    let before = bench.store.documents();
    for failure in [status(500), status(403), broken(), page("A", "UNREADABLE")] {
        site.set("/a", failure);
        bench.crawl(&site.url("/")).await;
        let pages = bench.pages();
        assert!(pages[1].starts_with("/a failed "), "{pages:?}");
        assert_eq!(pages[3], "/c unchanged");
        bench.store.finish();
        assert_eq!(bench.store.documents(), before);
    }
    site.set("/a", page("A", &links(&["/c"])).with("etag", "W/\"a\""));
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages()[1], "/a unchanged", "its version is still known");
}

#[tokio::test]
async fn a_refresh_that_fails_changes_nothing() {
    let site = site().await;
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    let before = bench.store.documents();
    site.set("/", status(500));
    bench.fail(&site.url("/")).await;
    assert_eq!(bench.store.documents(), before);
}

#[tokio::test]
async fn skipped_pages_stay_skipped_without_being_transferred_again() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/quiet", "/copy"])).with("etag", "\"1\""));
    let noindex = "<meta name=\"robots\" content=\"noindex\">";
    site.set("/quiet", page("Quiet", noindex).with("etag", "\"2\""));
    let canonical = "<link rel=\"canonical\" href=\"/real\">";
    site.set("/copy", page("Copy", canonical).with("etag", "\"3\""));
    site.set("/real", page("Real", "").with("etag", "\"4\""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    let first = bench.pages();
    bench.store.finish();
    site.forget();
    bench.crawl(&site.url("/")).await;
    let again = |line: &String| match line.strip_suffix(" indexed") {
        Some(path) => format!("{path} unchanged"),
        None => line.clone(),
    };
    let again: Vec<String> = first.iter().map(again).collect();
    assert_eq!(bench.pages(), again);
    assert_eq!(site.statuses().iter().filter(|(_, status)| *status == 304).count(), 4);
}

#[tokio::test]
async fn a_copy_of_another_page_is_not_transferred_again() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/a", "/double"])).with("etag", "\"0\""));
    site.set("/a", page("A", "").with("etag", "\"1\""));
    site.set("/double", page("A", "").with("etag", "\"1\""));
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { parallel: 1, ..quick() });
    bench.train(&site.url("/")).await;
    site.forget();
    bench.crawl(&site.url("/")).await;
    let same = format!("/double skipped the same content as `{}`", site.url("/a"));
    assert_eq!(bench.pages(), ["/ unchanged", "/a unchanged", same.as_str()]);
    assert_eq!(site.statuses().iter().filter(|(_, status)| *status == 304).count(), 3);
}

#[tokio::test]
async fn a_page_is_taken_up_again_once_its_reason_is_over() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/quiet", "/a", "/double", "/moved"])));
    site.set("/quiet", page("Quiet", "").with("etag", "\"q\"").with("x-robots-tag", "noindex"));
    site.set("/a", page("A", "").with("etag", "\"1\""));
    site.set("/double", page("A", "").with("etag", "\"1\""));
    site.set("/moved", redirect("/a"));
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { parallel: 1, ..quick() });
    bench.train(&site.url("/")).await;
    assert_eq!(bench.store.documents().len(), 2);
    site.set("/quiet", page("Quiet", "").with("etag", "\"q\""));
    site.set("/a", page("New A", "").with("etag", "\"2\""));
    site.set("/moved", page("Moved", ""));
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        ["/ unchanged", "/a indexed", "/double indexed", "/moved indexed", "/quiet indexed"]
    );
}

#[tokio::test]
async fn a_copy_is_read_once_its_canonical_page_is_gone() {
    let site = Server::start().await;
    let canonical = "<link rel=\"canonical\" href=\"/real\">";
    site.set("/", page("Start", &links(&["/copy", "/real"])));
    site.set("/copy", page("Copy", canonical).with("etag", "\"c\""));
    site.set("/real", page("Real", "").with("etag", "\"r\""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    let copy = format!("/copy skipped a copy of `{}`, its canonical address", site.url("/real"));
    assert_eq!(bench.pages(), ["/ indexed", copy.as_str(), "/real indexed"]);
    bench.store.finish();
    site.forget();
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ unchanged", copy.as_str(), "/real unchanged"]);
    assert_eq!(site.statuses().iter().filter(|(_, status)| *status == 304).count(), 2);
    bench.store.finish();
    site.remove("/real");
    bench.crawl(&site.url("/")).await;
    let gone = "/real failed there is no such page (the server answered 404)";
    assert_eq!(bench.pages(), ["/ unchanged", "/copy indexed", gone]);
}

#[tokio::test]
async fn pages_of_a_sitemap_that_fails_are_kept() {
    let site = Server::start().await;
    let sitemap = answer(200, "text/plain", [site.url("/a"), site.url("/b")].join("\n"));
    site.set("/", page("Start", ""));
    site.set("/sitemap.xml", sitemap.clone());
    site.set("/a", page("A", "").with("etag", "\"a\""));
    site.set("/b", page("B", "").with("etag", "\"b\""));
    let bench = Bench::new();
    bench.train(&site.url("/")).await;
    assert_eq!(bench.store.documents().len(), 3);
    site.set("/sitemap.xml", status(503));
    site.remove("/b");
    bench.crawl(&site.url("/")).await;
    let gone = "/b failed there is no such page (the server answered 404)";
    assert_eq!(bench.pages(), ["/ unchanged", "/a unchanged", gone]);
    bench.store.finish();
    // One that is there and does not list them says that they are no longer part of the site.
    site.set("/sitemap.xml", answer(200, "text/plain", site.url("/")));
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ unchanged"]);
}
