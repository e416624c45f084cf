//! A webhook endpoint on loopback: it answers as a test says and remembers what it was sent.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cicerone_tests_listener::{Listener, Request};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long what is expected may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request that came.
#[derive(Debug, Clone)]
pub struct Received {
    /// The path with its query.
    pub path: String,
    /// Its headers with lower-case names, in order.
    pub headers: Vec<(String, String)>,
    /// Its body, byte by byte.
    pub body: Bytes,
    /// When it had come.
    pub at: Instant,
}

impl Received {
    /// A header's value; empty if the header is missing.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map_or("", |(_, value)| value)
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body of JSON")
    }
}

/// How a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// With this status and these further header lines, each ended by CR and LF.
    Answer(u16, String),
    /// With this status, after so long.
    Late(u16, Duration),
    /// Not at all: the connection stays open and silent.
    Silence,
    /// The connection is cut.
    Cut,
}

impl Reaction {
    /// An answer of a status alone.
    pub const fn status(status: u16) -> Self {
        Self::Answer(status, String::new())
    }
}

/// A running endpoint. Dropping it closes its socket.
pub struct Receiver {
    listener: Listener,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// One that answers 204.
    pub async fn start() -> Self {
        Self::reacting(|_, _| Reaction::status(204)).await
    }

    /// One that answers as `react` says; it is given the request and how many came before.
    pub async fn reacting(
        react: impl Fn(&Received, usize) -> Reaction + Send + Sync + 'static,
    ) -> Self {
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let log = Arc::clone(&received);
        let listener = Listener::start(move |request, stream| {
            let Request { path, headers, body, .. } = request;
            let request = Received { path, headers, body, at: Instant::now() };
            let before = {
                let mut log = lock(&log);
                log.push(request.clone());
                log.len() - 1
            };
            answer(stream, react(&request, before))
        })
        .await;
        Self { listener, received }
    }

    /// Its address as a URL.
    pub fn url(&self) -> String {
        self.listener.url("/hook")
    }

    /// What it was sent so far.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.received).clone()
    }

    /// Waits until it was sent so many requests, and gives all of them.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let received = self.received();
            if received.len() >= count {
                return received;
            }
            let have = received.len();
            assert!(Instant::now() < deadline, "{have} requests came, not {count}: {received:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn lock(received: &Mutex<Vec<Received>>) -> MutexGuard<'_, Vec<Received>> {
    received.lock().expect("no test panics while it holds the log")
}

/// Reacts to a request.
async fn answer(mut stream: TcpStream, reaction: Reaction) -> Option<TcpStream> {
    let (status, headers) = match reaction {
        Reaction::Answer(status, headers) => (status, headers),
        Reaction::Late(status, delay) => {
            tokio::time::sleep(delay).await;
            (status, String::new())
        }
        Reaction::Silence => {
            // Until the other side gives up.
            let _ = stream.read(&mut [0; 1]).await;
            return None;
        }
        Reaction::Cut => return None,
    };
    let answer = format!("HTTP/1.1 {status} Status\r\n{headers}content-length: 0\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.ok()?;
    Some(stream)
}
