//! `POST /v1/webhook_endpoints`.

use serde_json::{Value, json};

use super::{made, path, without_secret};
use crate::coverage::Covers;
use crate::world::{CRAB, NOWHERE, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/webhook_endpoints",
    cases: &[
        ("201", a_new_endpoint_takes_everything_and_shows_its_secret),
        ("400 missing_required_field", a_url_is_required),
        ("400 invalid_parameter", a_bad_value_is_refused),
        ("400 invalid_operation", a_key_within_agents_makes_none),
        ("409 conflict", the_eleventh_is_refused),
    ],
};

#[tokio::test]
async fn a_new_endpoint_takes_everything_and_shows_its_secret() {
    let client = account();
    let endpoint = made(&client).await;
    let secret = endpoint["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 6 + 32, "{secret}");
    let expected = json!({
        "id": endpoint["id"], "url": NOWHERE, "events": [
            "source.trained", "source.failed", "checks.failed", "conversation.handoff_requested", "message.rated",
            "lead.captured"
        ],
        "description": null, "payload": "full", "status": "enabled", "disabled_reason": null, "managed": null,
        "created_at": endpoint["created_at"], "updated_at": endpoint["created_at"],
    });
    assert_eq!(without_secret(&endpoint), expected);
    assert_eq!(client.get(&path(&endpoint)).await.expect(200), expected);
}

#[tokio::test]
async fn every_field_can_be_set() {
    let body = json!({
        "url": NOWHERE, "events": ["source.failed", "source.failed"], "payload": "thin",
        "description": CRAB.repeat(500), "status": "disabled",
    });
    let endpoint = account().post("/v1/webhook_endpoints", body).await.expect(201);
    assert_eq!(endpoint["events"], json!(["source.failed"]));
    assert_eq!(endpoint["payload"], "thin");
    assert_eq!(endpoint["description"], CRAB.repeat(500));
    assert_eq!(endpoint["status"], "disabled");
    assert!(endpoint["disabled_reason"].is_string());
}

#[tokio::test]
async fn a_repetition_answers_with_the_same_secret() {
    let client = account();
    let body = json!({ "url": NOWHERE });
    let send =
        || client.request("POST", "/v1/webhook_endpoints").json(&body).idempotent("once").send();
    let first = send().await.expect(201);
    assert_eq!(send().await.expect(201), first);
}

#[tokio::test]
async fn a_url_is_required() {
    for body in [json!({}), json!({ "url": null, "events": 5 })] {
        let answer = client().post("/v1/webhook_endpoints", body).await;
        answer.refuses(400, "missing_required_field", "url");
    }
}

#[tokio::test]
async fn a_bad_value_is_refused() {
    let long = format!("https://example.com/{}", "a".repeat(2_040));
    let bad = [
        ("url", "url", json!("")),
        ("url", "url", json!(5)),
        ("url", "url", json!(" https://example.com/hook")),
        ("url", "url", json!("https://example.com/hook\n")),
        ("url", "url", json!("https://example.com:0/")),
        ("url", "url", json!("example.com/hook")),
        ("url", "url", json!("ftp://example.com/hook")),
        ("url", "url", json!("https://user:word@example.com/hook")),
        ("url", "url", json!("https://:@example.com/hook")),
        ("url", "url", json!(long)),
        ("events", "events", json!([])),
        ("events", "events", json!("source.trained")),
        ("events", "events[1]", json!(["source.trained", "ping"])),
        ("description", "description", json!(CRAB.repeat(501))),
        ("description", "description", json!("\0")),
        ("payload", "payload", json!("none")),
        ("status", "status", json!("paused")),
    ];
    for (field, param, value) in bad {
        let mut body = json!({ "url": NOWHERE });
        body[field] = value;
        let answer = client().post("/v1/webhook_endpoints", body).await;
        answer.refuses(400, "invalid_parameter", param);
    }
}

#[tokio::test]
async fn an_address_that_may_not_be_asked_is_refused() {
    let refused = async |url: &str| -> Value {
        let answer = client().post("/v1/webhook_endpoints", json!({ "url": url })).await;
        answer.refuses(400, "invalid_parameter", "url")
    };
    // Unencrypted, and not in the ranges that the operator allows.
    for url in ["http://127.0.0.1:9/", "http://1.1.1.1/", "http://localhost/", "http://10.0.0.1/"] {
        let message = refused(url).await["message"].clone();
        assert!(message.as_str().unwrap().contains("https"), "{url}: {message}");
    }
    let mut messages = Vec::new();
    for url in [
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://100.64.0.1/",
        "https://0x7f.1/",
        "https://[::ffff:10.0.0.1]/",
        "https://metadata.google.internal/",
        "https://db.internal/",
        "https://1.1.1.1:22/",
    ] {
        messages.push(refused(url).await["message"].clone());
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "messages differ: {messages:?}");
}

#[tokio::test]
async fn a_key_within_agents_makes_none() {
    let client = account();
    let agent = client.agent().await;
    let key = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [agent] });
    let key = client.post("/v1/api_keys", key).await.expect(201);
    let restricted = client.with_key(key["key"].as_str().unwrap());
    let body = json!({ "url": NOWHERE });
    restricted.post("/v1/webhook_endpoints", body).await.refused(400, "invalid_operation");
    let endpoint = made(&client).await;
    restricted.get(&path(&endpoint)).await.refused(404, "resource_not_found");
    let page = restricted.get("/v1/webhook_endpoints").await.expect(200);
    assert_eq!(page["data"], json!([]));
}

#[tokio::test]
async fn a_repetition_by_a_key_within_agents_shows_no_secret() {
    let client = account();
    let agent = client.agent().await;
    let key = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [agent] });
    let key = client.post("/v1/api_keys", key).await.expect(201);
    let restricted = client.with_key(key["key"].as_str().unwrap());
    let body = json!({ "url": NOWHERE });
    let create = |client: &cicerone_tests::Client| {
        let request = client.request("POST", "/v1/webhook_endpoints");
        request.json(&body).idempotent("made").send()
    };
    let endpoint = create(&client).await.expect(201);
    create(&restricted).await.refused(422, "idempotency_key_reused");
    let rotate = |client: &cicerone_tests::Client| {
        let request = client.request("POST", &format!("{}/rotate_secret", path(&endpoint)));
        request.idempotent("rotated").send()
    };
    rotate(&client).await.expect(200);
    rotate(&restricted).await.refused(422, "idempotency_key_reused");
    // The key does not see another key outside its agents, but it can replay the answer about its
    // own.
    let send = |client: &cicerone_tests::Client, body: &Value, name: &str| {
        client.request("POST", "/v1/api_keys").json(body).idempotent(name).send()
    };
    let wide = json!({ "name": "Wide", "permissions": ["*"] });
    send(&client, &wide, "wide").await.expect(201);
    send(&restricted, &wide, "wide").await.refused(422, "idempotency_key_reused");
    let narrow = json!({ "name": "Own", "permissions": ["agents:read"], "agent_ids": [agent] });
    let made = send(&restricted, &narrow, "own").await.expect(201);
    assert_eq!(send(&restricted, &narrow, "own").await.expect(201)["id"], made["id"]);
}

#[tokio::test]
async fn the_eleventh_is_refused() {
    let client = account();
    let mut last = Value::Null;
    for _ in 0..10 {
        last = made(&client).await;
    }
    let body = json!({ "url": NOWHERE });
    let answer = client.post("/v1/webhook_endpoints", body).await;
    let error = answer.refused(409, "conflict");
    assert!(error["message"].as_str().unwrap().contains("10"), "{error}");
    client.delete(&path(&last)).await.expect_nothing();
    made(&client).await;
}
