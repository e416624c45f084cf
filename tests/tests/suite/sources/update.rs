//! `PATCH /v1/sources/{source_id}`.

use serde_json::json;

use crate::coverage::Covers;
use crate::routes::managed;
use crate::world::{NO_SOURCE, NOWHERE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "PATCH /v1/sources/{source_id}",
    cases: &[
        ("200", only_the_identity_changes),
        ("400 invalid_parameter", a_bad_identity_is_refused),
        ("400 invalid_parameter", only_a_website_is_guarded),
        ("404 resource_not_found", an_unknown_source_is_not_found),
        ("409 conflict", the_identity_of_another_source_is_refused),
    ],
};

#[tokio::test]
async fn only_the_identity_changes() {
    let client = client();
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    let path = format!("/v1/sources/{source}");
    let mut expected = client.get(&path).await.expect(200);
    // The content is not a field of this body.
    let body = json!({ "managed": managed("hours"), "content": "It opens at ten." });
    let changed = client.patch(&path, body).await.expect(200);
    expected["managed"] = managed("hours");
    assert_eq!(changed, expected);
    assert_eq!(client.get(&path).await.expect(200), expected);
}

#[tokio::test]
async fn a_bad_identity_is_refused() {
    let client = client();
    let source = client.source(&client.agent().await, "text", "The museum.").await;
    let refused = client.patch(&format!("/v1/sources/{source}"), json!({ "managed": 5 })).await;
    refused.refuses(400, "invalid_parameter", "managed");
}

#[tokio::test]
async fn only_a_website_is_guarded() {
    let client = client();
    let agent = client.agent().await;
    let text = format!("/v1/sources/{}", client.source(&agent, "text", "The museum.").await);
    for guarded in [json!(true), json!(1), json!("true")] {
        let refused = client.patch(&text, json!({ "guarded": guarded })).await;
        refused.refuses(400, "invalid_parameter", "guarded");
    }
    client.patch(&text, json!({ "guarded": false })).await.expect(200);
    let site = format!("/v1/sources/{}", client.source(&agent, "website", NOWHERE).await);
    for (given, now) in [(json!(true), true), (json!(true), true), (json!(null), false)] {
        let changed = client.patch(&site, json!({ "guarded": given })).await.expect(200);
        assert_eq!(changed["guarded"], now);
        assert_eq!(client.get(&site).await.expect(200)["guarded"], now);
    }
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let path = format!("/v1/sources/{NO_SOURCE}");
    client().patch(&path, json!({})).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn the_identity_of_another_source_is_refused() {
    let client = client();
    let agent = client.agent().await;
    for status in [200, 409] {
        let source = client.source(&agent, "text", "The museum.").await;
        let body = json!({ "managed": managed("hours") });
        let answer = client.patch(&format!("/v1/sources/{source}"), body).await;
        assert_eq!(answer.status, status);
    }
}
