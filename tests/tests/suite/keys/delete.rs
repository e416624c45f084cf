//! `DELETE /v1/api_keys/{key_id}`.

use cicerone_tests::Server;
use serde_json::json;

use super::{made, made_with, path};
use crate::coverage::Covers;
use crate::world::{NO_KEY, account, client, own_server};

pub(crate) const COVERS: Covers = Covers {
    route: "DELETE /v1/api_keys/{key_id}",
    cases: &[
        ("204", a_deleted_key_stops_to_work_at_once),
        ("400 invalid_operation", a_key_cannot_delete_itself),
        ("403 forbidden", a_key_deletes_only_keys_that_it_covers),
        ("404 resource_not_found", an_unknown_key_is_not_found),
    ],
};

#[tokio::test]
async fn a_deleted_key_stops_to_work_at_once() {
    let client = account();
    let (key, holder) = made(&client, &["agents:read"]).await;
    holder.get("/v1/agents").await.expect(200);
    client.delete(&path(&key)).await.expect_nothing();
    holder.get("/v1/agents").await.refused(401, "unauthorized");
    client.get(&path(&key)).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn a_key_cannot_delete_itself() {
    let client = account();
    let (key, holder) = made(&client, &["keys:write"]).await;
    holder.delete(&path(&key)).await.refused(400, "invalid_operation");
    client.get(&path(&key)).await.expect(200);
}

#[tokio::test]
async fn a_key_deletes_only_keys_that_it_covers() {
    let client = account();
    let (_, holder) = made(&client, &["keys:write", "agents:read"]).await;
    let (wider, _) = made(&client, &["agents:read", "agents:write"]).await;
    let error = holder.delete(&path(&wider)).await.refused(403, "forbidden");
    assert!(error["message"].as_str().unwrap().contains("agents:write"), "{error}");
    client.get(&path(&wider)).await.expect(200);
    let (narrow, _) = made(&client, &["agents:read"]).await;
    holder.delete(&path(&narrow)).await.expect_nothing();

    let until = |end: &str| json!({ "name": "Key", "permissions": ["*"], "expires_at": end });
    let (_, holder) = made_with(&client, until("2999-01-01T00:00:00Z")).await;
    let (later, _) = made_with(&client, until("2999-01-01T00:00:01Z")).await;
    let (sooner, _) = made_with(&client, until("2998-01-01T00:00:00Z")).await;
    holder.delete(&path(&later)).await.refused(400, "invalid_operation");
    holder.delete(&path(&sooner)).await.expect_nothing();
}

#[tokio::test]
async fn the_root_key_is_what_it_was_after_the_next_start() {
    let mut server = own_server();
    let other = server.create_key(&["--account", "default", "--permission", "*"]).secret;
    let root = async |server: &Server| {
        let client = server.client().with_key(&other);
        let keys = client.get("/v1/api_keys").await.expect(200);
        keys["data"].as_array().unwrap().iter().find(|key| key["name"] == "root").cloned()
    };
    let before = root(&server).await.unwrap();
    let agent = server.client().agent().await;
    let change = json!({
        "permissions": ["agents:read"], "agent_ids": [agent], "expires_at": "2999-01-01T00:00:00Z",
    });
    let narrow = server.client_with(&["keys:write"]);
    narrow.patch(&path(&before), change.clone()).await.refused(403, "forbidden");
    narrow.delete(&path(&before)).await.refused(403, "forbidden");
    // A key that covers it can change it; the next start undoes the change.
    server.client().with_key(&other).patch(&path(&before), change).await.expect(200);
    server.restart();
    let restored = root(&server).await.unwrap();
    for field in ["id", "permissions", "agent_ids", "expires_at"] {
        assert_eq!(restored[field], before[field], "{field}");
    }
    server.client().with_key(&other).delete(&path(&before)).await.expect_nothing();
    server.restart();
    server.client().agent().await;
    assert_eq!(root(&server).await.unwrap()["permissions"], json!(["*"]));
}

#[tokio::test]
async fn an_unknown_key_is_not_found() {
    client().delete(&format!("/v1/api_keys/{NO_KEY}")).await.refused(404, "resource_not_found");
}
