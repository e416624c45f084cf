//! One writer: a random mix of requests, each with its own idempotency key.

use std::time::Duration;

use anyhow::bail;
use cicerone_domain::limits;
use cicerone_tests::client::Client;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::model::{Model, Pending};
use super::random_below;

/// The most agents, sources and conversations that a writer keeps, so that checks take no longer in
/// a long run than in a short one.
const AGENTS: usize = 12;
const SOURCES: usize = 100;
const CONVERSATIONS: usize = 100;
/// An address that webhooks may be sent to, where nobody listens.
const NOWHERE: &str = "http://127.9.9.9:9/";
/// How often a request is sent while its key is claimed, and the pause between two attempts.
const TRIES: usize = 100;
const PAUSE: Duration = Duration::from_millis(100);
/// How often it is sent if a killed server may have left the key claimed.
const TRIES_AFTER_KILL: usize = 3;

/// The outcome of a request.
enum Sent {
    /// It was carried out, now or earlier.
    Answered(Value),
    /// The connection broke.
    CutOff,
    /// Its key is still claimed by another request.
    Held,
}

/// Writes until the server stops answering. Unanswered requests remain in the model as pending.
pub(super) async fn write(
    client: &Client,
    model: &mut Model,
    stopped: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    while !*stopped.borrow() {
        let request = next(model);
        match send(client, &request, TRIES).await? {
            Sent::Answered(answer) => model.acknowledge(&request, &answer)?,
            Sent::CutOff => {
                model.pending = Some(request);
                return Ok(());
            }
            Sent::Held => return Err(never_free(&request)),
        }
    }
    Ok(())
}

/// Repeats the request that was cut off, with the same key, until it is answered.
///
/// On a database that other servers may use, a killed server's claim of the key lasts until it
/// expires, minutes later. Such a claim has had no effect and never will: the request is dropped.
pub(super) async fn repeat(
    client: &Client,
    model: &mut Model,
    is_shared: bool,
) -> anyhow::Result<()> {
    let Some(request) = model.pending.take() else { return Ok(()) };
    let tries = if is_shared { TRIES_AFTER_KILL } else { TRIES };
    match send(client, &request, tries).await? {
        Sent::Answered(answer) => model.acknowledge(&request, &answer),
        Sent::CutOff => bail!("the server stopped answering again"),
        Sent::Held if is_shared => Ok(()),
        Sent::Held => Err(never_free(&request)),
    }
}

fn never_free(request: &Pending) -> anyhow::Error {
    let Pending { method, path, .. } = request;
    anyhow::anyhow!("{method} {path}: the claim of the first try is never given back")
}

/// The next request of a writer.
pub(crate) fn next(model: &mut Model) -> Pending {
    model.requests += 1;
    let (writer, number) = (model.number, model.requests);
    let key = format!("writer-{writer}-request-{number}");
    let request = |method, path: String, body| Pending { method, path, body, key: key.clone() };
    let post = |path: &str, body: Value| request("POST", path.to_owned(), Some(body));
    let delete = |kind: &str, id: String| request("DELETE", format!("/v1/{kind}/{id}"), None);
    let Some(agent) = pick(model.agents.keys()) else {
        return post("/v1/agents", json!({ "name": format!("Guide {writer}.{number}") }));
    };
    if let Some((kind, id)) = surplus(model) {
        return delete(kind, id);
    }
    let sources = format!("/v1/agents/{agent}/sources");
    let message = format!("What is in hall {}?", random_below(number));
    let fact = format!("Hall {number} of house {writer} shows painting number {number}.");
    let text = || post(&sources, json!({ "type": "text", "content": fact }));
    let ask = || post("/v1/conversations", json!({ "agent_id": agent, "message": message }));
    match random_below(22) {
        0 => post("/v1/agents", json!({ "name": format!("Guide {writer}.{number}") })),
        1 | 2 => {
            let body = json!({ "name": format!("Guide {writer}.{number} renamed") });
            request("PATCH", format!("/v1/agents/{agent}"), Some(body))
        }
        3..=6 => text(),
        7 | 8 => {
            let pair = json!([{ "question": message, "answer": fact }]);
            post(&sources, json!({ "type": "qa", "content": pair.to_string() }))
        }
        9 | 10 => match pick(model.sources.keys()) {
            Some(source) => delete("sources", source),
            None => text(),
        },
        11 => match pick(model.conversations.keys()) {
            Some(id) => delete("conversations", id),
            None => ask(),
        },
        12..=14 => match pick(model.conversations.keys()) {
            Some(id) => {
                let agent = model.conversations.get(&id).map(|exchange| exchange.agent.as_str());
                let body = json!({ "agent_id": agent, "conversation_id": id, "message": message });
                post("/v1/conversations", body)
            }
            None => ask(),
        },
        15 | 16 => match pick(model.endpoints.keys()) {
            Some(id) => delete("webhook_endpoints", id),
            None if writer < limits::WEBHOOK_ENDPOINTS => {
                post("/v1/webhook_endpoints", endpoint(writer, number))
            }
            None => ask(),
        },
        _ => ask(),
    }
}

/// An object to delete, if a writer has more than it may keep.
fn surplus(model: &Model) -> Option<(&'static str, String)> {
    let (kind, id) = if model.agents.len() > AGENTS {
        ("agents", pick(model.agents.keys()))
    } else if model.sources.len() > SOURCES {
        ("sources", pick(model.sources.keys()))
    } else if model.conversations.len() > CONVERSATIONS {
        ("conversations", pick(model.conversations.keys()))
    } else {
        return None;
    };
    id.map(|id| (kind, id))
}

/// A webhook endpoint. Every other one subscribes to all events and leaves many failed attempts
/// behind.
fn endpoint(writer: usize, number: u64) -> Value {
    let events: &[&str] = match writer % 2 {
        0 => &["source.trained", "source.failed"],
        _ => &["source.failed"],
    };
    let description = format!("Writer {writer}, request {number}");
    json!({ "url": NOWHERE, "events": events, "description": description })
}

fn pick<'a>(mut ids: impl ExactSizeIterator<Item = &'a String>) -> Option<String> {
    let index = random_below(ids.len() as u64) as usize;
    ids.nth(index).cloned()
}

/// Sends a request, and repeats it while its key is claimed: the claim of the first attempt ends
/// when that attempt does.
async fn send(client: &Client, request: &Pending, tries: usize) -> anyhow::Result<Sent> {
    for _ in 0..tries {
        let mut sent = client.request(request.method, &request.path).idempotent(&request.key);
        if let Some(body) = &request.body {
            sent = sent.json(body);
        }
        let Ok(answer) = sent.try_send().await else { return Ok(Sent::CutOff) };
        match answer.status {
            200 | 201 => return Ok(Sent::Answered(answer.json())),
            204 => return Ok(Sent::Answered(Value::Null)),
            409 => tokio::time::sleep(PAUSE).await,
            other => {
                bail!("{} {}: status {other}: {}", request.method, request.path, answer.text())
            }
        }
    }
    Ok(Sent::Held)
}
