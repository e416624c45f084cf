//! `/v1/agents/{agent_id}/checks`.

pub(crate) mod get;
mod guard;
pub(crate) mod replace;
pub(crate) mod run;
pub(crate) mod runs;
mod work;

use cicerone_tests::Client;
use serde_json::{Value, json};

use crate::world::awaited;

fn path(agent: &str) -> String {
    format!("/v1/agents/{agent}/checks")
}

/// Sets checks with these questions, which must be answered.
async fn set(client: &Client, agent: &str, questions: &[&str]) -> Value {
    let check = |question: &&str| json!({ "question": question, "answered": true });
    let checks: Vec<Value> = questions.iter().map(check).collect();
    client.put(&path(agent), json!({ "checks": checks })).await.expect(200)
}

/// Queues a run.
async fn start(client: &Client, agent: &str) -> Value {
    client.post_nothing(&format!("{}/run", path(agent))).await.expect(202)
}

/// Waits until the last run of an agent has ended, and is another one than `before`.
async fn ended(client: &Client, agent: &str, before: &Value) -> Value {
    awaited("another run has ended", async || {
        let run = client.get(&path(agent)).await.expect(200)["last_run"].clone();
        let is_other = !run.is_null() && run["id"] != before["id"];
        if is_other && !run["finished_at"].is_null() { Ok(run) } else { Err(run.to_string()) }
    })
    .await
}
