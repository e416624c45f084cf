//! The book and the reference page at `/docs`.

use std::collections::HashSet;

use cicerone_tests::{Answer, Resource, Server, Site};
use serde_json::Value;
use tempfile::TempDir;

use crate::own_clients;
use crate::world::{client, program};

/// The values of an attribute in a page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let mark = format!(" {name}=\"");
    page.split(&*mark).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

async fn found(path: &str) -> Answer {
    let answer = client().anonymous().get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert!(!answer.body.is_empty(), "{path}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    answer
}

/// The addresses of all sections in the search index.
async fn sections() -> Vec<String> {
    let index = found("/docs/search-index").await;
    let index: Vec<Value> = serde_json::from_str(index.text()).unwrap();
    index.iter().map(|section| section["url"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_widget_answers_on_the_pages_if_a_setting_names_it() {
    assert!(!found("/docs").await.text().contains("widget.js"), "without the setting");
    let folder = TempDir::with_prefix("cicerone-test-").unwrap();
    let file = folder.path().join("cicerone.toml");
    let server = |settings: &str| {
        std::fs::write(&file, format!("[http]\n{settings}\n")).unwrap();
        Server::of(&program()).env("CICERONE_CONFIG", file.to_str().unwrap())
    };
    let token = "pub_0123456789abcdefghijklmn";
    let named = format!("book_widget = \"{token}\"");
    let running = server(&named).start();
    let anonymous = running.client().anonymous();
    for page in ["/docs", "/docs/quick-start"] {
        let answer = anonymous.get(page).await;
        let script = format!("<script src=\"/widget.js\" data-token=\"{token}\" async></script>");
        assert!(answer.text().contains(&script), "{}", answer.text());
        // The script is of this server, so the policy is the same.
        let usual = found(page).await;
        let policy = |answer: &Answer| answer.header("content-security-policy").map(str::to_owned);
        assert_eq!(policy(&answer), policy(&usual));
    }
    let error = server("book_widget = \"pub_short\"").start_fails();
    assert!(
        error.contains("http.book_widget") && error.contains("24 letters or digits"),
        "{error}"
    );
    let error = server(&format!("{named}\nwidgets = false")).start_fails();
    assert!(error.contains("http.book_widget") && error.contains("http.widgets"), "{error}");
}

#[tokio::test]
pub(crate) async fn every_page_of_the_book_is_served_and_needs_nothing_from_elsewhere() {
    let sections = sections().await;
    let pages: HashSet<&str> = sections.iter().map(|url| url.split('#').next().unwrap()).collect();
    assert!(pages.contains("/docs/quick-start") && pages.len() > 20, "{pages:?}");
    let mut files = HashSet::new();
    for page in pages.into_iter().chain(["/docs"]) {
        let answer = found(page).await;
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{page}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let html = answer.text();
        assert!(!html.contains(" style=") && !html.contains("<style"), "{page}");
        let own = attributes(html, "href").into_iter().chain(attributes(html, "src"));
        files.extend(own.filter(|link| link.starts_with('/')).map(str::to_owned));
        for script in html.split("<script").skip(1) {
            assert!(script.starts_with(" src=\"/docs/"), "{page}: {script}");
        }
        for line in html.lines().filter(|line| line.starts_with("<link")) {
            assert!(!line.contains("//"), "{page}: {line}");
        }
    }
    for file in files {
        let answer = client().anonymous().get(file.split('#').next().unwrap()).await;
        assert_eq!(answer.status, 200, "{file}");
    }
}

#[tokio::test]
async fn the_search_index_leads_to_headings() {
    for url in sections().await {
        if let Some((page, anchor)) = url.split_once('#') {
            let page = found(page).await;
            assert!(page.text().contains(&format!(" id=\"{anchor}\"")), "{url}");
        }
    }
}

#[tokio::test]
pub(crate) async fn the_reference_page_needs_nothing_from_elsewhere() {
    for address in ["/docs/api", "/docs/index.html"] {
        let page = found(address).await.text().to_owned();
        assert!(page.contains("<html"), "{page}");
        for link in attributes(&page, "src").into_iter().chain(attributes(&page, "href")) {
            assert!(!link.contains("//"), "`{link}` is on another server");
            found(link).await;
        }
    }
    for unknown in
        ["/docs/package.json", "/docs/SUMMARY.md", "/docs/..%2fSECURITY", "/docs/Quick-Start"]
    {
        client().anonymous().get(unknown).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn every_example_of_the_book_does_what_it_says() {
    let site = Site::start().await;
    let page =
        |text: &str| Resource::html(format!("<html><body><main>{text}</main></body></html>"));
    let hours = "<h1>Museum</h1><p>The museum opens at nine o'clock on every day of the week.</p>";
    site.put("/", page(&format!("{hours}<a href=\"/prices\">Prices</a>")));
    site.put("/prices", page("<h1>Prices</h1><p>A ticket costs twelve euros for adults.</p>"));
    let server = Server::of(&program()).env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8").start();
    let address = site.url("");
    let program = program();
    let variables = [("SITE", &*address), ("PROGRAM", program.path().to_str().unwrap())];
    own_clients::run("book.sh", &server, &variables, "every example does what it says").await;
}
