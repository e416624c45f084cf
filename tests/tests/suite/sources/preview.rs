//! `POST /v1/agents/{agent_id}/sources/preview`.

use cicerone_tests::{Resource, Site};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::sources::website::crawling;
use crate::world::{NO_AGENT, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/agents/{agent_id}/sources/preview",
    cases: &[
        ("200", the_rules_and_the_pages_of_a_site_are_shown),
        ("400 missing_required_field", a_preview_without_an_address_is_refused),
        ("400 invalid_parameter", addresses_that_are_no_websites_are_refused),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn the_rules_and_the_pages_of_a_site_are_shown() {
    let (site, client) = (Site::start().await, crawling());
    let rules = "User-agent: *\nDisallow: /private\nCrawl-delay: 0.5\n";
    site.put("/robots.txt", Resource::of("text/plain", rules));
    let list = ["/a", "/private/b"].map(|path| format!("<url><loc>{}</loc></url>", site.url(path)));
    let list = format!("<urlset>{}</urlset>", list.concat());
    site.put("/sitemap.xml", Resource::of("application/xml", list));
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/sources/preview");

    let seen = client.post(&path, json!({ "url": site.url("/a?utm_source=x#top") })).await;
    let page = |path: &str, allowed: bool| json!({ "url": site.url(path), "allowed": allowed });
    let expected = json!({
        "url": site.url("/a"),
        "allowed": true,
        "reason": null,
        "robots_url": site.url("/robots.txt"),
        "crawl_delay_seconds": 0.5,
        "listed": 2,
        "list_complete": true,
        "pages": [page("/a", true), page("/private/b", false)],
    });
    assert_eq!(seen.expect(200), expected);
    let paths: Vec<_> = site.take_visits().into_iter().map(|visit| visit.path).collect();
    assert_eq!(paths, ["/robots.txt", "/sitemap.xml"]);

    let refused = client.post(&path, json!({ "url": site.url("/private/b") })).await.expect(200);
    assert_eq!(refused["allowed"], false);
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.contains("`robots.txt` does not allow"), "{reason}");
    assert_eq!(client.list_all(&format!("/v1/agents/{agent}/sources"), 10).await, [] as [Value; 0]);
}

#[tokio::test]
async fn a_site_that_cannot_be_reached_is_a_refusal_with_its_reason() {
    let (site, client) = (Site::start().await, crawling());
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/sources/preview");
    site.put("/robots.txt", Resource::of("text/plain", "").status(503));
    let seen = client.post(&path, json!({ "url": site.url("/") })).await.expect(200);
    assert_eq!(seen["allowed"], false);
    assert!(seen["reason"].as_str().unwrap().contains("answered 503"), "{seen}");
    assert_eq!(site.take_visits().len(), 1, "a person waits, so nothing is tried again");
}

#[tokio::test]
async fn addresses_inside_the_network_are_not_asked() {
    let (site, client) = (Site::start().await, client());
    let agent = client.agent().await;
    let path = format!("/v1/agents/{agent}/sources/preview");
    let seen = client.post(&path, json!({ "url": site.url("/") })).await.expect(200);
    assert_eq!(seen["allowed"], false);
    assert!(site.take_visits().is_empty());
}

#[tokio::test]
async fn a_preview_without_an_address_is_refused() {
    let client = client();
    let path = format!("/v1/agents/{}/sources/preview", client.agent().await);
    client.post(&path, json!({})).await.refused(400, "missing_required_field");
}

#[tokio::test]
async fn addresses_that_are_no_websites_are_refused() {
    let client = client();
    let path = format!("/v1/agents/{}/sources/preview", client.agent().await);
    for url in ["", "museum.example", "ftp://museum.example/", "https://ann@museum.example/"] {
        let answer = client.post(&path, json!({ "url": url })).await;
        assert_eq!(answer.refused(400, "invalid_parameter")["param"], "url", "{url}");
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    let path = format!("/v1/agents/{NO_AGENT}/sources/preview");
    let body = json!({ "url": "http://127.0.0.1:9/" });
    client().post(&path, body).await.refused(404, "resource_not_found");
}
