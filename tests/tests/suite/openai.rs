//! The interface of OpenAI's API.

pub(crate) mod chat;
mod chat_stream;
mod citations;
mod clients;
mod hostile;
mod incomplete;
pub(crate) mod models;
pub(crate) mod responses;
mod responses_stream;
mod source_list;
mod stored;

use cicerone_tests::Client;
use serde_json::{Value, json};

/// A source that answers [`QUESTION`].
const TEXT: &str = "Opening hours\n\nThe museum opens at nine o'clock. On Mondays it is closed.";
const QUESTION: &str = "When does the museum open?";

/// An agent with [`TEXT`], and the source.
async fn guide(client: &Client) -> (String, String) {
    let agent = client.agent().await;
    let source = client.text(&agent, TEXT).await;
    (agent, source)
}

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

/// A chat completion about [`QUESTION`], with further fields.
fn chat(agent: &str, fields: Value) -> Value {
    merged(json!({ "model": agent, "messages": [user(QUESTION)] }), fields)
}

/// A response to [`QUESTION`], with further fields.
fn response(agent: &str, fields: Value) -> Value {
    merged(json!({ "model": agent, "input": QUESTION }), fields)
}

fn merged(mut body: Value, fields: Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn text(response: &Value) -> &str {
    response["output"][0]["content"][0]["text"].as_str().unwrap()
}

/// Messages of the account's usage.
async fn counted(client: &Client) -> u64 {
    let days = client.list_all("/v1/usage", 100).await;
    days.iter().map(|day| day["messages"].as_u64().unwrap()).sum()
}

async fn conversations(client: &Client, agent: &str) -> Vec<Value> {
    client.list_all(&format!("/v1/agents/{agent}/conversations"), 100).await
}

/// Whether `text` is `prefix` and twenty letters or digits.
fn is_long_id(text: &Value, prefix: &str) -> bool {
    let rest = text.as_str().and_then(|text| text.strip_prefix(prefix)).unwrap_or_default();
    rest.len() == 20 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}
