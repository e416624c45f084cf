//! `GET /v1/audit_log`: who did what, when and from where.

use cicerone_tests::scenario::id;
use cicerone_tests::{Client, Server};
use serde_json::{Value, json};

use crate::coverage::Covers;
use crate::world::{NO_KEY, NOWHERE, a_second_later, account, awaited, own_server, program};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/audit_log",
    cases: &[
        ("200", what_an_owner_accounts_for_is_recorded),
        ("400 invalid_parameter", a_bad_parameter_is_refused),
    ],
};

/// The records, oldest first: action and target.
async fn log(client: &Client) -> Vec<(String, String)> {
    let records = client.list_all("/v1/audit_log", 3).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    records.iter().rev().map(|one| (text(&one["action"]), text(&one["target_id"]))).collect()
}

/// The last record of an action, once there is one.
async fn last(client: &Client, action: &str) -> Value {
    awaited(&format!("`{action}` is recorded"), async || {
        let path = format!("/v1/audit_log?action={action}&page_size=1");
        let page = client.get(&path).await.expect(200);
        page["data"].get(0).cloned().ok_or_else(|| page.to_string())
    })
    .await
}

#[tokio::test]
async fn what_an_owner_accounts_for_is_recorded() {
    let client = account();
    let mut expected = log(&client).await;
    assert_eq!(expected.len(), 1, "the key from the command line");
    assert_eq!(expected[0].0, "api_key.created");
    let body = json!({ "name": "Key", "permissions": ["agents:read"] });
    let key = id(&client.post("/v1/api_keys", body).await.expect(201));
    client.patch(&format!("/v1/api_keys/{key}"), json!({ "name": "Other" })).await.expect(200);
    client.delete(&format!("/v1/api_keys/{key}")).await.expect_nothing();
    for action in ["created", "updated", "deleted"] {
        expected.push((format!("api_key.{action}"), key.clone()));
    }
    let body = json!({ "url": NOWHERE });
    let endpoint = id(&client.post("/v1/webhook_endpoints", body).await.expect(201));
    let path = format!("/v1/webhook_endpoints/{endpoint}");
    client.patch(&path, json!({ "payload": "thin" })).await.expect(200);
    client.post_nothing(&format!("{path}/rotate_secret")).await.expect(200);
    client.delete(&path).await.expect_nothing();
    for action in ["created", "updated", "secret_rotated", "deleted"] {
        expected.push((format!("webhook_endpoint.{action}"), endpoint.clone()));
    }
    let agent = client.agent().await;
    let source = client.text(&agent, "The museum opens at nine.").await;
    let conversation = id(&client.ask(&agent, "When does it open?").await);
    let file = id(&client.upload("a.txt", "A text.").await.expect(201));
    for (resource, action, id) in [
        ("files", "file", file),
        ("conversations", "conversation", conversation),
        ("sources", "source", source),
        ("agents", "agent", agent),
    ] {
        client.delete(&format!("/v1/{resource}/{id}")).await.expect_nothing();
        expected.push((format!("{action}.deleted"), id));
    }
    assert_eq!(log(&client).await, expected);
}

#[tokio::test]
async fn a_record_says_who_when_and_from_where() {
    let client = account();
    let by_operator = client.get("/v1/audit_log").await.expect(200)["data"][0].clone();
    assert_eq!(by_operator["actor"], json!({ "type": "command_line", "id": null, "name": null }));
    assert_eq!(
        (&by_operator["ip_address"], &by_operator["request_id"]),
        (&Value::Null, &Value::Null)
    );
    let own = by_operator["target_id"].as_str().unwrap();
    let agent = client.agent().await;
    let answer = client.delete(&format!("/v1/agents/{agent}")).await;
    let record = last(&client, "agent.deleted").await;
    assert!(record["id"].as_str().unwrap().starts_with("aud_"));
    assert_eq!(
        record,
        json!({
            "id": record["id"], "action": "agent.deleted", "target_id": agent,
            "actor": { "type": "api_key", "id": own, "name": "command line" },
            "ip_address": "127.0.0.1", "request_id": answer.request_id(), "count": 1,
            "created_at": record["created_at"],
        })
    );
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_address_is_that_of_the_caller() {
    for (trusted, expected) in [("[\"127.0.0.0/8\"]", "203.0.113.5"), ("[]", "127.0.0.1")] {
        let data = tempfile::TempDir::with_prefix("cicerone-test-").unwrap();
        let file = data.path().join("cicerone.toml");
        std::fs::write(&file, format!("[http]\ntrusted_proxies = {trusted}\n")).unwrap();
        let server = Server::of(&program())
            .env("CICERONE_CONFIG", file.display().to_string())
            .start_in(data);
        let client = server.client();
        let agent = client.agent().await;
        let request = client.request("DELETE", &format!("/v1/agents/{agent}"));
        let request = request.header("X-Forwarded-For", "198.51.100.1, 203.0.113.5");
        request.send().await.expect_nothing();
        assert_eq!(last(&client, "agent.deleted").await["ip_address"], expected);
    }
}

#[tokio::test]
async fn what_was_refused_or_repeated_is_not_recorded_again() {
    let client = account();
    let before = log(&client).await.len();
    let agent = client.agent().await;
    client.delete("/v1/agents/agent_0000000000").await.refused(404, "resource_not_found");
    client.delete(&format!("/v1/api_keys/{NO_KEY}")).await.refused(404, "resource_not_found");
    client.post("/v1/api_keys", json!({ "name": "" })).await;
    for _ in 0..3 {
        let path = format!("/v1/agents/{agent}");
        client.request("DELETE", &path).idempotent("once").send().await.expect_nothing();
    }
    assert_eq!(log(&client).await.len(), before + 1);
}

#[tokio::test]
async fn failed_uses_of_a_key_are_told_to_its_account() {
    let server = own_server();
    let client = server.account("ours");
    let key = client.post("/v1/api_keys", json!({ "name": "Key", "permissions": ["*"] })).await;
    let key = key.expect(201);
    let secret = key["key"].as_str().unwrap();
    client.delete(&format!("/v1/api_keys/{}", id(&key))).await.expect_nothing();
    a_second_later().await;
    for _ in 0..3 {
        client.with_key(secret).get("/v1/agents").await.refused(401, "unauthorized");
    }
    client.with_key("nobody's-key-0123456789abcdef0123456789").get("/v1/agents").await;
    let record = last(&client, "authentication.failed").await;
    assert_eq!(record["target_id"], key["id"]);
    assert_eq!(record["actor"]["type"], "unknown");
    assert_eq!(record["ip_address"], "127.0.0.1");
    let all = client.list_all("/v1/audit_log?action=authentication.failed", 10).await;
    let count: u64 = all.iter().map(|one| one["count"].as_u64().unwrap()).sum();
    assert_eq!(count, 3, "failures without a known key have no account");
    let other = server.client().list_all("/v1/audit_log?action=authentication.failed", 10).await;
    assert!(other.is_empty(), "{other:?}");
}

#[tokio::test]
async fn records_of_a_time_and_for_a_key_within_agents_none() {
    let client = account();
    let agent = client.agent().await;
    let body = json!({ "name": "Key", "permissions": ["*"], "agent_ids": [agent] });
    let key = client.post("/v1/api_keys", body).await.expect(201);
    let restricted = client.with_key(key["key"].as_str().unwrap());
    assert_eq!(restricted.get("/v1/audit_log").await.expect(200)["data"], json!([]));
    let at = last(&client, "api_key.created").await["created_at"].clone();
    let at = at.as_str().unwrap();
    for (query, expected) in [
        (format!("created_after={at}"), 0),
        (format!("created_before={at}"), 1),
        ("created_after=2020-01-01T00:00:00Z".to_owned(), 2),
        ("created_before=2020-01-01T00:00:00Z".to_owned(), 0),
        ("action=agent.deleted".to_owned(), 0),
    ] {
        let page = client.get(&format!("/v1/audit_log?{query}")).await.expect(200);
        assert_eq!(page["data"].as_array().unwrap().len(), expected, "{query}");
    }
}

#[tokio::test]
async fn a_bad_parameter_is_refused() {
    let client = account();
    for query in ["page_size=0", "cursor=none", "action=agent.created", "created_after=today"] {
        let answer = client.get(&format!("/v1/audit_log?{query}")).await;
        let (param, _) = query.split_once('=').unwrap();
        answer.refuses(400, "invalid_parameter", param);
    }
}
