//! A webhook endpoint on loopback: it answers as a test says and remembers what it was sent.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

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

type React = dyn Fn(&Received, usize) -> Reaction + Send + Sync;

/// A running endpoint. Dropping it closes its socket.
pub struct Receiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
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
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (log, react): (_, Arc<React>) = (Arc::clone(&received), Arc::new(react));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&log), Arc::clone(&react)));
            }
        });
        Self { address, received, task }
    }

    /// Its address as a URL.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
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

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(received: &Mutex<Vec<Received>>) -> MutexGuard<'_, Vec<Received>> {
    received.lock().expect("no test panics while it holds the log")
}

/// Answers the requests of a connection one after the other.
async fn serve(mut stream: TcpStream, log: Arc<Mutex<Vec<Received>>>, react: Arc<React>) {
    let mut rest = Vec::new();
    while let Some(request) = read(&mut stream, &mut rest).await {
        let before = {
            let mut log = lock(&log);
            log.push(request.clone());
            log.len() - 1
        };
        let reaction = match react(&request, before) {
            Reaction::Late(status, delay) => {
                tokio::time::sleep(delay).await;
                Reaction::status(status)
            }
            at_once => at_once,
        };
        match reaction {
            Reaction::Answer(status, headers) => {
                let answer =
                    format!("HTTP/1.1 {status} Status\r\n{headers}content-length: 0\r\n\r\n");
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
            }
            Reaction::Silence | Reaction::Late(..) => {
                // Until the other side gives up.
                let _ = stream.read(&mut [0; 1]).await;
                return;
            }
            Reaction::Cut => return,
        }
    }
}

/// The next request; `None` at the end of the connection.
async fn read(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<Received> {
    let end = loop {
        if let Some(end) = rest.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        more(stream, rest).await?;
    };
    let head = String::from_utf8(rest.drain(..end).collect()).expect("a head of ASCII");
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    while rest.len() < length {
        more(stream, rest).await?;
    }
    let body: Vec<u8> = rest.drain(..length).collect();
    Some(Received { path, headers, body: body.into(), at: Instant::now() })
}

async fn more(stream: &mut TcpStream, rest: &mut Vec<u8>) -> Option<()> {
    let mut piece = vec![0; 16 * 1_024];
    let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
    rest.extend_from_slice(&piece[..count]);
    Some(())
}
