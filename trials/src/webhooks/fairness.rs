//! Endpoints that never answer, together with one that does and must not wait for them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use cicerone_tests::receiver::{Reaction, Received, Receiver};
use clap::Args;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::latency::{millis, percentile};
use crate::program;

/// How many endpoints and rounds.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// Number of endpoints that never answer
    #[arg(long, default_value_t = 50)]
    silent: usize,
    /// Number of endpoints that answer correctly, after fourteen seconds
    #[arg(long, default_value_t = 20)]
    slow: usize,
    /// Number of rounds, each with one event for every account
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// Milliseconds between two rounds
    #[arg(long, default_value_t = 200)]
    pause: u64,
}

/// The most endpoints of an account.
const ENDPOINTS: usize = cicerone_domain::limits::WEBHOOK_ENDPOINTS;
/// How soon the healthy endpoint must get 99 of 100 of its events.
const PROMPT: Duration = Duration::from_secs(2);
/// The delay of the slow endpoints.
const LATE: Duration = Duration::from_secs(14);
/// The longest wait for an event.
const PATIENCE: Duration = Duration::from_secs(60);

/// The source of an event that arrived, and the time of its arrival.
type Arrival = (String, Instant);

/// An account with an agent.
#[derive(Clone)]
struct Account {
    client: Client,
    agent: String,
}

/// Runs the rounds. Returns an error if the healthy endpoint waits for its events.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let server = Server::of(&program).env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8").start();
    let silence = Receiver::reacting(|_, _| Reaction::Silence).await;
    let (told, mut arrivals) = mpsc::unbounded_channel();
    let receiver = Receiver::reacting(move |received, _| {
        // The receiver is gone only when the program is about to end.
        let _ = told.send((source_of(received), received.at));
        Reaction::status(204)
    })
    .await;
    let healthy = Account::open(&server, "healthy", &receiver, 1).await;
    let mut others = Vec::new();
    for first in (0..arguments.silent).step_by(ENDPOINTS) {
        let endpoints = ENDPOINTS.min(arguments.silent - first);
        let name = format!("silent from {first}");
        others.push(Account::open(&server, &name, &silence, endpoints).await);
    }
    let late = Receiver::reacting(|_, _| Reaction::Late(200, LATE)).await;
    for first in (0..arguments.slow).step_by(ENDPOINTS) {
        let endpoints = ENDPOINTS.min(arguments.slow - first);
        let name = format!("slow from {first}");
        others.push(Account::open(&server, &name, &late, endpoints).await);
    }
    let mut times = Vec::with_capacity(arguments.rounds);
    for round in 0..arguments.rounds {
        times.push(measure(&healthy, &others, &mut arrivals, round).await?);
        tokio::time::sleep(Duration::from_millis(arguments.pause)).await;
    }
    times.sort_unstable();
    let (half, most) = (percentile(&times, 0.5), percentile(&times, 0.99));
    println!(
        "from acknowledged to arrived, beside {} silent and {} slow endpoints that were sent {} \
         requests: p50 {:.0} ms, p99 {:.0} ms, max {:.0} ms",
        arguments.silent,
        arguments.slow,
        silence.received().len() + late.received().len(),
        millis(half),
        millis(most),
        millis(times.last().copied().unwrap_or_default()),
    );
    ensure!(most <= PROMPT, "the healthy endpoint waits: p99 is beyond {PROMPT:?}");
    Ok(())
}

/// Adds a source to every account at the same time. Returns the time from the acknowledgement of
/// the healthy account's source to the arrival of its event.
async fn measure(
    healthy: &Account,
    others: &[Account],
    arrivals: &mut mpsc::UnboundedReceiver<Arrival>,
    round: usize,
) -> anyhow::Result<Duration> {
    let mut posts = JoinSet::new();
    for other in others {
        posts.spawn(other.clone().add(round));
    }
    let source = healthy.clone().add(round).await;
    let acknowledged = Instant::now();
    let arrived = arrival(arrivals, &source).await?;
    while let Some(posted) = posts.join_next().await {
        posted.context("adding a source")?;
    }
    Ok(arrived.saturating_duration_since(acknowledged))
}

/// When the event of that source arrived.
async fn arrival(
    arrivals: &mut mpsc::UnboundedReceiver<Arrival>,
    source: &str,
) -> anyhow::Result<Instant> {
    let found = async {
        while let Some((told, at)) = arrivals.recv().await {
            if told == source {
                return Some(at);
            }
        }
        None
    };
    let found = timeout(PATIENCE, found).await;
    found.ok().flatten().with_context(|| format!("no event of source `{source}` in {PATIENCE:?}"))
}

impl Account {
    /// Creates an account with this many endpoints that send to `receiver`.
    async fn open(server: &Server, name: &str, receiver: &Receiver, endpoints: usize) -> Self {
        let client = server.account(name);
        for _ in 0..endpoints {
            let endpoint = json!({ "url": receiver.url() });
            client.post("/v1/webhook_endpoints", endpoint).await.expect(201);
        }
        let agent = client.agent().await;
        Self { client, agent }
    }

    /// Adds a source. Returns its id.
    async fn add(self, round: usize) -> String {
        let text = format!("In round {round} the museum opens at nine.");
        self.client.source(&self.agent, "text", &text).await
    }
}

/// The source that an event names; empty if it names none.
fn source_of(received: &Received) -> String {
    let body: Value = serde_json::from_slice(&received.body).unwrap_or_default();
    body["data"]["id"].as_str().unwrap_or_default().to_owned()
}
