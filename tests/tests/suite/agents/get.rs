//! `GET /v1/agents/{agent_id}`.

use serde_json::json;

use crate::coverage::Covers;
use crate::world::{NO_AGENT, client};

pub(crate) const COVERS: Covers = Covers {
    route: "GET /v1/agents/{agent_id}",
    cases: &[
        ("200", an_agent_is_found_by_its_id),
        ("404 resource_not_found", an_unknown_agent_is_not_found),
    ],
};

#[tokio::test]
async fn an_agent_is_found_by_its_id() {
    let agent = client().post("/v1/agents", json!({ "name": "Guide" })).await.expect(201);
    let path = format!("/v1/agents/{}", agent["id"].as_str().unwrap());
    assert_eq!(client().get(&path).await.expect(200), agent);
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    client().get(&format!("/v1/agents/{NO_AGENT}")).await.refused(404, "resource_not_found");
}

#[tokio::test]
async fn what_cannot_be_an_id_is_not_found() {
    let ids = [
        "7",
        "agent_",
        "agent_00000000000",
        "src_0000000000",
        "AGENT_0000000000",
        "agent_%F0%9F%A6%80",
    ];
    for id in ids {
        client().get(&format!("/v1/agents/{id}")).await.refused(404, "resource_not_found");
    }
}

#[tokio::test]
async fn ids_are_case_sensitive() {
    let id = client().agent().await;
    let (prefix, suffix) = id.split_at("agent_".len());
    let swapped: String =
        suffix
            .chars()
            .map(|c| {
                if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() }
            })
            .collect();
    if swapped != suffix {
        let path = format!("/v1/agents/{prefix}{swapped}");
        client().get(&path).await.refused(404, "resource_not_found");
    }
}
