//! A load at a fixed rate, which does not become less when the server is slow.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinSet;

use super::load;

/// A load at a fixed rate.
#[derive(Debug, Clone)]
pub(super) struct Paced {
    /// The server.
    pub(super) address: SocketAddr,
    /// The complete texts of the requests, which are sent in turn.
    pub(super) requests: Arc<Vec<Vec<u8>>>,
    /// Requests per second.
    pub(super) rate: u32,
    /// Connections, which is also the most requests in progress.
    pub(super) connections: usize,
    /// Set to end the load.
    pub(super) is_over: Arc<AtomicBool>,
}

/// An answered request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timed {
    /// When it was due, since the start.
    pub(super) due: Duration,
    /// The time until its answer was complete. If it had to wait for a connection, since it was due.
    pub(super) latency: Duration,
}

impl Paced {
    /// Loads the server until it is over, on a thread of its own, and returns the requests in the order in which they
    /// were due. Every answer must be 200.
    pub(super) async fn run(self, start: Instant) -> anyhow::Result<Vec<Timed>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let loading = tokio::task::spawn_blocking(move || runtime.block_on(self.load(start)));
        loading.await.context("the thread of a load")?
    }

    async fn load(self, start: Instant) -> anyhow::Result<Vec<Timed>> {
        let next = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..self.connections {
            tasks.spawn(self.clone().connection(start, Arc::clone(&next)));
        }
        let mut timed = Vec::new();
        while let Some(finished) = tasks.join_next().await {
            timed.extend(finished.context("a connection's task")??);
        }
        timed.sort_unstable_by_key(|one| one.due);
        Ok(timed)
    }

    async fn connection(
        self,
        start: Instant,
        next: Arc<AtomicUsize>,
    ) -> anyhow::Result<Vec<Timed>> {
        let mut socket = load::connect(self.address).await?;
        let (mut timed, mut buffer) = (Vec::new(), Vec::with_capacity(16 * 1_024));
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let due = Duration::from_secs_f64(number as f64 / f64::from(self.rate));
            let began = match (start + due).checked_duration_since(Instant::now()) {
                // Timers are late by up to a millisecond, which is not the server's fault.
                Some(wait) => {
                    tokio::time::sleep(wait).await;
                    Instant::now()
                }
                None => start + due,
            };
            if self.is_over.load(Ordering::Relaxed) {
                return Ok(timed);
            }
            let request = self.requests.get(number % self.requests.len().max(1));
            socket.write_all(request.context("no requests")?).await.context("sending")?;
            let status = load::answer(&mut socket, &mut buffer).await?;
            ensure!(status == 200, "a turn was answered {status}");
            timed.push(Timed { due, latency: began.elapsed() });
        }
    }
}

/// The latencies of these requests, sorted.
pub(super) fn sorted<'a>(timed: impl IntoIterator<Item = &'a Timed>) -> Vec<Duration> {
    let mut latencies: Vec<Duration> = timed.into_iter().map(|one| one.latency).collect();
    latencies.sort_unstable();
    latencies
}
