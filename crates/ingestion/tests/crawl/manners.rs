//! Politeness: `robots.txt`, parallel requests, delays.

use std::time::Duration;

use cicerone_ingestion::CrawlSettings;

use crate::bench::{Bench, quick};
use crate::scripted::{self, Network};
use crate::server::{Server, answer, links, page, redirect, status};

fn robots(text: &str) -> crate::server::Answer {
    answer(200, "text/plain", text)
}

#[tokio::test]
async fn a_disallowed_page_is_never_requested() {
    let site = Server::start().await;
    site.set("/robots.txt", robots(
        "User-agent: *\nDisallow: /\n\nUser-agent: cicerone\nDisallow: /private\nAllow: /private/not\n",
    ));
    site.set("/", page("Start", &links(&["/private/a", "/private/not", "/p", "/hop"])));
    site.set("/private/not", page("Not private", ""));
    site.set("/p", page("P", ""));
    site.set("/hop", redirect("/private/b"));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed".to_owned(),
            format!("/hop skipped it redirects to `{}`", site.url("/private/b")),
            "/p indexed".to_owned(),
            "/private/a skipped `robots.txt` does not allow it".to_owned(),
            "/private/b skipped `robots.txt` does not allow it".to_owned(),
            "/private/not indexed".to_owned(),
        ]
    );
    assert_eq!(site.requests("/private/a") + site.requests("/private/b"), 0);
    assert_eq!(site.requests("/robots.txt"), 1);
}

#[tokio::test]
async fn disallowed_pages_are_not_requested_through_a_sitemap_or_a_redirect() {
    let site = Server::start().await;
    site.set(
        "/robots.txt",
        robots("User-agent: *\nDisallow: /private/\nDisallow: /*?utm_source\n"),
    );
    let index = format!(
        "<sitemapindex><sitemap><loc>{}</loc></sitemap><sitemap><loc>{}</loc></sitemap></sitemapindex>",
        site.url("/private/s.xml"),
        site.url("/moved.xml"),
    );
    site.set("/sitemap.xml", answer(200, "application/xml", index));
    site.set("/moved.xml", redirect("/private/t.xml"));
    site.set("/", page("Start", &links(&["/t"])));
    site.set("/t", redirect("/t?utm_source=z"));
    site.set("/t?utm_source=z", page("T", ""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ indexed", "/t skipped `robots.txt` does not allow it"]);
    for path in ["/private/s.xml", "/private/t.xml", "/t?utm_source=z"] {
        assert_eq!(site.requests(path), 0, "{path}");
    }
}

#[tokio::test]
async fn a_disallowed_start_page_fails_the_source_without_a_request() {
    let site = Server::start().await;
    site.set("/robots.txt", robots("user-agent: *\ndisallow: /\n"));
    let message = Bench::new().fail(&site.url("/docs")).await;
    assert!(message.contains("`robots.txt` does not allow"), "{message}");
    assert_eq!(site.log(), ["/robots.txt"]);
}

#[tokio::test]
async fn without_robots_txt_everything_is_allowed() {
    let site = Server::start().await;
    site.set("/", page("Start", ""));
    for missing in [status(404), status(403), status(410), redirect("/robots.txt")] {
        site.set("/robots.txt", missing);
        Bench::new().train(&site.url("/")).await;
    }
}

#[tokio::test]
async fn robots_txt_may_lie_behind_a_redirect() {
    let (site, other) = (Server::start().await, Server::start().await);
    site.set("/robots.txt", redirect(&other.url("/rules")));
    other.set("/rules", robots("user-agent: *\ndisallow: /\n"));
    site.set("/", page("Start", ""));
    let message = Bench::new().fail(&site.url("/")).await;
    assert!(message.contains("does not allow"), "{message}");
}

#[tokio::test]
async fn a_robots_txt_that_cannot_be_had_is_tried_again_and_then_fails_the_source() {
    let site = Server::start().await;
    site.set("/", page("Start", ""));
    site.set("/robots.txt", status(503));
    let message = Bench::new().fail(&site.url("/")).await;
    assert!(message.contains("/robots.txt` answered 503"), "{message}");
    assert_eq!(site.log(), ["/robots.txt"; 3]);
    site.set_all("/robots.txt", vec![status(500), crate::server::broken(), robots("")]);
    Bench::new().train(&site.url("/")).await;
}

#[tokio::test]
async fn long_pauses_before_the_first_page_end_with_the_time_of_the_crawl() {
    let busy = || status(503).with("retry-after", "30");
    for path in ["/robots.txt", "/"] {
        let site = Server::start().await;
        site.set("/robots.txt", robots(""));
        site.set("/", page("Start", ""));
        site.set(path, busy());
        let settings = CrawlSettings { time: Duration::from_secs(1), ..quick() };
        let message = Bench::with(settings).fail(&site.url("/")).await;
        assert!(message.contains("were not read within 1 s"), "{message}");
        assert!(site.log().iter().filter(|asked| *asked == path).count() == 1, "{path}");
    }
}

#[tokio::test]
async fn a_site_that_is_not_there_fails_with_a_message_that_says_so() {
    let closed = {
        let site = Server::start().await;
        site.url("/")
    };
    let message = Bench::new().fail(&closed).await;
    assert!(message.contains("could not be fetched"), "{message}");
    assert!(message.contains("check that the site is up"), "{message}");
}

#[tokio::test]
async fn at_most_four_requests_go_at_a_time() {
    let site = Server::start().await;
    let paths: Vec<String> = (0..40).map(|number| format!("/{number}")).collect();
    let to: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.set("/", page("Start", &links(&to)));
    for path in &paths {
        site.set(path, page(path, "").after(Duration::from_millis(5)));
    }
    Bench::new().train(&site.url("/")).await;
    assert_eq!(site.most_busy(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_lets_one_request_go_at_a_time_with_that_pause() {
    let network = Network::new(Duration::from_millis(100));
    let url = |path: &str| format!("http://example.com{path}");
    network.set(&url("/robots.txt"), scripted::text("user-agent: *\ncrawl-delay: 3\n"));
    network.set(&url("/"), scripted::page("Start", &["/a", "/b", "/c"]));
    for path in ["/a", "/b", "/c"] {
        network.set(&url(path), scripted::page(path, &[]));
    }
    Bench::over(network.clone(), CrawlSettings::default()).train("http://example.com").await;
    // robots.txt, the start page, the sitemap that is not there, three pages.
    assert_eq!(network.pauses(), [0, 3, 3, 3, 3]);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_is_capped() {
    let network = Network::new(Duration::ZERO);
    let url = |path: &str| format!("http://example.com{path}");
    network.set(&url("/robots.txt"), scripted::text("user-agent: *\ncrawl-delay: 86400\n"));
    network.set(&url("/"), scripted::page("Start", &["/a"]));
    network.set(&url("/a"), scripted::page("A", &[]));
    Bench::over(network.clone(), CrawlSettings::default()).train("http://example.com").await;
    assert_eq!(network.pauses(), [0, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_says_when_to_come_back_is_left_alone_until_then() {
    let network = Network::new(Duration::from_millis(10));
    let url = |path: &str| format!("http://example.com{path}");
    network.set(&url("/"), scripted::page("Start", &["/a", "/b", "/c", "/d", "/e", "/f"]));
    let busy = scripted::busy(429, Some("20"));
    network.set_all(&url("/a"), vec![Ok(busy), Ok(scripted::page("A", &[]))]);
    for path in ["/b", "/c", "/d", "/e", "/f"] {
        network.set(&url(path), scripted::page(path, &[]));
    }
    let bench = Bench::over(network.clone(), quick());
    bench.train("http://example.com").await;
    let first = network.times(&url("/a"))[0];
    let after = |path: &str| network.times(&url(path)).last().unwrap() - first;
    assert!(after("/b") < 100, "it was under way already");
    assert!(after("/f") >= 20_000, "{}", after("/f"));
    assert!(after("/a") >= 20_000, "{}", after("/a"));
    assert_eq!(bench.store.documents().len(), 7);
}

#[tokio::test(start_paused = true)]
async fn who_asks_for_too_long_a_pause_is_not_asked_again() {
    let network = Network::new(Duration::ZERO);
    network.set("http://example.com/", scripted::page("Start", &["/a"]));
    network.set("http://example.com/a", scripted::busy(503, Some("3600")));
    let bench = Bench::over(network.clone(), CrawlSettings::default());
    bench.crawl("http://example.com").await;
    assert_eq!(network.times("http://example.com/a").len(), 1);
    assert_eq!(bench.pages()[1], "/a failed the server answered 503");
}
