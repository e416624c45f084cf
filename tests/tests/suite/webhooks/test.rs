//! `POST /v1/webhook_endpoints/{endpoint_id}/test`.

use cicerone_tests::receiver::Receiver;
use serde_json::{Value, json};

use super::{delivery, made, path, sending};
use crate::coverage::Covers;
use crate::world::{NO_ENDPOINT, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/webhook_endpoints/{endpoint_id}/test",
    cases: &[
        ("202", a_ping_is_queued_and_sent),
        ("404 resource_not_found", an_unknown_endpoint_is_not_found),
        ("409 conflict", a_disabled_endpoint_is_not_tested),
        ("409 conflict", an_endpoint_that_does_not_keep_up_is_not_tested_any_more),
    ],
};

#[tokio::test]
async fn a_ping_is_queued_and_sent() {
    let server = sending(&[]);
    let client = server.client();
    let receiver = Receiver::start().await;
    // An endpoint receives a ping whichever events it has chosen.
    let body = json!({ "url": receiver.url(), "events": ["source.failed"], "payload": "thin" });
    let endpoint = client.post("/v1/webhook_endpoints", body).await.expect(201);
    let queued = client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    assert_eq!(queued["event"], "ping");
    assert_eq!((&queued["status"], &queued["attempts"]), (&json!("pending"), &json!([])));
    assert!(queued["next_attempt_at"].is_string() && queued["created_at"].is_string());
    let sent = &receiver.wait_for(1).await[0];
    assert_eq!(sent.header("webhook-id"), queued["event_id"].as_str().unwrap());
    let body = sent.json();
    assert_eq!(body["event"], "ping");
    assert_eq!(body["created_at"], queued["created_at"]);
    assert_eq!(body["data"], json!({ "webhook_endpoint_id": endpoint["id"] }));
    let done = delivery(&client, &endpoint, |one| one["status"] == "succeeded").await;
    assert_eq!(done["attempts"][0]["http_status"], 204);
    assert_eq!(done["attempts"][0]["error"], Value::Null);
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let path = format!("/v1/webhook_endpoints/{NO_ENDPOINT}/test");
    client().post_nothing(&path).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_disabled_endpoint_is_not_tested() {
    let client = account();
    let endpoint = made(&client).await;
    client.patch(&path(&endpoint), json!({ "status": "disabled" })).await.expect(200);
    let answer = client.post_nothing(&format!("{}/test", path(&endpoint))).await;
    answer.refused(409, "conflict");
}

#[tokio::test]
async fn an_endpoint_that_does_not_keep_up_is_not_tested_any_more() {
    let client = account();
    let endpoint = made(&client).await;
    let test = format!("{}/test", path(&endpoint));
    let mut queued = 0;
    let refused = loop {
        let answer = client.post_nothing(&test).await;
        if answer.status != 202 {
            break answer;
        }
        queued += 1;
    };
    refused.refused(409, "conflict");
    assert!(queued >= 100, "{queued}");
}
