//! `GET /v1/sources/{source_id}/pages`.

use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_SOURCE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/sources/{source_id}/pages",
    cases: &[
        ("200", a_website_that_was_not_crawled_has_no_pages),
        ("400 invalid_parameter", bad_values_are_refused_with_their_names),
        ("400 invalid_operation", other_types_than_website_are_refused),
        ("404 resource_not_found", an_unknown_source_is_not_found),
    ],
};

#[tokio::test]
async fn a_website_that_was_not_crawled_has_no_pages() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "website", "http://127.0.0.1:9/").await;
    client.failed(&source).await;
    let page = client.get(&format!("/v1/sources/{source}/pages")).await.expect(200);
    assert_eq!(page, json!({ "data": [], "has_more": false, "next_cursor": null }));
}

#[tokio::test]
async fn other_types_than_website_are_refused() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum.").await;
    let answer = client.get(&format!("/v1/sources/{source}/pages")).await;
    answer.refused(400, "invalid_operation");
}

#[tokio::test]
async fn bad_values_are_refused_with_their_names() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "website", "http://127.0.0.1:9/").await;
    for (name, value) in [("page_size", "0"), ("page_size", "101"), ("cursor", "x")] {
        let answer = client.get(&format!("/v1/sources/{source}/pages?{name}={value}")).await;
        answer.refuses(400, "invalid_parameter", name);
    }
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let path = format!("/v1/sources/{NO_SOURCE}/pages");
    client().get(&path).await.refused(404, "resource_not_found");
}
