//! A webhook endpoint on loopback: it answers as a test tells it to, and records the requests.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use cicerone_tests_listener::{Listener, Request};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::patience::awaited;

/// A received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// The path with its query.
    pub path: String,
    /// Its headers with lower-case names, in order.
    pub headers: Vec<(String, String)>,
    /// Its body, unchanged.
    pub body: Bytes,
    /// When it was received.
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
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

/// How a request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// With this status and these further header lines, each ended by CR and LF.
    Answer(u16, String),
    /// With this status, after this time.
    Late(u16, Duration),
    /// Not at all: the connection stays open without an answer.
    Silence,
    /// The connection is cut.
    Cut,
}

impl Reaction {
    /// An answer that consists of a status.
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
    /// Starts an endpoint that answers 204.
    pub async fn start() -> Self {
        Self::reacting(|_, _| Reaction::status(204)).await
    }

    /// Starts an endpoint that answers as `react` says, which is called with the request and the
    /// number of earlier ones.
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

    /// The address that deliveries are sent to.
    pub fn url(&self) -> String {
        self.listener.url("/hook")
    }

    /// The requests received so far.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.received).clone()
    }

    /// Waits until it has received `count` requests, and returns all of them.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        awaited(&format!("{count} requests"), async || {
            let received = self.received();
            if received.len() >= count { Ok(received) } else { Err(format!("{received:?}")) }
        })
        .await
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
            // Waits until the other side gives up.
            let _ = stream.read(&mut [0; 1]).await;
            return None;
        }
        Reaction::Cut => return None,
    };
    let answer = format!("HTTP/1.1 {status} Status\r\n{headers}content-length: 0\r\n\r\n");
    stream.write_all(answer.as_bytes()).await.ok()?;
    Some(stream)
}
