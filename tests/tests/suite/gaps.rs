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

/// The gaps of an agent with this status.
async fn with_status(client: &Client, agent: &str, status: &str) -> Vec<Value> {
    let list = client.get(&format!("{}?status={status}", path(agent))).await.expect(200);
    list["data"].as_array().unwrap().clone()
}

/// The open gaps of an agent.
async fn open(client: &Client, agent: &str) -> Vec<Value> {
    with_status(client, agent, "open").await
}
