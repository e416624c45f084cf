//! Forwarding messages to the MCP interface of a server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cicerone_domain::{Id, kind};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

use super::MESSAGE_BYTES;
use super::line::{self, Line};
use super::message::{self, Message};
use crate::api_client;
use crate::configuration::Environment;
use crate::failure::Failure;
use crate::shutdown::StopSignals;
use crate::{output, wiring};

/// Messages in progress at once. Further ones are read when one of these was answered.
const AT_ONCE: usize = 16;
/// How long the server may be silent: models take minutes.
const SILENCE: Duration = Duration::from_secs(600);
/// The largest answer.
const ANSWER_BYTES: usize = 16 * 1_024 * 1_024;

/// Forwards messages until the input ends.
pub(super) fn run(
    environment: &Environment,
    agent: Id<kind::Agent>,
    server: &str,
) -> Result<(), Failure> {
    let forwarder = Arc::new(Forwarder::new(environment, agent, server)?);
    let runtime = wiring::runtime(2)?;
    let outcome = runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        tokio::select! {
            outcome = forward_all(forwarder) => outcome,
            signal = signals.received() => Err(Failure::new(format!("stopped by {signal}"))),
        }
    });
    // A thread may still wait for input.
    runtime.shutdown_background();
    outcome
}

/// Reads messages, and has them forwarded.
async fn forward_all(forwarder: Arc<Forwarder>) -> Result<(), Failure> {
    let mut input = BufReader::new(tokio::io::stdin());
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut tasks = JoinSet::new();
    let mut in_progress: HashMap<String, AbortHandle> = HashMap::new();
    let failed = |error| Failure::because("cannot read standard input", &error);
    while let Some(line) = line::next(&mut input, MESSAGE_BYTES).await.map_err(failed)? {
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong => {
                output::line(&message::too_long(MESSAGE_BYTES))?;
                continue;
            }
        };
        let message = match Message::parse(&text) {
            Ok(message) => message,
            Err(answer) => {
                output::line(&answer)?;
                continue;
            }
        };
        in_progress.retain(|_, task| !task.is_finished());
        if let Some(id) = message.cancels() {
            if let Some(task) = in_progress.remove(&id.to_string()) {
                task.abort();
            }
            continue;
        }
        while let Some(ended) = tasks.try_join_next() {
            check(ended)?;
        }
        let place = Arc::clone(&places).acquire_owned().await;
        let (forwarder, id) = (Arc::clone(&forwarder), message.id().map(Value::to_string));
        let task = tasks.spawn(async move {
            let answer = forwarder.forward(&message, text).await;
            drop(place);
            answer.map_or(Ok(()), |answer| output::line(&answer))
        });
        if let Some(id) = id {
            in_progress.insert(id, task);
        }
    }
    while let Some(ended) = tasks.join_next().await {
        check(ended)?;
    }
    Ok(())
}

/// The outcome of a task. One that the client cancelled is fine.
fn check(ended: Result<Result<(), Failure>, tokio::task::JoinError>) -> Result<(), Failure> {
    match ended {
        Ok(outcome) => outcome,
        Err(error) if error.is_cancelled() => Ok(()),
        Err(error) => Err(Failure::because("forwarding failed", &error)),
    }
}

/// Sends messages to an agent.
struct Forwarder {
    client: Client,
    url: String,
    authorization: HeaderValue,
    /// The version of the protocol that `initialize` has agreed on.
    version: Mutex<Option<String>>,
}

/// Why a message has no answer from the server.
struct Unanswered {
    message: String,
    data: Value,
}

impl Forwarder {
    fn new(
        environment: &Environment,
        agent: Id<kind::Agent>,
        server: &str,
    ) -> Result<Self, Failure> {
        let authorization = api_client::authorization(environment)?;
        api_client::check_address(server)?;
        let client = api_client::client_with(server, |client| client.read_timeout(SILENCE))?;
        let url = format!("{}/mcp/agents/{agent}", server.trim_end_matches('/'));
        Ok(Self { client, url, authorization, version: Mutex::default() })
    }

    /// Sends a message. Returns the response for the client, if there is one.
    async fn forward(&self, message: &Message, text: Vec<u8>) -> Option<Value> {
        let sent = self.send(message, text).await;
        if let Ok(Some(answer)) = &sent
            && message.method() == Some("initialize")
            && let Some(version) = message::negotiated(answer)
        {
            *self.version() = Some(version.to_owned());
        }
        match sent {
            Ok(answer) => answer,
            Err(Unanswered { message: reason, data }) => message.failed(&reason, data),
        }
    }

    async fn send(&self, message: &Message, text: Vec<u8>) -> Result<Option<Value>, Unanswered> {
        let version = message.version().map(str::to_owned).or_else(|| self.version().clone());
        let mut request = self
            .client
            .post(&self.url)
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream");
        // A value that is not visible ASCII names no method or tool of the server, which then reports that the header is missing.
        let named = [
            ("MCP-Protocol-Version", version.as_deref()),
            ("Mcp-Method", message.method()),
            ("Mcp-Name", message.name()),
        ];
        for (name, value) in named {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                request = request.header(name, value);
            }
        }
        let unreachable = |error: reqwest::Error| {
            let message =
                format!("the server at `{}` cannot be reached: {}", self.url, cause(&error));
            Unanswered { message, data: Value::Null }
        };
        let mut response = request.body(text).send().await.map_err(unreachable)?;
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok());
        let wait = wait.and_then(|wait| wait.parse::<u64>().ok());
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            if body.len() + piece.len() > ANSWER_BYTES {
                let message = format!("the answer has more than {ANSWER_BYTES} bytes");
                return Err(Unanswered { message, data: Value::Null });
            }
            body.extend_from_slice(&piece);
        }
        if status == StatusCode::ACCEPTED {
            return Ok(None);
        }
        match message.answer(&body) {
            Some(answer) => Ok(Some(answer)),
            None => Err(refusal(status, wait, &body)),
        }
    }

    fn version(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.version.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that is not of JSON-RPC: an error of the server, or of a proxy in front of it.
fn refusal(status: StatusCode, wait: Option<u64>, body: &[u8]) -> Unanswered {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = |field: &str| body.get("error")?.get(field)?.as_str();
    let (code, said) = (error("code"), error("message"));
    let message = match said {
        Some(said) => format!("the server answered {status}: {said}"),
        None => format!("the server answered {status}"),
    };
    Unanswered {
        message,
        data: json!({ "status": status.as_u16(), "code": code, "retry_after": wait }),
    }
}

/// The innermost cause of an error, which describes what happened. The outer ones repeat the address.
fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
