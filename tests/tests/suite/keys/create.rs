//! `POST /v1/api_keys`.

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::{made, made_with, path, without_secret};
use crate::coverage::Covers;
use crate::world::{CRAB, NO_AGENT, NOWHERE, account, client};

pub(crate) const COVERS: Covers = Covers {
    route: "POST /v1/api_keys",
    cases: &[
        ("201", a_new_key_is_shown_once_and_works),
        ("400 missing_required_field", a_name_and_permissions_are_required),
        ("400 invalid_parameter", a_bad_value_is_refused),
        ("400 invalid_operation", a_key_within_agents_makes_none_beyond_them),
        ("403 forbidden", a_key_makes_none_that_may_do_more),
        ("409 conflict", of_a_thousand_keys_none_more_is_made),
    ],
};

#[tokio::test]
async fn a_new_key_is_shown_once_and_works() {
    let client = account();
    let agent = client.agent().await;
    let body = json!({
        "name": "Reader", "permissions": ["sources:read", "agents:read", "agents:read"],
        "agent_ids": [agent], "expires_at": "2999-01-31T08:30:00Z",
    });
    let (key, holder) = made_with(&client, body).await;
    let secret = key["key"].as_str().unwrap();
    let suffix = key["id"].as_str().unwrap().strip_prefix("key_").unwrap();
    assert!(secret.starts_with(&format!("ck_{suffix}_")) && secret.len() == 52, "{secret}");
    let hint = format!("{}…{}", &secret[..7], &secret[48..]);
    let expected = json!({
        "id": key["id"], "name": "Reader", "permissions": ["agents:read", "sources:read"],
        "agent_ids": [agent], "expires_at": "2999-01-31T08:30:00.000Z", "last_used_at": null,
        "created_at": key["created_at"], "hint": hint, "managed": null,
    });
    assert_eq!(without_secret(&key), expected);
    assert_eq!(client.get(&path(&key)).await.expect(200), expected);
    holder.get(&format!("/v1/agents/{agent}")).await.expect(200);
    holder.get("/v1/api_keys").await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_key_of_everything_reads_as_one_star() {
    let (key, holder) = made(&account(), &["agents:read", "*"]).await;
    assert_eq!(key["permissions"], json!(["*"]));
    assert_eq!((&key["agent_ids"], &key["expires_at"]), (&Value::Null, &Value::Null));
    holder.agent().await;
}

#[tokio::test]
async fn a_repetition_makes_no_second_key_and_does_not_show_the_secret_again() {
    let client = account();
    let body = json!({ "name": "Key", "permissions": ["*"] });
    let send = || client.request("POST", "/v1/api_keys").json(&body).idempotent("once").send();
    let first = send().await.expect(201);
    let again = send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201), without_secret(&first));
    client.with_key(first["key"].as_str().unwrap()).agent().await;
}

#[tokio::test]
async fn a_name_and_permissions_are_required() {
    let full = json!({ "name": "Key", "permissions": ["*"] });
    for field in ["name", "permissions"] {
        let mut body = full.clone();
        body.as_object_mut().unwrap().remove(field);
        let answer = client().post("/v1/api_keys", body.clone()).await;
        answer.refuses(400, "missing_required_field", field);
        body[field] = Value::Null;
        let answer = client().post("/v1/api_keys", body).await;
        answer.refuses(400, "missing_required_field", field);
    }
}

#[tokio::test]
async fn a_bad_value_is_refused() {
    let agent = client().agent().await;
    let foreign = account().agent().await;
    let bad = [
        ("name", "name", json!("")),
        ("name", "name", json!(CRAB.repeat(101))),
        ("permissions", "permissions", json!([])),
        ("permissions", "permissions", json!("*")),
        ("permissions", "permissions[1]", json!(["agents:read", "agents"])),
        ("permissions", "permissions[0]", json!([5])),
        ("agent_ids", "agent_ids", json!([])),
        ("agent_ids", "agent_ids[1]", json!([agent, NO_AGENT])),
        ("agent_ids", "agent_ids[0]", json!([foreign])),
        ("agent_ids", "agent_ids[0]", json!(["nobody"])),
        ("agent_ids", "agent_ids", json!(vec![agent.clone(); 101])),
        ("expires_at", "expires_at", json!("2020-01-01T00:00:00Z")),
        ("expires_at", "expires_at", json!("2999-01-01")),
        ("expires_at", "expires_at", json!(5)),
    ];
    for (field, param, value) in bad {
        let mut body = json!({ "name": "Key", "permissions": ["*"] });
        body[field] = value;
        let answer = client().post("/v1/api_keys", body).await;
        answer.refuses(400, "invalid_parameter", param);
    }
    let body = json!({
        "name": CRAB.repeat(100), "permissions": ["*"], "agent_ids": vec![agent; 100],
    });
    client().post("/v1/api_keys", body).await.expect(201);
}

#[tokio::test]
async fn a_key_makes_none_that_may_do_more() {
    let client = account();
    let (_, maker) = made(&client, &["keys:write", "agents:read"]).await;
    let (_, reader) = made(&maker, &["agents:read"]).await;
    reader.get("/v1/agents").await.expect(200);
    for wider in [["agents:write"], ["*"]] {
        let body = json!({ "name": "Key", "permissions": wider });
        let error = maker.post("/v1/api_keys", body).await.refused(403, "forbidden");
        assert!(error["message"].as_str().unwrap().contains("agents:write"), "{error}");
    }
}

#[tokio::test]
async fn a_key_within_agents_makes_none_beyond_them() {
    let client = account();
    let (one, other) = (client.agent().await, client.agent().await);
    let within =
        |agents: Value| json!({ "name": "Key", "permissions": ["*"], "agent_ids": agents });
    let (_, maker) = made_with(&client, within(json!([one]))).await;
    maker.post("/v1/api_keys", within(json!([one]))).await.expect(201);
    for agents in [Value::Null, json!([one, other])] {
        let answer = maker.post("/v1/api_keys", within(agents)).await;
        answer.refused(400, "invalid_operation");
    }
}

#[tokio::test]
async fn of_a_thousand_keys_none_more_is_made() {
    let client = account();
    let body = json!({ "name": "Key", "permissions": ["agents:read"] });
    let post = || client.post("/v1/api_keys", body.clone());
    let own = client.get("/v1/api_keys").await.expect(200)["data"].as_array().unwrap().len();
    let mut made = futures_util::stream::iter((own..1_000).map(|_| post())).buffer_unordered(32);
    while let Some(answer) = made.next().await {
        answer.expect(201);
    }
    let error = post().await.refused(409, "conflict");
    assert!(error["message"].as_str().unwrap().contains("1000"), "{error}");
    // Another account has its own limit.
    account().post("/v1/api_keys", body.clone()).await.expect(201);
}

#[tokio::test]
async fn a_key_that_was_just_deleted_leaves_nothing_that_gives_access() {
    let owner = account();
    let body = json!({ "url": NOWHERE });
    let endpoint = owner.post("/v1/webhook_endpoints", body.clone()).await.expect(201);
    let endpoint = format!("/v1/webhook_endpoints/{}", endpoint["id"].as_str().unwrap());
    let rotate = format!("{endpoint}/rotate_secret");
    let (own, holder) = made(&owner, &["*"]).await;
    let (other, _) = made(&owner, &["*"]).await;
    holder.get("/v1/agents").await.expect(200);
    owner.delete(&path(&own)).await.expect_nothing();
    // A successful authentication is cached for a moment.
    let key = json!({ "name": "Key", "permissions": ["*"] });
    let change = json!({ "name": "Mine" });
    let answers = futures_util::future::join_all([
        holder.request("POST", "/v1/api_keys").json(&key).send(),
        holder.request("POST", "/v1/api_keys").json(&key).idempotent("late").send(),
        holder.request("PATCH", &path(&other)).json(&change).send(),
        holder.request("DELETE", &path(&other)).send(),
        holder.request("POST", "/v1/webhook_endpoints").json(&body).send(),
        holder.request("PATCH", &endpoint).json(&json!({ "description": "Mine" })).send(),
        holder.request("POST", &rotate).send(),
        holder.request("DELETE", &endpoint).send(),
    ]);
    for answer in answers.await {
        answer.refused(401, "unauthorized");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(owner.get(&path(&other)).await.expect(200), without_secret(&other));
    assert_eq!(owner.get(&endpoint).await.expect(200)["description"], Value::Null);
    // The refusal released the idempotency key.
    owner.request("POST", "/v1/api_keys").json(&key).idempotent("late").send().await.expect(201);
}

#[tokio::test]
async fn a_key_that_was_just_narrowed_makes_none_that_may_do_what_it_could() {
    let owner = account();
    let (own, holder) = made(&owner, &["keys:write", "webhooks:write", "agents:write"]).await;
    holder.delete(&format!("/v1/agents/{NO_AGENT}")).await.refused(404, "resource_not_found");
    owner.patch(&path(&own), json!({ "permissions": ["keys:write"] })).await.expect(200);
    let key = json!({ "name": "Key", "permissions": ["agents:write"] });
    holder.post("/v1/api_keys", key).await.refused(403, "forbidden");
    let endpoint = json!({ "url": NOWHERE });
    holder.post("/v1/webhook_endpoints", endpoint).await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_key_makes_none_that_outlives_it() {
    let client = account();
    let until = |end: Value| json!({ "name": "Key", "permissions": ["*"], "expires_at": end });
    let (_, maker) = made_with(&client, until(json!("2999-01-01T00:00:00Z"))).await;
    maker.post("/v1/api_keys", until(json!("2999-01-01T00:00:00Z"))).await.expect(201);
    for end in [json!("2999-01-01T00:00:01Z"), Value::Null] {
        let answer = maker.post("/v1/api_keys", until(end)).await;
        answer.refuses(400, "invalid_parameter", "expires_at");
    }
}
