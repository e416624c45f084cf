//! A load generator with little overhead: raw HTTP/1.1 on kept-alive connections.
//!
//! `oha` and similar tools repeat one body, and a benchmark that repeats a few questions measures the
//! caches of their replies. So every request is the next one of all runs together: with more questions than the caches
//! have room for, none of them is answered from a cache.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::latency::percentile;

/// The result of a run.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The duration of the run.
    pub(crate) elapsed: Duration,
    /// The times from request to complete answer, one for each request, sorted.
    pub(crate) latencies: Vec<Duration>,
}

impl Outcome {
    /// Answers per second.
    pub(crate) fn rate(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// The latency that this share of the requests did not exceed.
    pub(crate) fn percentile(&self, share: f64) -> Duration {
        percentile(&self.latencies, share)
    }
}

/// The requests that all runs have sent.
static SENT: AtomicUsize = AtomicUsize::new(0);

/// Sends the requests in turn over `connections` connections for this time. Each request is the
/// complete text of an HTTP/1.1 request. The first answer other than 200 ends the run with an error.
pub(crate) async fn run(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    connections: usize,
    duration: Duration,
) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let requests = Arc::clone(&requests);
        tasks.spawn(async move { connection(address, &requests, start + duration).await });
    }
    let mut outcome = Outcome::default();
    while let Some(finished) = tasks.join_next().await {
        outcome.latencies.extend(finished.context("a connection's task")??);
    }
    outcome.elapsed = start.elapsed();
    outcome.latencies.sort_unstable();
    Ok(outcome)
}

async fn connection(
    address: SocketAddr,
    requests: &[Vec<u8>],
    end: Instant,
) -> anyhow::Result<Vec<Duration>> {
    let mut socket = connect(address).await?;
    let mut latencies = Vec::new();
    let mut buffer = Vec::with_capacity(16 * 1_024);
    while Instant::now() < end {
        let next = SENT.fetch_add(1, Ordering::Relaxed) % requests.len().max(1);
        let request = requests.get(next).context("no requests")?;
        let sent = Instant::now();
        socket.write_all(request).await.context("sending")?;
        let status = answer(&mut socket, &mut buffer).await?;
        latencies.push(sent.elapsed());
        ensure!(status == 200, "refused: {}", String::from_utf8_lossy(&buffer));
    }
    Ok(latencies)
}

/// Sends one request over a new connection and returns the status of the answer.
pub(crate) async fn ask(address: SocketAddr, request: &[u8]) -> anyhow::Result<u16> {
    let mut socket = connect(address).await?;
    socket.write_all(request).await.context("sending")?;
    answer(&mut socket, &mut Vec::new()).await
}

pub(crate) async fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpStream::connect(address).await.context("connecting")?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Reads one complete answer into the buffer and returns its status.
pub(crate) async fn answer(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<u16> {
    buffer.clear();
    let (head, length) = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = std::str::from_utf8(&buffer[..end]).context("a head that is not text")?;
            break (end + 4, content_length(head)?);
        }
        read_more(socket, buffer).await?;
    };
    match length {
        Some(length) => {
            while buffer.len() < head + length {
                read_more(socket, buffer).await?;
            }
        }
        // The last chunk is empty. Servers that are measured here send no trailers.
        None => {
            while !buffer[head..].ends_with(b"0\r\n\r\n") {
                read_more(socket, buffer).await?;
            }
        }
    }
    let status = buffer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
    status.and_then(|digits| digits.parse().ok()).context("an answer without a status")
}

/// The length of the body; `None` if it is sent in chunks.
fn content_length(head: &str) -> anyhow::Result<Option<usize>> {
    for line in head.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            return Ok(Some(value.trim().parse().context("a bad Content-Length")?));
        }
        if name.eq_ignore_ascii_case("transfer-encoding") && value.trim() == "chunked" {
            return Ok(None);
        }
    }
    bail!("an answer without a Content-Length")
}

async fn read_more(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    if socket.read_buf(buffer).await.context("receiving")? == 0 {
        bail!("the server closed the connection");
    }
    Ok(())
}
