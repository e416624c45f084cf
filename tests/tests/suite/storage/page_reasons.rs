//! Page reasons that were stored as sentences are converted to codes and details, and are shown as
//! the same sentences.

use cicerone_domain::crawl::PageReason;
use cicerone_domain::source::CrawledPageStatus;
use cicerone_storage::migrations;

use super::crawling::{page, without};
use super::fixture::{on_each, website};

/// Every sentence that was stored, the status of the server's answer, and the converted value.
const SENTENCES: [(&str, Option<u16>, &str); 32] = [
    ("needs_javascript", Some(200), "needs_javascript"),
    ("the page asks not to be indexed (`noindex`)", Some(200), "noindex"),
    (
        "the server asks that the page is not indexed (`X-Robots-Tag: noindex`)",
        Some(200),
        "noindex_header",
    ),
    ("the page has no text", Some(200), "empty"),
    ("`robots.txt` does not allow it", None, "disallowed"),
    ("the same content as `https://a.example/ü?a=%25`", Some(200), "same_content"),
    ("a copy of `https://a.example/b`, its canonical address", Some(200), "canonical_copy"),
    ("it redirects to `https://a.example/b`", Some(301), "redirects"),
    ("it redirects to another host: `https://b.example/…`", Some(302), "redirects_elsewhere"),
    ("it redirects to itself", None, "redirects_to_itself"),
    ("its address is no URL", None, "no_url"),
    ("there is no such page (the server answered 410)", Some(410), "gone"),
    ("the server answered 403: it does not let the crawler in", Some(403), "refused"),
    ("the server answered 429: it wants fewer requests", Some(429), "refused"),
    ("the server answered 503", Some(503), "refused"),
    ("it could not be read", Some(200), "not_read"),
    ("not a page, text or PDF", Some(200), "other_type"),
    ("not a page, text or PDF, but `image/png`", Some(200), "other_type"),
    ("not a page: its address names an image", None, "names_file"),
    ("not a page: its address names a video or sound", None, "names_file"),
    ("not a page: its address names an office document", None, "names_file"),
    ("not a page: its address names data", None, "names_file"),
    ("its path has more than 24 parts, which looks endless", None, "long_path"),
    ("`again` repeats in its path, which looks endless", None, "repeating_path"),
    ("more than 1000 links away from the start page", None, "too_far"),
    ("not visited: the crawl reached its limit of 1000 pages", None, "page_limit"),
    ("not visited: the crawl reached its limit of 10 minutes", None, "time_limit"),
    ("not visited: the site had stopped answering", None, "site_down"),
    ("the name has no address", None, "not_fetched"),
    ("the response is larger than 10 bytes", None, "not_fetched"),
    ("the PDF contains no readable text; it looks scanned", Some(200), "unreadable"),
    ("the server answered nonsense", None, "not_fetched"),
];

#[tokio::test]
async fn sentences_become_codes_and_details_and_read_as_before() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.source(&agent, website(true)).await;
        let crawl = world.begin().await;
        let failed =
            |number| without(&format!("/{number:02}"), CrawledPageStatus::Failed, "to be replaced");
        let mut pages: Vec<_> = (0..SENTENCES.len()).map(failed).collect();
        pages.push(page("/fine", "text"));
        world.record(&crawl, pages).await;
        let name = "page_reasons";
        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains(name)) {}
        for (position, (sentence, status, _)) in SENTENCES.iter().enumerate() {
            let status = status.map_or("NULL".to_owned(), |status| status.to_string());
            world.execute(&format!(
                "UPDATE crawl_pages SET reason = '{sentence}', http_status = {status}
                 WHERE position = {position}"
            ));
        }

        migrations::run(&world.url).unwrap();
        let check = async || {
            let pages = world.pages(&source).await;
            for (page, (sentence, _, code)) in pages.iter().zip(SENTENCES) {
                let reason = page.reason.as_ref().unwrap();
                assert_eq!((reason.to_string().as_str(), reason.code()), (sentence, code));
            }
            assert_eq!(pages.last().unwrap().reason, None);
            pages
        };
        let pages = check().await;
        let of = "https://a.example/ü?a=%25".to_owned();
        assert_eq!(pages[5].reason, Some(PageReason::SameContent { of }));

        while migrations::revert(&world.url).unwrap().is_some_and(|last| !last.contains(name)) {}
        for (position, (sentence, ..)) in SENTENCES.iter().enumerate() {
            let row = format!("position = {position} AND reason = '{sentence}'");
            assert_eq!(world.count_where("crawl_pages", &row), 1, "{sentence}");
        }
        migrations::run(&world.url).unwrap();
        check().await;
    })
    .await;
}
