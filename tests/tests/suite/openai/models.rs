//! `GET /v1/models` and `GET /v1/models/{agent_id}`

use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_AGENT, account, client, own_server};

/// The statuses of the list that are tested here.
pub(crate) const LIST: Covers =
    Covers { route: "GET /v1/models", cases: &[("200", active_agents_are_models_newest_first)] };

/// The statuses of a single model that are tested here.
pub(crate) const GET: Covers = Covers {
    route: "GET /v1/models/{agent_id}",
    cases: &[
        ("200", active_agents_are_models_newest_first),
        ("404 resource_not_found", a_model_that_is_no_agent_is_not_found),
    ],
};

#[tokio::test]
async fn active_agents_are_models_newest_first() {
    let client = account();
    let (first, second) = (client.agent().await, client.agent().await);
    let paused = client.agent().await;
    client.patch(&format!("/v1/agents/{paused}"), json!({ "status": "paused" })).await.expect(200);
    let list = client.get("/v1/models").await.expect(200);
    assert_eq!(list["object"], "list");
    assert_eq!(list.as_object().unwrap().len(), 2, "{list}");
    let ids: Vec<_> = list["data"].as_array().unwrap().iter().map(|m| m["id"].clone()).collect();
    assert_eq!(ids, [json!(second), json!(first)]);
    let model = &list["data"][1];
    let created = model["created"].as_u64().unwrap();
    assert!((1_600_000_000..10_000_000_000).contains(&created), "{model}");
    let expected = json!({
        "id": first, "object": "model", "created": created, "owned_by": "cicerone", "name": "Guide",
    });
    assert_eq!(*model, expected);
    assert_eq!(client.get(&format!("/v1/models/{first}")).await.expect(200), expected);
    let shown = client.get(&format!("/v1/models/{paused}")).await.expect(200);
    assert_eq!(shown["id"], paused.as_str(), "a paused agent is shown by its id");
}

#[tokio::test]
async fn a_list_has_more_agents_than_a_page() {
    let client = account();
    for _ in 0..101 {
        client.agent().await;
    }
    let list = client.get("/v1/models").await.expect(200);
    assert_eq!(list["data"].as_array().unwrap().len(), 101);
}

#[tokio::test]
async fn a_model_that_is_no_agent_is_not_found() {
    let client = client();
    for model in [NO_AGENT, "gpt-4o", "agent_", "agent_%2F"] {
        let path = format!("/v1/models/{model}");
        client.get(&path).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn a_key_within_agents_sees_these_models_only() {
    let server = own_server();
    let client = server.client();
    let (inside, outside) = (client.agent().await, client.agent().await);
    let arguments =
        ["--account", "default", "--permission", "conversations:write", "--agent", &inside];
    let restricted = client.with_key(&server.create_key(&arguments).secret);
    let list = restricted.get("/v1/models").await.expect(200);
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert_eq!(list["data"][0]["id"], inside.as_str());
    let path = format!("/v1/models/{outside}");
    restricted.get(&path).await.refused(404, "resource_not_found");
}
