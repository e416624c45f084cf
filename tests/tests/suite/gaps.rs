//! `/v1/agents/{agent_id}/gaps`.

pub(crate) mod answer;
pub(crate) mod list;
pub(crate) mod update;

use cicerone_tests::Client;
use serde_json::Value;

/// The path of an agent's gaps.
fn path(agent: &str) -> String {
    format!("/v1/agents/{agent}/gaps")
}

async fn with_status(client: &Client, agent: &str, status: &str) -> Vec<Value> {
    let list = client.get(&format!("{}?status={status}", path(agent))).await.expect(200);
    list["data"].as_array().unwrap().clone()
}

async fn open(client: &Client, agent: &str) -> Vec<Value> {
    with_status(client, agent, "open").await
}
