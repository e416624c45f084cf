//! `POST /v1/sources/{source_id}/refresh`.

use cicerone_tests::scenario::{id, qa_content};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_SOURCE, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/sources/{source_id}/refresh",
    cases: &[
        ("200", a_failed_website_can_be_refreshed),
        ("400 invalid_operation", other_types_than_website_are_refused),
        ("404 resource_not_found", an_unknown_source_is_not_found),
        ("409 conflict", a_website_that_is_being_processed_is_refused),
    ],
};

#[tokio::test]
async fn a_failed_website_can_be_refreshed() {
    let client = client();
    let agent = client.agent().await;
    let source = client.source(&agent, "website", "http://127.0.0.1:9/").await;
    client.failed(&source).await;
    let path = format!("/v1/sources/{source}");
    let refreshed = client.post_nothing(&format!("{path}/refresh")).await.expect(200);
    assert_eq!(refreshed["id"], source.as_str());
    assert_eq!(refreshed["status"], "processing");
    assert_eq!(refreshed["error_message"], Value::Null);
    assert_eq!(refreshed["character_count"], Value::Null);
    client.failed(&source).await;
}

#[tokio::test]
async fn other_types_than_website_are_refused() {
    let client = client();
    let agent = client.agent().await;
    let file = id(&client.upload("hours.txt", "The museum opens at nine.").await.expect(201));
    let contents = [
        ("text", "The museum opens at nine.".to_owned()),
        ("file", file),
        ("qa", qa_content(&[("When?", "At nine.")])),
    ];
    for (kind, content) in contents {
        let source = client.source(&agent, kind, &content).await;
        // The type is wrong, whether the source is still being processed or not.
        let path = format!("/v1/sources/{source}/refresh");
        client.post_nothing(&path).await.refused(400, "invalid_operation");
        client.trained(&source).await;
        client.post_nothing(&path).await.refused(400, "invalid_operation");
    }
}

#[tokio::test]
async fn a_website_that_is_being_processed_is_refused() {
    let client = client();
    let agent = client.agent().await;
    // Of many new sources, some are still waiting, however fast the worker is.
    let mut refused = 0;
    for _ in 0..20 {
        let source = client.source(&agent, "website", "http://127.0.0.1:9/").await;
        let answer = client.post_nothing(&format!("/v1/sources/{source}/refresh")).await;
        if answer.status == 409 {
            answer.refused(409, "conflict");
            refused += 1;
        } else {
            assert_eq!(answer.expect(200)["status"], "processing");
        }
        client.failed(&source).await;
    }
    assert!(refused > 0, "no source was still being processed");
}

#[tokio::test]
async fn an_unknown_source_is_not_found() {
    let path = format!("/v1/sources/{NO_SOURCE}/refresh");
    client().post_nothing(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_body_is_not_needed_and_does_no_harm() {
    let client = client();
    let path = format!("/v1/sources/{NO_SOURCE}/refresh");
    client.post(&path, json!({})).await.refused(404, "resource_not_found");
}
