//! `GET /v1/api_keys/{key_id}`.

use serde_json::{Value, json};

use super::{made, made_with, path, without_secret};
use crate::coverage::Covers;
use crate::world::{NO_KEY, account, awaited, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/api_keys/{key_id}",
    cases: &[
        ("200", a_key_is_shown_without_its_secret),
        ("404 resource_not_found", an_unknown_key_is_not_found),
    ],
};

#[tokio::test]
async fn a_key_is_shown_without_its_secret() {
    let client = account();
    let (key, _) = made(&client, &["agents:read"]).await;
    let answer = client.get(&path(&key)).await;
    assert!(!answer.text().contains(key["key"].as_str().unwrap()));
    assert_eq!(answer.expect(200), without_secret(&key));
}

#[tokio::test]
async fn its_last_use_is_shown_soon_after() {
    let client = account();
    let (key, holder) = made(&client, &["agents:read"]).await;
    holder.get("/v1/agents").await.expect(200);
    let used = awaited("the key's last use is shown", async || {
        let shown = client.get(&path(&key)).await.expect(200);
        shown["last_used_at"].as_str().map(str::to_owned).ok_or_else(|| shown.to_string())
    })
    .await;
    assert!(Some(used.as_str()) >= key["created_at"].as_str(), "{used}");
}

#[tokio::test]
async fn a_key_within_agents_sees_those_within_the_same() {
    let client = account();
    let (one, other) = (client.agent().await, client.agent().await);
    let within =
        |agents: Value| json!({ "name": "Key", "permissions": ["*"], "agent_ids": agents });
    let (_, reader) = made_with(&client, within(json!([one]))).await;
    let (same, _) = made_with(&client, within(json!([one]))).await;
    reader.get(&path(&same)).await.expect(200);
    for agents in [json!([other]), json!([one, other]), Value::Null] {
        let (key, _) = made_with(&client, within(agents)).await;
        reader.get(&path(&key)).await.refused(404, "resource_not_found");
        reader.delete(&path(&key)).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn an_unknown_key_is_not_found() {
    client().get(&format!("/v1/api_keys/{NO_KEY}")).await.refused(404, "resource_not_found");
}
