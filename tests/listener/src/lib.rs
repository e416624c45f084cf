//! A listener on loopback that reads HTTP/1.1 requests and leaves the answer to a test.
//!
//! A test may write whatever it likes: half an answer, nothing, one byte at a time, or close the
//! connection. Frameworks for test servers prevent that, but clients must be tested with it.
#![expect(clippy::expect_used, reason = "a test that cannot listen has failed")]

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The request line and the headers, as they were sent.
    pub head: String,
    /// The headers with names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body, whose length is in the header `Content-Length`.
    pub body: Bytes,
}

impl Request {
    /// A header's value; empty if the header is missing.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    fn parse(head: String) -> Option<Self> {
        let mut lines = head.lines();
        let mut line = lines.next()?.split(' ').map(str::to_owned);
        let (method, path) = (line.next()?, line.next()?);
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Some(Self { method, path, head, headers, body: Bytes::new() })
    }
}

/// A running listener. Dropping it closes its socket and its connections.
#[derive(Debug)]
pub struct Listener {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    /// The connections that are open.
    open: watch::Receiver<usize>,
    /// `None` after [`detach`](Self::detach).
    task: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// `answer` is called with each request and its connection. It returns the connection if
    /// another request may follow on it; otherwise it keeps or drops the connection.
    pub async fn start<A, F>(answer: A) -> Self
    where
        A: Fn(Request, TcpStream) -> F + Send + Sync + 'static,
        F: Future<Output = Option<TcpStream>> + Send + 'static,
    {
        Self::start_at("127.0.0.1:0", answer).await
    }

    /// Like [`start`](Self::start), on this address.
    pub async fn start_at<A, F>(address: &str, answer: A) -> Self
    where
        A: Fn(Request, TcpStream) -> F + Send + Sync + 'static,
        F: Future<Output = Option<TcpStream>> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.expect("a free port");
        let address = listener.local_addr().expect("a bound socket");
        let connections = Arc::<AtomicUsize>::default();
        let (count, answer) = (Arc::clone(&connections), Arc::new(answer));
        let (opened, open) = watch::channel(0);
        let task = tokio::spawn(async move {
            let mut conversations = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                opened.send_modify(|open| *open += 1);
                let (answer, open) = (Arc::clone(&answer), Open(opened.clone()));
                conversations.spawn(async move {
                    converse(stream, &*answer).await;
                    drop(open);
                });
                while conversations.try_join_next().is_some() {}
            }
        });
        Self { address, connections, open, task: Some(task) }
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Waits until no connection is open.
    pub async fn unused(&self) {
        self.open.clone().wait_for(|open| *open == 0).await.expect("it listens");
    }

    /// Lets it run until the end of the runtime, and returns its address.
    pub fn detach(mut self) -> SocketAddr {
        self.task = None;
        self.address
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// An open connection, counted until this is dropped.
struct Open(watch::Sender<usize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Passes the requests of a connection to `answer`, one after the other.
async fn converse<F>(mut stream: TcpStream, answer: &(impl Fn(Request, TcpStream) -> F + Sync))
where
    F: Future<Output = Option<TcpStream>> + Send,
{
    // Otherwise a small answer waits for the acknowledgement of the previous one.
    let _ = stream.set_nodelay(true);
    let mut bytes = Vec::new();
    while let Some(request) = read(&mut stream, &mut bytes).await {
        let Some(kept) = answer(request, stream).await else { return };
        stream = kept;
    }
}

/// The next request; `None` at the end of the connection. `bytes` are the received bytes that were
/// not read yet.
async fn read(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Request> {
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, bytes).await?;
    };
    let head: Vec<u8> = bytes.drain(..end).collect();
    let request = Request::parse(String::from_utf8_lossy(&head).into_owned())?;
    let length = request.header("content-length").parse().unwrap_or(0);
    while bytes.len() < length {
        more(stream, bytes).await?;
    }
    let body: Vec<u8> = bytes.drain(..length).collect();
    Some(Request { body: body.into(), ..request })
}

async fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let count = stream.read_buf(bytes).await.ok()?;
    (count > 0).then_some(())
}
