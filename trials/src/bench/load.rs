//! A load generator with little cost of its own: raw HTTP/1.1 on kept-alive connections.
//!
//! Not `oha` or its like: they repeat one body, and a benchmark that repeats one question measures the
//! caches of its answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::latency::percentile;

/// What a run saw.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How long it ran.
    pub(crate) elapsed: Duration,
    /// Time from request to whole answer, one a request, sorted.
    pub(crate) latencies: Vec<Duration>,
    /// Answers other than 200.
    pub(crate) refused: usize,
}

impl Outcome {
    /// Good answers a second.
    pub(crate) fn rate(&self) -> f64 {
        let good = self.latencies.len() - self.refused;
        good as f64 / self.elapsed.as_secs_f64()
    }

    /// The latency that this share of the requests stayed within.
    pub(crate) fn percentile(&self, share: f64) -> Duration {
        percentile(&self.latencies, share)
    }
}

/// Sends the requests in turn over so many connections for so long. Each request is the whole text
/// of an HTTP/1.1 request.
pub(crate) async fn run(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    connections: usize,
    duration: Duration,
) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let mut tasks = JoinSet::new();
    for number in 0..connections {
        let requests = Arc::clone(&requests);
        tasks.spawn(async move { connection(address, &requests, number, start + duration).await });
    }
    let mut outcome = Outcome::default();
    while let Some(finished) = tasks.join_next().await {
        let (latencies, refused) = finished.context("a connection's task")??;
        outcome.latencies.extend(latencies);
        outcome.refused += refused;
    }
    outcome.elapsed = start.elapsed();
    outcome.latencies.sort_unstable();
    Ok(outcome)
}

async fn connection(
    address: SocketAddr,
    requests: &[Vec<u8>],
    first: usize,
    end: Instant,
) -> anyhow::Result<(Vec<Duration>, usize)> {
    let mut socket = connect(address).await?;
    let mut latencies = Vec::new();
    let mut refused = 0;
    let mut buffer = Vec::with_capacity(16 * 1_024);
    // Each connection starts elsewhere, so that they do not ask the same at the same time.
    for request in requests.iter().cycle().skip(first * 31 % requests.len().max(1)) {
        if Instant::now() >= end {
            break;
        }
        let sent = Instant::now();
        socket.write_all(request).await.context("sending")?;
        let status = answer(&mut socket, &mut buffer).await?;
        latencies.push(sent.elapsed());
        refused += usize::from(status != 200);
    }
    Ok((latencies, refused))
}

/// Sends one request over a connection of its own and gives the answer's status.
pub(crate) async fn ask(address: SocketAddr, request: &[u8]) -> anyhow::Result<u16> {
    let mut socket = connect(address).await?;
    socket.write_all(request).await.context("sending")?;
    answer(&mut socket, &mut Vec::new()).await
}

/// Connects.
pub(crate) async fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpStream::connect(address).await.context("connecting")?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Reads one whole answer that has a Content-Length into the buffer and gives its status.
pub(crate) async fn answer(socket: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<u16> {
    buffer.clear();
    let (head, length) = loop {
        if let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = std::str::from_utf8(&buffer[..end]).context("a head that is not text")?;
            break (end + 4, content_length(head)?);
        }
        read_more(socket, buffer).await?;
    };
    while buffer.len() < head + length {
        read_more(socket, buffer).await?;
    }
    let status = buffer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
    status.and_then(|digits| digits.parse().ok()).context("an answer without a status")
}

fn content_length(head: &str) -> anyhow::Result<usize> {
    for line in head.lines() {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            return value.trim().parse().context("a bad Content-Length");
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
