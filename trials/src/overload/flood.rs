//! Sends requests at a fixed rate, regardless of the outcome of earlier ones.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout_at};

use crate::bench::load;

/// Callers that open a new connection for each request, and the pause of each between two requests.
const NEWCOMERS: usize = 16;
const NEWCOMER_PAUSE: Duration = Duration::from_millis(50);
/// The pause of the other account between two turns.
const PAUSE: Duration = Duration::from_millis(20);
/// How often requests are released.
const TICK: Duration = Duration::from_millis(5);
/// The pause after a connection broke.
const BREAK: Duration = Duration::from_millis(10);

/// A load that does not wait for answers.
pub(super) struct Flood {
    pub(super) address: SocketAddr,
    /// The complete texts of the requests of each account that floods.
    pub(super) requests: Vec<Arc<Vec<Vec<u8>>>>,
    /// Those of an account that sends one after the other.
    pub(super) other: Arc<Vec<Vec<u8>>>,
    /// Connections that are kept alive; a request waits if none of them is free.
    pub(super) connections: usize,
    /// Requests per second.
    pub(super) rate: f64,
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    /// The number of answers with each status.
    pub(super) statuses: BTreeMap<u16, usize>,
    /// The number of requests that failed with each connection error.
    pub(super) errors: BTreeMap<String, usize>,
    /// The latencies of answers of status 200.
    pub(super) accepted: Vec<Duration>,
    /// The latencies of other answers.
    pub(super) refused: Vec<Duration>,
    /// The latencies of answers to the account that does not flood, and how many of its requests were not answered with 200.
    pub(super) other: Vec<Duration>,
    pub(super) other_refused: usize,
    /// Answers of status 503 that do not say when to try again.
    pub(super) without_retry_after: usize,
}

/// An answer: its status, how long it took, and whether it says when to try again.
struct Answered {
    status: u16,
    latency: Duration,
    has_retry_after: bool,
}

impl Answers {
    fn note(&mut self, outcome: anyhow::Result<Answered>) {
        match outcome {
            Ok(Answered { status, latency, has_retry_after }) => {
                *self.statuses.entry(status).or_default() += 1;
                let latencies = if status == 200 { &mut self.accepted } else { &mut self.refused };
                latencies.push(latency);
                self.without_retry_after += usize::from(status == 503 && !has_retry_after);
            }
            Err(error) => *self.errors.entry(format!("{error:#}")).or_default() += 1,
        }
    }

    fn add(&mut self, other: Self) {
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        for (error, count) in other.errors {
            *self.errors.entry(error).or_default() += count;
        }
        self.accepted.extend(other.accepted);
        self.refused.extend(other.refused);
        self.without_retry_after += other.without_retry_after;
    }
}

impl Flood {
    /// Floods for this time. Requests in progress at the end are abandoned.
    pub(super) async fn run(&self, time: Duration) -> anyhow::Result<Answers> {
        let end = Instant::now() + time;
        let due = Arc::new(Semaphore::new(0));
        let mut callers = JoinSet::new();
        for number in 0..self.connections {
            let (requests, due) = (self.requests_of(number), Arc::clone(&due));
            callers.spawn(keep_calling(self.address, requests, number, due, end));
        }
        for number in 0..NEWCOMERS {
            callers.spawn(come_anew(self.address, self.requests_of(number), number, end));
        }
        let other = tokio::spawn(take_turns(self.address, Arc::clone(&self.other), end));
        self.pace(&due, end).await;
        let mut answers = Answers::default();
        while let Some(caller) = callers.join_next().await {
            answers.add(caller.context("a caller's task")?);
        }
        let other = other.await.context("the task of the other account")?;
        answers.other_refused = other.refused.len() + other.errors.values().sum::<usize>();
        answers.other = other.accepted;
        answers.other.sort_unstable();
        answers.accepted.sort_unstable();
        answers.refused.sort_unstable();
        Ok(answers)
    }

    /// Those that the caller of this number sends.
    fn requests_of(&self, number: usize) -> Arc<Vec<Vec<u8>>> {
        self.requests.get(number % self.requests.len().max(1)).map(Arc::clone).unwrap_or_default()
    }

    /// Releases requests at the rate.
    async fn pace(&self, due: &Semaphore, end: Instant) {
        let start = Instant::now();
        let mut released = 0;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        while Instant::now() < end {
            ticks.tick().await;
            let so_far = (start.elapsed().as_secs_f64() * self.rate) as usize;
            due.add_permits(so_far.saturating_sub(released));
            released = so_far.max(released);
        }
    }
}

/// One connection that is kept alive, and reopened when it breaks.
async fn keep_calling(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    number: usize,
    due: Arc<Semaphore>,
    end: Instant,
) -> Answers {
    let mut answers = Answers::default();
    let (mut socket, mut buffer) = (None, Vec::with_capacity(4 * 1_024));
    for request in starting_at(&requests, number) {
        let Ok(Ok(turn)) = timeout_at(end, due.acquire()).await else { break };
        turn.forget();
        let answered = call(&mut socket, address, request, &mut buffer);
        let Ok(outcome) = timeout_at(end, answered).await else { break };
        let is_broken = outcome.is_err();
        answers.note(outcome);
        if is_broken {
            sleep(BREAK).await;
        }
    }
    answers
}

/// Sends a request over the connection, or over a new one if there is none.
async fn call(
    socket: &mut Option<TcpStream>,
    address: SocketAddr,
    request: &[u8],
    buffer: &mut Vec<u8>,
) -> anyhow::Result<Answered> {
    let mut open = match socket.take() {
        Some(open) => open,
        None => load::connect(address).await?,
    };
    let sent = Instant::now();
    open.write_all(request).await.context("sending")?;
    let status = load::answer(&mut open, buffer).await?;
    let latency = sent.elapsed();
    let (mut has_retry_after, mut is_last) = (false, false);
    if status != 200 {
        (has_retry_after, is_last) = (has_header(buffer, "retry-after:"), is_closing(buffer));
    }
    if !is_last {
        *socket = Some(open);
    }
    Ok(Answered { status, latency, has_retry_after })
}

/// Whether the answer says that the server closes the connection.
fn is_closing(answer: &[u8]) -> bool {
    has_header(answer, "connection: close")
}

/// Whether a line of the answer's head begins with this, in lower case.
fn has_header(answer: &[u8], beginning: &str) -> bool {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let head = text.split_once("\r\n\r\n").map_or("", |(head, _)| head);
    head.lines().any(|line| line.starts_with(beginning))
}

/// Sends one request after the other over one connection.
async fn take_turns(address: SocketAddr, requests: Arc<Vec<Vec<u8>>>, end: Instant) -> Answers {
    let (mut answers, mut buffer, mut socket) = (Answers::default(), Vec::new(), None);
    for request in starting_at(&requests, 0) {
        let answered = call(&mut socket, address, request, &mut buffer);
        let Ok(outcome) = timeout_at(end, answered).await else { break };
        answers.note(outcome);
        sleep(PAUSE).await;
    }
    answers
}

/// Opens a new connection for each request.
async fn come_anew(
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    number: usize,
    end: Instant,
) -> Answers {
    let (mut answers, mut buffer) = (Answers::default(), Vec::new());
    for request in starting_at(&requests, number) {
        let mut socket = None;
        let answered = call(&mut socket, address, request, &mut buffer);
        match timeout_at(end, answered).await {
            Ok(outcome) => answers.note(outcome),
            Err(_) => break,
        }
        sleep(NEWCOMER_PAUSE).await;
    }
    answers
}

/// The requests in turn, endlessly. Each caller starts at another one.
fn starting_at(requests: &[Vec<u8>], number: usize) -> impl Iterator<Item = &Vec<u8>> {
    requests.iter().cycle().skip(number * 31 % requests.len().max(1))
}
