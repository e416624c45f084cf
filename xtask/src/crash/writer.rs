//! One writer: a random mix of requests, each with an idempotency key of its own.

use anyhow::{Context as _, bail};
use cicerone_tests::client::Client;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::model::{Model, Pending};
use super::random_below;

/// Writes until the server is gone. What was not answered stays in the books as pending.
pub(super) async fn write(
    client: &Client,
    model: &mut Model,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    while !*stopped.borrow() {
        let request = next(model);
        match send(client, &request).await? {
            Some(answer) => model.acknowledge(&request, &answer)?,
            None => {
                model.pending = Some(request);
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Repeats the request that was cut off, with the same key, until it is answered.
pub(super) async fn repeat(client: &Client, model: &mut Model) -> anyhow::Result<()> {
    let Some(request) = model.pending.take() else { return Ok(()) };
    let answer = send(client, &request).await?.context("the server is gone again")?;
    model.acknowledge(&request, &answer)
}

fn next(model: &mut Model) -> Pending {
    model.requests += 1;
    let (writer, number) = (model.number, model.requests);
    let key = format!("writer-{writer}-request-{number}");
    let request = |method, path: String, body| Pending { method, path, body, key: key.clone() };
    let post = |path: &str, body: Value| request("POST", path.to_owned(), Some(body));
    let Some(agent) = pick(model.agents.keys()) else {
        return post("/v1/agents", json!({ "name": format!("Guide {writer}.{number}") }));
    };
    let sources = format!("/v1/agents/{agent}/sources");
    let message = format!("What is in hall {}?", random_below(number));
    let fact = format!("Hall {number} of house {writer} shows painting number {number}.");
    match random_below(20) {
        0 => post("/v1/agents", json!({ "name": format!("Guide {writer}.{number}") })),
        1 | 2 => {
            let body = json!({ "name": format!("Guide {writer}.{number} renamed") });
            request("PATCH", format!("/v1/agents/{agent}"), Some(body))
        }
        3..=6 => post(&sources, json!({ "type": "text", "content": fact })),
        7 | 8 => {
            let pair = json!([{ "question": message, "answer": fact }]);
            post(&sources, json!({ "type": "qa", "content": pair.to_string() }))
        }
        9 | 10 => match pick(model.sources.keys()) {
            Some(source) => request("DELETE", format!("/v1/sources/{source}"), None),
            None => post(&sources, json!({ "type": "text", "content": fact })),
        },
        11 => match pick(model.conversations.keys()) {
            Some(id) => request("DELETE", format!("/v1/conversations/{id}"), None),
            None => post("/v1/conversations", json!({ "agent_id": agent, "message": message })),
        },
        12..=14 => match pick(model.conversations.keys()) {
            Some(id) => {
                let agent = model.conversations.get(&id).map(|exchange| exchange.agent.as_str());
                let body = json!({ "agent_id": agent, "conversation_id": id, "message": message });
                post("/v1/conversations", body)
            }
            None => post("/v1/conversations", json!({ "agent_id": agent, "message": message })),
        },
        _ => post("/v1/conversations", json!({ "agent_id": agent, "message": message })),
    }
}

fn pick<'a>(mut ids: impl ExactSizeIterator<Item = &'a String>) -> Option<String> {
    let index = random_below(ids.len() as u64) as usize;
    ids.nth(index).cloned()
}

/// The answer to a request; none where the connection broke. While the claim of the first try is
/// still held the answer is 409, and the request is sent again.
async fn send(client: &Client, request: &Pending) -> anyhow::Result<Option<Value>> {
    for _ in 0..100 {
        let mut sent = client.request(request.method, &request.path).idempotent(&request.key);
        if let Some(body) = &request.body {
            sent = sent.json(body);
        }
        let Ok(answer) = sent.try_send().await else { return Ok(None) };
        match answer.status {
            200 | 201 => return Ok(Some(answer.json())),
            204 => return Ok(Some(Value::Null)),
            409 => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
            other => {
                bail!("{} {}: status {other}: {}", request.method, request.path, answer.text())
            }
        }
    }
    bail!("{} {}: the claim of the first try is never given back", request.method, request.path)
}
