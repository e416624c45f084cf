//! Which pages a crawl visits, and under which names.

use std::time::Duration;

use cicerone_ingestion::CrawlEnd;

use crate::bench::{Bench, quick};
use crate::scripted::{self, Network};
use crate::server::{Server, answer, links, page, redirect};

#[tokio::test]
async fn every_page_of_the_host_is_visited_once_and_none_outside() {
    let (site, other) = (Server::start().await, Server::start().await);
    let outside = other.url("/elsewhere");
    site.set("/docs", page("Docs", &links(&["/a", "a#part", "/a?utm_source=x", "b/", &outside])));
    site.set("/a", page("A", &links(&["/docs", "/b/", "mailto:a@example.com"])));
    site.set("/b/", page("B", &links(&["../c", "./", "http://localhost/d"])));
    site.set("/c", page("C", ""));
    let bench = Bench::new();
    assert_eq!(
        bench.crawl(&site.url("/docs#top")).await,
        CrawlEnd::Finished { title: Some("Docs".to_owned()) }
    );
    assert_eq!(bench.pages(), ["/a indexed", "/b/ indexed", "/c indexed", "/docs indexed"]);
    assert_eq!(site.log(), ["/robots.txt", "/docs", "/sitemap.xml", "/a", "/b/", "/c"]);
    assert_eq!(other.log(), Vec::<String>::new());
}

#[tokio::test]
async fn without_subpages_only_the_start_page_is_visited() {
    let site = Server::start().await;
    let inside = format!("{}<link rel=\"canonical\" href=\"/a\">", links(&["/a"]));
    site.set("/", page("Start", &inside));
    site.set("/a", page("A", ""));
    let bench = Bench::new();
    let end = bench.crawl_with(&site.url("/"), false).await;
    assert_eq!(end, CrawlEnd::Finished { title: Some("Start".to_owned()) });
    assert_eq!(site.log(), ["/robots.txt", "/"]);
    assert_eq!(bench.pages(), ["/ indexed"]);
}

#[tokio::test]
async fn links_are_resolved_against_the_base() {
    let site = Server::start().await;
    site.set("/deep/page", page("Start", "<base href=\"/other/\"><a href=\"x\">x</a>"));
    site.set("/other/x", page("X", ""));
    let bench = Bench::new();
    bench.train(&site.url("/deep/page")).await;
    assert_eq!(site.requests("/other/x"), 1);
    assert_eq!(site.requests("/deep/x"), 0);
}

#[tokio::test]
async fn redirects_are_followed_within_the_host_only() {
    let (site, other) = (Server::start().await, Server::start().await);
    site.set("/", page("Start", &links(&["/old", "/loop", "/away"])));
    site.set("/old", redirect("/new"));
    site.set("/new", page("New", ""));
    site.set("/loop", redirect("/loop#again"));
    site.set("/away", redirect(&other.url("/")));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        [
            "/ indexed".to_owned(),
            format!("/away skipped it redirects to another host: `{}`", other.url("/")),
            "/loop failed it redirects to itself".to_owned(),
            "/new indexed".to_owned(),
            format!("/old skipped it redirects to `{}`", site.url("/new")),
        ]
    );
    assert_eq!(other.log(), Vec::<String>::new());
}

#[tokio::test]
async fn a_page_that_browsers_leave_at_once_is_a_redirect() {
    let site = Server::start().await;
    let refresh = |to: &str| {
        answer(200, "text/html", format!("<meta http-equiv=\"refresh\" content=\"0; url={to}\">"))
    };
    site.set("/", refresh("/en/"));
    site.set("/en/", page("Start", &links(&["/old", "/self"])));
    site.set("/old", refresh("https://elsewhere.example/"));
    site.set("/self", page("Self", "<meta http-equiv=\"refresh\" content=\"60; url=/self\">"));
    let redirect = format!("/ skipped it redirects to `{}`", site.url("/en/"));
    let single = Bench::new();
    single.crawl_with(&site.url("/"), false).await;
    assert_eq!(single.pages(), [redirect.clone(), "/en/ indexed".to_owned()]);
    let bench = Bench::new();
    for status in ["indexed", "unchanged"] {
        bench.crawl(&site.url("/")).await;
        let away = "/old skipped it redirects to another host: `https://elsewhere.example/`";
        let expected = [
            redirect.clone(),
            format!("/en/ {status}"),
            away.to_owned(),
            format!("/self {status}"),
        ];
        assert_eq!(bench.pages(), expected);
        bench.store.finish();
    }
}

#[tokio::test]
async fn a_start_page_on_another_host_fails_with_that_address() {
    let (site, other) = (Server::start().await, Server::start().await);
    site.set("/", redirect(&other.url("/home")));
    let message = Bench::new().fail(&site.url("/")).await;
    assert!(message.contains("redirects to another host"), "{message}");
    assert!(message.contains(&format!("`{}`; add that address", other.url("/home"))), "{message}");
    assert_eq!(other.log(), Vec::<String>::new());
}

#[tokio::test]
async fn a_start_page_without_end_fails() {
    let site = Server::start().await;
    site.set("/", redirect("/a"));
    site.set("/a", redirect("/"));
    let message = Bench::new().fail(&site.url("/")).await;
    assert!(message.contains("redirects without end"), "{message}");
}

#[tokio::test]
async fn a_start_page_may_redirect_to_itself_with_a_parameter_that_only_tracks() {
    let site = Server::start().await;
    site.set("/", redirect("/?PHPSESSID=abc"));
    site.set("/?PHPSESSID=abc", page("Start", ""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(bench.pages(), ["/ indexed"]);
}

#[tokio::test]
async fn pages_that_differ_in_their_query_are_all_taken() {
    let site = Server::start().await;
    let numbered: Vec<String> = (0..600).map(|number| format!("/?p={number}")).collect();
    let names: Vec<&str> = numbered.iter().map(String::as_str).collect();
    site.set("/", page("Start", &links(&names)));
    for (number, name) in numbered.iter().enumerate() {
        site.set(name, page(&format!("Page {number}"), ""));
    }
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    let pages = bench.pages();
    assert_eq!(pages.iter().filter(|page| page.ends_with(" indexed")).count(), 601, "{pages:?}");
}

#[tokio::test]
async fn pages_are_spelled_as_the_start_page_is_in_the_end() {
    let network = Network::new(Duration::ZERO);
    network.set("http://example.com/", scripted::redirect("https://www.example.com/en/"));
    network
        .set("https://www.example.com/robots.txt", scripted::text("user-agent: *\ndisallow: /no"));
    let far = ["http://example.com/a", "//www.example.com/b", "https://example.com:443/no/c"];
    network.set("https://www.example.com/en/", scripted::page("Start", &far));
    network.set("https://www.example.com/a", scripted::page("A", &["http://example.com/"]));
    network.set("https://www.example.com/b", scripted::redirect("https://example.com/b"));
    network.set("https://example.com/b", scripted::page("B", &[]));
    let bench = Bench::over(network.clone(), quick());
    assert_eq!(bench.train("http://example.com").await, "Start");
    let expected = [
        "http://example.com/robots.txt",
        "http://example.com/",
        "https://www.example.com/robots.txt",
        "https://www.example.com/en/",
        "https://www.example.com/sitemap.xml",
        "https://www.example.com/a",
        "https://www.example.com/b",
    ];
    let log = network.log();
    assert_eq!(log[..7], expected);
    assert!(log[7..].contains(&"https://example.com/b".to_owned()), "{log:?}");
    assert!(!log.iter().any(|url| url.contains("/no")), "{log:?}");
    let documents = bench.store.documents().into_iter().map(|(url, _)| url).collect::<Vec<_>>();
    let www = |path: &str| format!("https://www.example.com{path}");
    assert!(documents.contains(&www("/b")), "{documents:?}");
    assert!(documents.contains(&www("/a")), "{documents:?}");
}

#[tokio::test]
async fn sitemaps_lead_to_pages_that_nothing_links_to() {
    let (site, other) = (Server::start().await, Server::start().await);
    site.set(
        "/robots.txt",
        answer(
            200,
            "text/plain",
            format!(
                "Sitemap: {}\nSitemap: {}\n",
                site.url("/index.xml"),
                other.url("/sitemap.xml"),
            ),
        ),
    );
    let sitemap = |inside: String| answer(200, "application/xml", inside);
    site.set("/index.xml", sitemap(format!(
        "<sitemapindex><sitemap><loc>{}</loc></sitemap><sitemap><loc>{}</loc></sitemap></sitemapindex>",
        site.url("/pages.txt"), site.url("/index.xml"),
    )));
    let lines = [site.url("/hidden"), other.url("/x"), site.url("/a.png")].join("\n");
    site.set("/pages.txt", answer(200, "text/plain", lines));
    site.set("/", page("Start", ""));
    site.set("/hidden", page("Hidden", ""));
    let bench = Bench::new();
    bench.crawl(&site.url("/")).await;
    assert_eq!(
        bench.pages(),
        ["/ indexed", "/a.png skipped not a page: its address names an image", "/hidden indexed"]
    );
    assert_eq!(site.requests("/index.xml"), 1);
    assert_eq!(site.requests("/a.png"), 0);
    assert_eq!(other.log(), Vec::<String>::new());
}

#[tokio::test]
async fn the_limit_of_pages_holds_and_says_so() {
    let site = Server::start().await;
    for page_number in 0..30 {
        let next = [format!("/{}", page_number * 2 + 1), format!("/{}", page_number * 2 + 2)];
        let next = links(&[&next[0], &next[1]]);
        site.set(&format!("/{page_number}"), page(&format!("Page {page_number}"), &next));
    }
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { pages: 7, ..quick() });
    bench.crawl(&site.url("/0")).await;
    let requested = site.log().iter().filter(|path| !path.contains('.')).count();
    assert_eq!(requested, 7, "{:?}", site.log());
    let pages = bench.pages();
    assert_eq!(pages.iter().filter(|page| page.ends_with("indexed")).count(), 7, "{pages:?}");
    let left = pages.iter().filter(|page| page.ends_with("reached its limit of 7 pages")).count();
    assert_eq!(left, 8, "{pages:?}");
}

#[tokio::test]
async fn redirects_are_not_counted_as_pages_but_have_a_limit() {
    let site = Server::start().await;
    let paths: Vec<String> = (0..6).map(|number| format!("/{number}")).collect();
    let to: Vec<&str> = paths.iter().map(String::as_str).collect();
    site.set("/", page("Start", &links(&to)));
    for path in &paths {
        site.set(path, redirect(&format!("{path}/")));
        site.set(&format!("{path}/"), page(path, &links(&["/endless/0"])));
    }
    for number in 0..50 {
        site.set(&format!("/endless/{number}"), redirect(&format!("/endless/{}", number + 1)));
    }
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { pages: 8, ..quick() });
    bench.crawl(&site.url("/")).await;
    let pages = bench.pages();
    assert_eq!(pages.iter().filter(|page| page.ends_with(" indexed")).count(), 7, "{pages:?}");
    assert_eq!(pages.len(), 4 * 8, "{pages:?}");
}

#[tokio::test]
async fn pages_too_many_links_away_are_left_out() {
    let site = Server::start().await;
    for depth in 0..5 {
        let next = links(&[&format!("/{}", depth + 1)]);
        site.set(&format!("/{depth}"), page(&format!("Page {depth}"), &next));
    }
    let bench = Bench::with(cicerone_ingestion::CrawlSettings { depth: 2, ..quick() });
    bench.crawl(&site.url("/0")).await;
    assert_eq!(
        bench.pages(),
        [
            "/0 indexed",
            "/1 indexed",
            "/2 indexed",
            "/3 skipped more than 2 links away from the start page"
        ]
    );
}
