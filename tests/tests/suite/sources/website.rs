//! Website sources, from the requests to the site up to the answer.

use std::sync::OnceLock;
use std::time::Duration;

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Resource, Server, Site};
use serde_json::{Value, json};

use crate::world::{awaited, client, eventually, own_server, program};

/// A server that may fetch from loopback.
fn crawling_server() -> Server {
    Server::of(&program()).env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8").start()
}

/// The server that the tests of crawls share.
pub(crate) fn crawling() -> Client {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(crawling_server).client()
}

async fn add(client: &Client, agent: &str, url: &str, crawl_subpages: bool) -> String {
    let body = json!({ "type": "website", "content": url, "crawl_subpages": crawl_subpages });
    id(&client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201))
}

/// Waits until at least this many pages are done, and returns the source.
async fn progress(client: &Client, source: &str, pages: u64) -> Value {
    awaited(&format!("{pages} pages are done"), async || {
        let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
        let done = found["progress"]["pages_done"].as_u64();
        if done.is_some_and(|done| done >= pages) { Ok(found) } else { Err(found.to_string()) }
    })
    .await
}

async fn refresh(client: &Client, source: &str) {
    client.post_nothing(&format!("/v1/sources/{source}/refresh")).await.expect(200);
}

/// The pages of a crawl: path and status, in order of the path.
async fn pages(client: &Client, site: &Site, source: &str) -> Vec<(String, String)> {
    let listed = client.list_all(&format!("/v1/sources/{source}/pages"), 3).await;
    let path = |page: &Value| page["url"].as_str().unwrap().replacen(&site.url(""), "", 1);
    let status = |page: &Value| page["status"].as_str().unwrap().to_owned();
    let mut pages: Vec<_> = listed.iter().map(|page| (path(page), status(page))).collect();
    pages.sort();
    pages
}

fn owned(pages: &[(&str, &str)]) -> Vec<(String, String)> {
    pages.iter().map(|(path, status)| ((*path).to_owned(), (*status).to_owned())).collect()
}

fn visited(site: &Site) -> Vec<String> {
    site.take_visits().into_iter().map(|visit| visit.path).collect()
}

/// A small museum: three pages that link to each other.
async fn museum() -> Site {
    let site = Site::start().await;
    let hours = "The museum opens at nine o'clock in the morning on every day except Monday, when it is closed.";
    let prices = "A ticket for adults costs seven euros, and children under twelve years of age enter free of charge.";
    let way = "Take the tram number four to the stop named Harbour Square, which is right in front of the entrance.";
    site.page("/", "Opening hours", hours, &["/prices", "/way"]);
    site.page("/prices", "Prices", prices, &["/"]);
    site.page("/way", "How to get here", way, &["/"]);
    site
}

#[tokio::test]
async fn a_page_is_cited_with_its_title_and_address() {
    let (site, client) = (museum().await, crawling());
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/prices"), false).await;
    let trained = client.trained(&source).await;
    assert_eq!(trained["title"], "Prices");
    assert_eq!(trained["progress"], Value::Null);
    assert!(trained["character_count"].as_u64().unwrap() > 90, "{trained}");
    assert_eq!(pages(&client, &site, &source).await, owned(&[("/prices", "indexed")]));

    let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
    assert_eq!(documents.len(), 1, "{documents:?}");
    assert_eq!(documents[0]["url"], site.url("/prices"));
    assert!(documents[0]["text"].as_str().unwrap().contains("seven euros"), "{documents:?}");
    let reply = client.ask(&agent, "How much is a ticket for adults?").await;
    assert!(reply["reply"].as_str().unwrap().contains("seven euros"), "{reply}");
    assert_eq!(reply["sources_used"][0]["id"], source.as_str());
    assert_eq!(reply["sources_used"][0]["title"], "Prices");
}

#[tokio::test]
async fn a_site_is_crawled_breadth_first_within_its_host_and_its_rules() {
    let (site, elsewhere, client) = (museum().await, museum().await, crawling());
    let (text, other) =
        ("Something that is long enough to be the text of a page.", elsewhere.url("/"));
    site.put("/robots.txt", Resource::of("text/plain", "User-agent: *\nDisallow: /private\n"));
    site.page(
        "/",
        "Start",
        text,
        &["/a", "/private/x", &other, "/picture.png", "/hidden", "/gone"],
    );
    site.page(
        "/a",
        "A page",
        "The first of the pages is about the painting of the harbour.",
        &["/b?utm_source=x#top"],
    );
    site.page(
        "/b",
        "B page",
        "The second of the pages is about the bridge over the river.",
        &["/"],
    );
    site.page("/private/x", "Private", "Nobody should ever see this page.", &[]);
    site.put("/hidden", Resource::html(
        "<head><title>Hidden</title><meta name=robots content=noindex></head><p>Not to be found by anyone.</p>",
    ));
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.trained(&source).await;

    let listed = pages(&client, &site, &source).await;
    for (path, status) in [
        ("/", "indexed"),
        ("/a", "indexed"),
        ("/b", "indexed"),
        ("/hidden", "skipped"),
        ("/gone", "failed"),
        ("/private/x", "skipped"),
    ] {
        assert!(listed.contains(&(path.to_owned(), status.to_owned())), "{path} in {listed:?}");
    }
    let visited = visited(&site);
    assert_eq!(visited.first().map(String::as_str), Some("/robots.txt"));
    assert!(!visited.iter().any(|path| path.starts_with("/private")), "{visited:?}");
    assert!(elsewhere.take_visits().is_empty());
    assert!(site.most_in_flight() <= 4);
}

#[tokio::test]
async fn each_page_tells_what_became_of_it() {
    let (site, client) = (museum().await, crawling());
    site.page(
        "/",
        "Start",
        "A page that has enough text to be worth reading for anyone.",
        &["/gone", "/way"],
    );
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.trained(&source).await;
    let listed = client.list_all(&format!("/v1/sources/{source}/pages"), 100).await;
    let page = |path: &str| listed.iter().find(|page| page["url"] == site.url(path)).unwrap();
    let (way, gone) = (page("/way"), page("/gone"));
    assert_eq!((&way["http_status"], &way["title"]), (&json!(200), &json!("How to get here")));
    assert!(way["character_count"].as_u64().unwrap() > 50, "{way}");
    assert_eq!(way["reason"], Value::Null);
    assert!(cicerone_tests::answer::is_timestamp(way["fetched_at"].as_str().unwrap()), "{way}");
    assert_eq!((&gone["http_status"], &gone["character_count"]), (&json!(404), &Value::Null));
    assert!(gone["reason"].as_str().unwrap().contains("404"), "{gone}");
}

#[tokio::test]
async fn a_refresh_with_nothing_changed_transfers_no_page_and_keeps_everything() {
    let (site, client) = (museum().await, crawling());
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    let before = client.trained(&source).await;
    let documents = client.list_all(&format!("/v1/sources/{source}/documents"), 10).await;
    site.take_visits();
    refresh(&client, &source).await;
    assert_eq!(client.trained(&source).await, before);
    let unchanged = [("/", "unchanged"), ("/prices", "unchanged"), ("/way", "unchanged")];
    assert_eq!(pages(&client, &site, &source).await, owned(&unchanged));
    let visits = site.take_visits();
    assert_eq!(visits.iter().filter(|visit| visit.status == 304).count(), 3, "{visits:?}");
    for visit in visits {
        assert!(visit.status == 304 || visit.status == 404, "{visit:?}");
    }
    assert_eq!(client.list_all(&format!("/v1/sources/{source}/documents"), 10).await, documents);
}

#[tokio::test]
async fn a_refresh_takes_what_is_new_and_drops_what_is_gone() {
    let (site, client) = (museum().await, crawling());
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.trained(&source).await;
    site.page(
        "/prices",
        "Prices",
        "A ticket for adults now costs eleven euros, after many years of the old price.",
        &["/"],
    );
    site.remove("/way");
    refresh(&client, &source).await;
    client.trained(&source).await;
    let expected = [("/", "unchanged"), ("/prices", "indexed"), ("/way", "failed")];
    assert_eq!(pages(&client, &site, &source).await, owned(&expected));
    let reply = client.ask(&agent, "How much is a ticket for adults?").await;
    assert!(reply["reply"].as_str().unwrap().contains("eleven euros"), "{reply}");
    let reply = client.ask(&agent, "Which tram goes to Harbour Square?").await;
    assert_eq!(reply["sources_used"], json!([]), "{reply}");
}

#[tokio::test]
async fn a_page_that_merely_failed_keeps_its_content() {
    let (site, client) = (museum().await, crawling());
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.trained(&source).await;
    site.put("/way", Resource::html("come back later").status(403));
    refresh(&client, &source).await;
    client.trained(&source).await;
    assert!(
        pages(&client, &site, &source).await.contains(&("/way".to_owned(), "failed".to_owned()))
    );
    let reply = client.ask(&agent, "Which tram goes to Harbour Square?").await;
    assert!(reply["reply"].as_str().unwrap().contains("number four"), "{reply}");
}

#[tokio::test]
async fn a_site_that_is_down_at_a_refresh_fails_it_and_the_old_content_answers() {
    let (site, client) = (museum().await, crawling());
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    let before = client.trained(&source).await;
    site.set_down(true);
    refresh(&client, &source).await;
    let failed = client.failed(&source).await;
    assert_eq!(failed["character_count"], before["character_count"]);
    assert!(failed["error_message"].as_str().unwrap().len() > 20, "{failed}");
    let reply = client.ask(&agent, "How much is a ticket for adults?").await;
    assert!(reply["reply"].as_str().unwrap().contains("seven euros"), "{reply}");
    site.set_down(false);
    refresh(&client, &source).await;
    client.trained(&source).await;
}

#[tokio::test]
async fn deleting_a_source_stops_its_crawl_within_a_second() {
    let (site, client) = (Site::start().await, crawling());
    let links: Vec<String> = (0..200).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    for link in links.iter().chain(&["/"]) {
        site.page(
            link,
            link,
            "This page has a text that is long enough to be worth reading.",
            &links,
        );
    }
    site.set_delay(Duration::from_millis(100));
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    let found = progress(&client, &source, 1).await;
    assert!(found["progress"]["pages_found"].as_u64().unwrap() > 100, "{found}");
    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    // There are more than a hundred pages that take 100 ms each; no more of them are requested. A pause of the crawl
    // cannot make this fail; only a crawl that continues can.
    eventually("the crawl ends", async || {
        site.take_visits();
        tokio::time::sleep(Duration::from_millis(500)).await;
        site.take_visits().is_empty()
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_crawl_goes_on_where_it_was() {
    let site = Site::start().await;
    let links: Vec<String> = (0..40).map(|number| format!("/{number}")).collect();
    let links: Vec<&str> = links.iter().map(String::as_str).collect();
    for link in links.iter().chain(&["/"]) {
        let text = format!(
            "The page named {link} has a text of its own, which is long enough to be read."
        );
        site.page(link, link, &text, &links);
    }
    site.set_delay(Duration::from_millis(60));
    let mut server = crawling_server();
    let client = server.client();
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    progress(&client, &source, 10).await;
    server.kill();
    let before = site.take_visits();
    server.restart();
    let client = server.client();
    client.trained(&source).await;
    assert_eq!(pages(&client, &site, &source).await.len(), 41);
    let after = site.take_visits();
    let again = after.iter().filter(|visit| before.contains(visit) && visit.path != "/robots.txt");
    // Only pages that were in progress or not yet stored are fetched again.
    assert!(again.count() < 30, "{before:?} {after:?}");
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_alike_and_never_connected_to() {
    let (site, client) = (museum().await, client());
    let agent = client.agent().await;
    let port = site.url("").rsplit(':').next().unwrap().to_owned();
    let mut messages = Vec::new();
    for host in [
        "127.0.0.1",
        "localhost",
        "0x7f000001",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
        "db.internal",
    ] {
        let source = add(&client, &agent, &format!("http://{host}:{port}/"), false).await;
        let failed = client.failed(&source).await;
        // The message begins with the address, followed by the reason.
        let (_, reason) = failed["error_message"].as_str().unwrap().rsplit_once(": ").unwrap();
        messages.push(reason.to_owned());
    }
    messages.sort();
    messages.dedup();
    let message = "the address is not a public web address, or it is that of the server itself";
    assert_eq!(messages, [message]);
    assert!(site.take_visits().is_empty());
}

#[tokio::test]
async fn a_start_page_that_cannot_be_used_fails_the_source_with_its_reason() {
    let (site, client) = (museum().await, crawling());
    site.put(
        "/robots.txt",
        Resource::of("text/plain", "User-agent: Cicerone\nDisallow: /private\n"),
    );
    site.put("/shell", Resource::html(
        "<html><head><title>App</title><script src=/app.js></script></head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div></body></html>",
    ));
    site.put("/empty", Resource::html("<html><body></body></html>"));
    site.put("/picture", Resource::of("image/png", b"\x89PNG\r\n\x1a\n0000".as_slice()));
    let agent = client.agent().await;
    for (path, reason) in [
        ("/missing", "404"),
        ("/private/x", "robots.txt"),
        ("/shell", "JavaScript"),
        ("/empty", "no "),
        ("/picture", "image/png"),
    ] {
        let source = add(&client, &agent, &site.url(path), false).await;
        let failed = client.failed(&source).await;
        let message = failed["error_message"].as_str().unwrap();
        assert!(message.to_lowercase().contains(&reason.to_lowercase()), "{path}: {message}");
    }
}

#[tokio::test]
async fn plain_text_and_sitemaps_are_read() {
    let (site, client) = (Site::start().await, crawling());
    let sitemap = format!(
        "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{}</loc></url></urlset>",
        site.url("/alone.txt")
    );
    site.page("/", "Start", "A page with enough text, which links to nothing at all.", &[]);
    site.put("/sitemap.xml", Resource::of("application/xml", sitemap));
    site.put(
        "/alone.txt",
        Resource::of(
            "text/plain",
            "The library lends twelve books at a time to each of its readers.",
        ),
    );
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.trained(&source).await;
    let reply = client.ask(&agent, "How many books does the library lend?").await;
    assert!(reply["reply"].as_str().unwrap().contains("twelve books"), "{reply}");
}

#[tokio::test]
async fn every_answer_during_a_refresh_is_from_the_old_content_or_the_new() {
    let (site, client) = (museum().await, crawling());
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.trained(&source).await;
    for round in 0..5 {
        let (old, new) = if round % 2 == 0 { ("seven", "eleven") } else { ("eleven", "seven") };
        let text = format!(
            "A ticket for adults costs {new} euros, and children under twelve years of age enter free of charge."
        );
        site.page("/prices", "Prices", &text, &["/"]);
        refresh(&client, &source).await;
        loop {
            let reply = client.ask(&agent, "How much is a ticket for adults?").await;
            let said = reply["reply"].as_str().unwrap();
            assert!(said.contains(old) || said.contains(new), "{reply}");
            let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
            if found["status"] == "trained" {
                break;
            }
        }
        let reply = client.ask(&agent, "How much is a ticket for adults?").await;
        assert!(reply["reply"].as_str().unwrap().contains(new), "{reply}");
    }
}

#[tokio::test]
async fn a_server_without_an_exception_reaches_nothing_on_this_machine() {
    let (site, server) = (museum().await, own_server());
    let client = server.client();
    let agent = client.agent().await;
    let source = add(&client, &agent, &site.url("/"), true).await;
    client.failed(&source).await;
    assert!(site.take_visits().is_empty());
}
