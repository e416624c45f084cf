//! `PATCH /v1/webhook_endpoints/{endpoint_id}`.

use cicerone_tests::receiver::Receiver;
use serde_json::{Value, json};

use super::{delivery, made, made_for, path, sending, without_secret};
use crate::coverage::Covers;
use crate::world::{NO_ENDPOINT, account, client, past};

pub(crate) const COVERS: Covers = Covers {
    route: "PATCH /v1/webhook_endpoints/{endpoint_id}",
    cases: &[
        ("200", only_what_is_given_changes),
        ("400 invalid_parameter", a_bad_value_changes_nothing),
        ("404 resource_not_found", an_unknown_endpoint_is_not_found),
    ],
};

#[tokio::test]
async fn only_what_is_given_changes() {
    let client = account();
    let endpoint = without_secret(&made(&client).await);
    let mut expected = endpoint.clone();
    let changes = [
        ("url", json!("http://127.9.9.9:9/other")),
        ("events", json!(["source.failed"])),
        ("description", json!("Ours")),
        ("payload", json!("thin")),
        ("status", json!("disabled")),
        ("status", json!("enabled")),
    ];
    for (field, value) in changes {
        let changed = client.patch(&path(&endpoint), json!({ field: value })).await.expect(200);
        expected[field] = value;
        expected["updated_at"] = changed["updated_at"].clone();
        if changed["status"] == "disabled" {
            assert!(changed["disabled_reason"].is_string(), "{changed}");
        }
        expected["disabled_reason"] = changed["disabled_reason"].clone();
        assert_eq!(changed, expected);
    }
    assert_eq!(expected["disabled_reason"], Value::Null);
    assert!(expected["updated_at"].as_str() > expected["created_at"].as_str());
    let nothing = json!({ "events": null, "description": null, "payload": null });
    let changed = client.patch(&path(&endpoint), nothing).await.expect(200);
    assert_eq!(changed["events"], endpoint["events"]);
    assert_eq!((&changed["description"], &changed["payload"]), (&Value::Null, &json!("full")));
}

#[tokio::test]
async fn a_change_of_nothing_leaves_updated_at() {
    let client = account();
    let endpoint = without_secret(&made(&client).await);
    past(&endpoint["updated_at"]).await;
    for body in [json!({}), json!({ "colour": "red" }), json!({ "status": "enabled" })] {
        assert_eq!(client.patch(&path(&endpoint), body).await.expect(200), endpoint);
    }
    assert_eq!(client.get(&path(&endpoint)).await.expect(200), endpoint);
}

#[tokio::test]
async fn a_bad_value_changes_nothing() {
    let client = account();
    let endpoint = without_secret(&made(&client).await);
    for (param, value) in [
        ("url", Value::Null),
        ("url", json!("https://10.0.0.1/")),
        ("url", json!("http://127.0.0.1/")),
        ("events", json!([])),
        ("status", Value::Null),
        ("status", json!("paused")),
        ("payload", json!("")),
    ] {
        let body = json!({ "description": "never", param: value });
        let answer = client.patch(&path(&endpoint), body).await;
        answer.refuses(400, "invalid_parameter", param);
    }
    assert_eq!(client.get(&path(&endpoint)).await.expect(200), endpoint);
}

#[tokio::test]
async fn an_unknown_endpoint_is_not_found() {
    let path = format!("/v1/webhook_endpoints/{NO_ENDPOINT}");
    client().patch(&path, json!({})).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn what_was_pending_goes_on_when_an_endpoint_is_enabled_again() {
    let server = sending(&[600]);
    let client = server.client();
    let endpoint = made(&client).await;
    client.post_nothing(&format!("{}/test", path(&endpoint))).await.expect(202);
    delivery(&client, &endpoint, |one| one["attempts"] != json!([])).await;
    client.patch(&path(&endpoint), json!({ "status": "disabled" })).await.expect(200);
    let waiting = delivery(&client, &endpoint, |_| true).await;
    assert_eq!(
        (&waiting["status"], &waiting["next_attempt_at"]),
        (&json!("pending"), &Value::Null)
    );
    let again =
        format!("{}/deliveries/{}/redeliver", path(&endpoint), waiting["id"].as_str().unwrap());
    client.post_nothing(&again).await.refused(409, "conflict");

    let receiver = Receiver::start().await;
    let body = json!({ "status": "enabled", "url": receiver.url() });
    client.patch(&path(&endpoint), body).await.expect(200);
    client.post_nothing(&again).await.expect(202);
    receiver.wait_for(1).await;
    delivery(&client, &endpoint, |one| one["status"] == "succeeded").await;
}

#[tokio::test]
async fn a_disabled_endpoint_is_sent_nothing() {
    let server = sending(&[]);
    let client = server.client();
    let (off, on) = (Receiver::start().await, Receiver::start().await);
    let disabled = made_for(&client, &off).await;
    client.patch(&path(&disabled), json!({ "status": "disabled" })).await.expect(200);
    made_for(&client, &on).await;
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    on.wait_for(1).await;
    assert!(off.received().is_empty());
    let path = format!("{}/deliveries", path(&disabled));
    assert_eq!(client.get(&path).await.expect(200)["data"], json!([]));
}
