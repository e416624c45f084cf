//! What becomes of a page, by what it holds and by what it asks for.

use cicerone_domain::crawl::PageContent;

use crate::bench::{Bench, quick};
use crate::server::{Server, answer, links, page, redirect, status};

#[tokio::test]
async fn texts_and_pdfs_are_taken_and_the_rest_is_skipped_with_its_type() {
    let site = Server::start().await;
    let all = ["/a.txt", "/b.md", "/c.pdf", "/d", "/e", "/f", "/g.zip", "/h"];
    site.set("/", page("Start", &links(&all)));
    site.set("/a.txt", answer(200, "text/plain", "A text."));
    site.set("/b.md", answer(200, "application/octet-stream", "# A text\n\nof words."));
    site.set("/c.pdf", answer(200, "application/octet-stream", "%PDF-1.7 words"));
    site.set("/d", answer(200, "image/png", vec![0_u8; 1_000]));
    site.set("/e", answer(200, "application/json", "{}"));
    site.set("/f", answer(200, "text/html", "%PDF-1.7 other words"));
    site.set("/h", answer(200, "application/octet-stream", vec![0_u8; 10]));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed",
            "/a.txt indexed",
            "/b.md indexed",
            "/c.pdf indexed",
            "/d skipped not a page, text or PDF, but `image/png`",
            "/e skipped not a page, text or PDF, but `application/json`",
            "/f indexed",
            "/g.zip skipped not a page: its address names an archive",
            "/h skipped not a page, text or PDF, but `application/octet-stream`",
        ]
    );
    assert_eq!(site.requests("/g.zip"), 0);
}

#[tokio::test]
async fn the_text_is_recorded_with_the_page() {
    let site = Server::start().await;
    let start = page("Start", &links(&["/b", "/a", "/b"]));
    site.set(
        "/",
        start.with("etag", "\"1\"").with("last-modified", "Sat, 31 Jan 2026 08:00:00 GMT"),
    );
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    let first = bench.store.visited().remove(0);
    assert_eq!(first.url, site.url("/"));
    assert_eq!(first.title.as_deref(), Some("Start"));
    assert_eq!(first.http_status, Some(200));
    assert!(first.fetched_at.is_some());
    assert_eq!(first.validators.etag.as_deref(), Some("\"1\""));
    assert_eq!(first.validators.last_modified.as_deref(), Some("Sat, 31 Jan 2026 08:00:00 GMT"));
    assert_eq!(first.links, [site.url("/b"), site.url("/a")]);
    let PageContent::New(cut) = first.content else { panic!("no text") };
    let (document, passages) = (&cut.document, cut.passages(0).collect::<Vec<_>>());
    assert_eq!(document.url, Some(site.url("/")));
    assert_eq!(document.title.as_deref(), Some("Start"));
    assert_eq!(first.character_count, Some(document.text.chars().count() as u64));
    assert_eq!(passages[0].url, Some(site.url("/")));
    assert!(passages[0].text.contains("Start: text."));
}

#[tokio::test]
async fn a_page_that_asks_not_to_be_found_is_skipped_and_its_links_followed() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/meta", "/header", "/other", "/none"])));
    let asks = |what: &str| format!("<meta name=\"robots\" content=\"{what}\">");
    site.set("/meta", page("Meta", &format!("{}{}", asks("noindex"), links(&["/a"]))));
    site.set("/header", page("Header", &links(&["/b"])).with("x-robots-tag", "noindex"));
    site.set("/other", page("Other", "").with("x-robots-tag", "otherbot: noindex"));
    site.set("/none", page("None", &links(&["/c"])).with("x-robots-tag", "cicerone: none"));
    site.set("/a", page("A", ""));
    site.set("/b", page("B", ""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    let by_header =
        "skipped the server asks that the page is not indexed (`X-Robots-Tag: noindex`)";
    assert_eq!(
        bench.pages(),
        [
            "/ indexed".to_owned(),
            "/a indexed".to_owned(),
            "/b indexed".to_owned(),
            format!("/header {by_header}"),
            "/meta skipped the page asks not to be indexed (`noindex`)".to_owned(),
            format!("/none {by_header}"),
            "/other indexed".to_owned(),
        ]
    );
}

#[tokio::test]
async fn links_that_are_not_to_be_followed_are_not() {
    let site = Server::start().await;
    let rel = "<a rel=\"nofollow\" href=\"/rel\">x</a>";
    site.set("/", page("Start", &format!("{rel}{}", links(&["/meta", "/header"]))));
    let meta = "<meta name=\"robots\" content=\"nofollow\">";
    site.set("/meta", page("Meta", &format!("{meta}{}", links(&["/from-meta"]))));
    site.set("/header", page("Header", &links(&["/from-header"])).with("x-robots-tag", "nofollow"));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ indexed", "/header indexed", "/meta indexed"]);
    for path in ["/rel", "/from-meta", "/from-header"] {
        assert_eq!(site.requests(path), 0, "{path}");
    }
}

#[tokio::test]
async fn a_copy_is_left_out_for_its_canonical_page() {
    let site = Server::start().await;
    let canonical = |to: &str| format!("<link rel=\"canonical\" href=\"{to}\">");
    site.set("/", page("Start", &links(&["/copy?x=1", "/self", "/far"])));
    site.set("/copy?x=1", page("Copy", &canonical("/real")));
    site.set("/real", page("Real", &canonical("/real")));
    site.set("/self", page("Self", &canonical("/self#top")));
    site.set("/far", page("Far", &canonical("https://example.org/")));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    let real = site.url("/real");
    assert_eq!(
        bench.pages(),
        [
            "/ indexed".to_owned(),
            format!("/copy?x=1 skipped a copy of `{real}`, its canonical address"),
            "/far indexed".to_owned(),
            "/real indexed".to_owned(),
            "/self indexed".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_page_is_not_lost_where_its_canonical_page_is() {
    let site = Server::start().await;
    let canonical = |to: &str| format!("<link rel=\"canonical\" href=\"{to}\">");
    site.set("/robots.txt", answer(200, "text/plain", "user-agent: *\ndisallow: /no"));
    site.set("/", page("Start", &links(&["/a", "/c", "/gone"])));
    site.set("/a", page("A", &canonical("/b")));
    site.set("/b", page("B", &canonical("/a")));
    site.set("/c", page("C", &canonical("/no")));
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { parallel: 1, ..quick() });
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed".to_owned(),
            "/a indexed".to_owned(),
            format!("/b skipped a copy of `{}`, its canonical address", site.url("/a")),
            "/c indexed".to_owned(),
            "/gone failed there is no such page (the server answered 404)".to_owned(),
            "/no skipped `robots.txt` does not allow it".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_page_is_not_lost_where_its_canonical_page_turns_out_to_have_no_text() {
    let site = Server::start().await;
    let canonical = |to: &str| format!("<link rel=\"canonical\" href=\"{to}\">");
    site.set("/", page("Start", &(canonical("/gone") + &links(&["/docs/", "/first", "/down"]))));
    // The usual slip: the address without the slash leads back to the one with it.
    site.set("/docs/", page("Docs", &canonical("/docs")));
    site.set("/docs", redirect("/docs/"));
    site.set("/down", page("Down", &canonical("/quiet")));
    site.set("/quiet", page("Quiet", "").with("x-robots-tag", "noindex"));
    // A chain whose end is not there: one of it stays.
    site.set("/first", page("First", &canonical("/second")));
    site.set("/second", page("Second", &canonical("/third")));
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { parallel: 1, ..quick() });
    bench.crawl(&site.url("/")).await;
    let texts: Vec<String> =
        bench.pages().into_iter().filter(|page| page.ends_with("indexed")).collect();
    assert_eq!(texts, ["/ indexed", "/docs/ indexed", "/down indexed", "/second indexed"]);
    let copy = format!("/first skipped a copy of `{}`, its canonical address", site.url("/second"));
    assert!(bench.pages().contains(&copy), "{:?}", bench.pages());
}

#[tokio::test]
async fn the_same_content_is_kept_once() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/a", "/a/index.html"])));
    site.set("/a", page("A", ""));
    site.set("/a/index.html", page("A", ""));
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { parallel: 1, ..quick() });
    bench.crawl(&site.url("/")).await;
    let same = format!("/a/index.html skipped the same content as `{}`", site.url("/a"));
    assert_eq!(bench.pages(), ["/ indexed", "/a indexed", &same]);
}

#[tokio::test]
async fn pages_without_text_have_different_reasons() {
    let site = Server::start().await;
    site.set("/", page("Start", &links(&["/empty", "/shell", "/deep", "/huge"])));
    site.set("/empty", answer(200, "text/html", "<p> </p>"));
    site.set("/shell", answer(200, "text/html", "<div id=\"root\"></div>"));
    site.set("/deep", answer(200, "text/html", "<p>UNREADABLE</p>"));
    site.set("/huge", page("Huge", &"x".repeat(20_000)));
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { page_bytes: 10_000, ..quick() });
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed",
            "/deep failed the page is too deep",
            "/empty skipped the page has no text",
            "/huge failed the response is larger than 10000 bytes",
            "/shell failed needs_javascript",
        ]
    );
}

#[tokio::test]
async fn a_source_without_anything_readable_fails_with_the_reason() {
    let site = Server::start().await;
    for (answer, expected) in [
        (status(404), "could not be read: there is no such page (the server answered 404)"),
        (status(403), "could not be read: the server answered 403"),
        (status(503), "could not be read: the server answered 503"),
        (answer(200, "text/html", "<div id=\"root\"></div>"), "(`needs_javascript`)"),
        (answer(200, "text/html", " "), "nothing readable was found at"),
        (page("A", "").with("x-robots-tag", "noindex"), "`X-Robots-Tag: noindex`"),
        (answer(200, "image/png", "x"), "not a page, text or PDF, but `image/png`"),
    ] {
        site.set("/", answer);
        let message = Bench::new().fail(&site.url("/")).await;
        assert!(message.contains(expected), "{message}");
        assert!(message.contains(&site.url("/")), "{message}");
    }
    // What a server states at length is shortened.
    site.set("/", answer(200, &format!("image/{}", "x".repeat(300_000)), "x"));
    let message = Bench::new().fail(&site.url("/")).await;
    assert!(message.contains("`image/xxx"), "{message}");
    assert!(message.len() < 1_000, "{}", message.len());
}
