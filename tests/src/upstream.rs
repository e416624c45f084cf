//! A scripted OpenAI-compatible upstream: sends exactly the bytes that a test wrote, including
//! faults, and records the requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cicerone_tests_listener::{Listener, Request};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// The head of a stream.
const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// What the upstream does with one request.
#[derive(Debug, Clone, Default)]
pub struct Script(Vec<Step>);

#[derive(Debug, Clone)]
enum Step {
    Send(Vec<u8>),
    Pause(Duration),
    /// Send nothing more until the gate has a permit.
    Hold(Arc<Semaphore>),
    /// Send nothing more until the other side closes the connection.
    Stall,
}

impl Script {
    /// Closes the connection at once.
    pub fn hang_up() -> Self {
        Self::default()
    }

    /// An answer with this status, type and body, and further header lines.
    pub fn answer(status: &str, content_type: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\
             connection: close\r\n{headers}\r\n"
        );
        Self::default().bytes(head).bytes(body)
    }

    /// An error in the form of the official API.
    pub fn error(status: &str, headers: &str, message: &str) -> Self {
        let error =
            json!({"error": {"message": message, "type": "error", "param": null, "code": null}});
        Self::answer(status, "application/json", headers, &error.to_string())
    }

    /// A completion in one piece.
    pub fn whole(text: &str) -> Self {
        Self::answer("200 OK", "application/json", "", &completion(text).to_string())
    }

    /// A stream of these tokens with a regular end.
    pub fn tokens(tokens: &[&str]) -> Self {
        let script =
            Self::stream().event(&chunk(&json!({"role": "assistant", "content": ""}), None));
        tokens.iter().fold(script, |script, token| script.token(token)).finish("stop").done()
    }

    /// The start of a stream.
    pub fn stream() -> Self {
        Self::default().bytes(STREAM)
    }

    /// Adds a token.
    #[must_use]
    pub fn token(self, text: &str) -> Self {
        self.event(&chunk(&json!({"content": text}), None))
    }

    /// Adds the reason why the reply ends.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.event(&chunk(&json!({}), Some(reason)))
    }

    /// Adds the end of the stream.
    #[must_use]
    pub fn done(self) -> Self {
        self.bytes("data: [DONE]\n\n")
    }

    /// Adds an event with this data.
    #[must_use]
    pub fn event(self, data: &Value) -> Self {
        self.bytes(format!("data: {data}\n\n"))
    }

    /// Adds these bytes.
    #[must_use]
    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.push(Step::Send(bytes.into()));
        self
    }

    /// Adds a pause.
    #[must_use]
    pub fn pause(mut self, duration: Duration) -> Self {
        self.0.push(Step::Pause(duration));
        self
    }

    /// Adds a wait until `gate` has a permit; one permit is enough for all who wait.
    #[must_use]
    pub fn hold(mut self, gate: &Arc<Semaphore>) -> Self {
        self.0.push(Step::Hold(Arc::clone(gate)));
        self
    }

    /// Adds an endless wait, with the connection held open.
    #[must_use]
    pub fn stall(mut self) -> Self {
        self.0.push(Step::Stall);
        self
    }

    /// Sends the same bytes one by one, each with its own write.
    #[must_use]
    pub fn byte_by_byte(self) -> Self {
        let split = |step| match step {
            Step::Send(bytes) => bytes.into_iter().map(|byte| Step::Send(vec![byte])).collect(),
            other => vec![other],
        };
        Self(self.0.into_iter().flat_map(split).collect())
    }
}

/// A chunk of a stream, with every field that the official API sends.
pub fn chunk(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "gpt-4o-2024-08-06", "service_tier": "default", "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason}],
    })
}

/// A completion in one piece, with every field that the official API sends.
pub fn completion(text: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000,
        "model": "gpt-4o-2024-08-06", "service_tier": "default", "system_fingerprint": "fp_1",
        "choices": [{
            "index": 0, "logprobs": null, "finish_reason": "stop",
            "message": {"role": "assistant", "content": text, "refusal": null, "annotations": []},
        }],
        "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29},
    })
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// The request line and the headers, in lower case.
    pub head: String,
    /// The body.
    pub body: Value,
}

/// A running upstream. Dropping it closes its socket.
#[derive(Debug)]
pub struct Upstream {
    listener: Listener,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    scripts: VecDeque<Script>,
    /// The only model that it has; `None` if it accepts every name.
    model: Option<String>,
    received: Vec<Received>,
}

impl Upstream {
    /// An upstream that follows these scripts, one for each request; the last one is repeated.
    pub async fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        let scripts = scripts.into_iter().collect();
        let shared = Arc::new(Mutex::new(Shared { scripts, ..Shared::default() }));
        let state = Arc::clone(&shared);
        let listener = Listener::start(move |request, stream| {
            let script = next_script(&request, &state);
            async move {
                follow(script?, stream).await;
                None
            }
        })
        .await;
        Self { listener, shared }
    }

    /// Refuses requests for other models than this one from now on, as Ollama and vLLM do.
    pub fn has_only(&self, model: &str) {
        lock(&self.shared).model = Some(model.to_owned());
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        self.listener.url("/v1")
    }

    /// Sets the scripts of further requests.
    pub fn follow(&self, scripts: impl IntoIterator<Item = Script>) {
        lock(&self.shared).scripts = scripts.into_iter().collect();
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.shared).received.clone()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().expect("no test panics while it holds the lock")
}

/// Records a request and returns the script for it; `None` if its body is not JSON.
fn next_script(request: &Request, shared: &Mutex<Shared>) -> Option<Script> {
    let body: Value = serde_json::from_slice(&request.body).ok()?;
    let mut shared = lock(shared);
    let asked = body["model"].as_str().unwrap_or_default().to_owned();
    shared.received.push(Received { head: request.head.to_lowercase(), body });
    if shared.model.as_ref().is_some_and(|model| *model != asked) {
        return Some(Script::error("404 Not Found", "", &format!("model '{asked}' not found")));
    }
    let script = match shared.scripts.len() {
        0 | 1 => shared.scripts.front().cloned(),
        _ => shared.scripts.pop_front(),
    };
    Some(script.unwrap_or_default())
}

/// Follows a script. The other side may close the connection at any time.
async fn follow(script: Script, mut stream: TcpStream) {
    for step in script.0 {
        let step = match step {
            Step::Send(bytes) => stream.write_all(&bytes).await,
            Step::Pause(duration) => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Step::Hold(gate) => {
                // A closed gate is open to all as well.
                let _ = gate.acquire().await;
                Ok(())
            }
            Step::Stall => stream.read_to_end(&mut Vec::new()).await.map(|_| ()),
        };
        if step.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
}
