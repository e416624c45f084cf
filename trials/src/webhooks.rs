//! Kills the server again and again while it delivers events to a receiver that often fails: each
//! event must eventually be accepted, and be the same event in every attempt.

pub(crate) mod fairness;
mod feed;
mod tally;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::{Program, Server};
use cicerone_tests::receiver::Receiver;
use clap::Args;
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::feed::Feed;
use self::tally::Tally;
use crate::crash::{check_events, random_below};
use crate::database::{Choice, Database};
use crate::program;

/// How many events and kills, and on which database.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    #[command(flatten)]
    database: Choice,
    /// Number of events, each from its own source
    #[arg(long, default_value_t = 10_000)]
    events: usize,
    /// Number of kills
    #[arg(long, default_value_t = 30)]
    kills: usize,
    /// The seed of the receiver's refusals
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Pauses between the attempts, in seconds: enough of them that random refusals never use them up.
const PAUSES: [u64; 14] = [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2];
/// Agents that share the sources.
const AGENTS: usize = 20;
/// Concurrent writers.
const WRITERS: usize = 16;
/// How long there may be no progress: a killed server's lease of a delivery expires after 25 s.
const STANDSTILL: Duration = Duration::from_secs(150);

/// Runs the trial. Returns an error if an event is not accepted, is created twice or has two
/// bodies, or names a source that no answer has named.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let database = arguments.database.open()?;
    let tally = Arc::new(Tally::new(arguments.seed));
    let receiver = {
        let tally = Arc::clone(&tally);
        Receiver::reacting(move |received, _| tally.react(received)).await
    };
    let mut server = start(&program, &database)?;
    let (renewed, current) = watch::channel(server.client());
    let agents = prepare(&server.client(), &receiver).await;
    let feed = Arc::new(Feed::new(arguments.events, agents, current, database.is_shared()));
    let began = Instant::now();
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        writers.spawn(feed::write(Arc::clone(&feed)));
    }
    let mut moments = moments(arguments.kills, arguments.events).into_iter().peekable();
    let mut progress = Progress { steps: 0, since: began };
    let mut sources = BTreeSet::new();
    while sources.len() < arguments.events
        || tally.delivered() < arguments.events
        || moments.peek().is_some()
    {
        while let Some(done) = writers.try_join_next() {
            sources.extend(done.context("a writer's task")??);
        }
        if let Some(fault) = tally.fault() {
            bail!("{fault}");
        }
        let steps = feed.acknowledged() + tally.delivered();
        progress.note(steps)?;
        if moments.next_if(|moment| *moment <= steps).is_some() {
            server = restarted(server).await?;
            renewed.send_replace(server.client());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let time = began.elapsed();
    tally.check(&sources)?;
    server.kill();
    let told = check_events(&database.url(&server))?;
    ensure!(told == sources.len(), "{told} sources are finished, {} were added", sources.len());
    println!(
        "{} events, {} accepted requests ({} duplicates), {} refused, {} kills, {:.1} s",
        sources.len(),
        tally.accepted(),
        tally.accepted() - tally.delivered(),
        tally.refused(),
        arguments.kills,
        time.as_secs_f64(),
    );
    Ok(())
}

/// A server that may send to loopback, and that retries soon.
fn start(program: &Program, database: &Database) -> anyhow::Result<Server> {
    let data = TempDir::with_prefix("cicerone-webhooks-").context("making a temporary folder")?;
    let file = data.path().join("cicerone.toml");
    std::fs::write(&file, format!("[webhooks]\npauses_seconds = {PAUSES:?}\n"))
        .context("writing the configuration")?;
    let server = database
        .under(Server::of(program))
        .env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8")
        .env("CICERONE_CONFIG", file.display().to_string());
    Ok(server.start_in(data))
}

/// Creates the endpoint and the agents.
async fn prepare(client: &Client, receiver: &Receiver) -> Vec<String> {
    let endpoint = json!({ "url": receiver.url() });
    client.post("/v1/webhook_endpoints", endpoint).await.expect(201);
    let mut agents = Vec::with_capacity(AGENTS);
    for _ in 0..AGENTS {
        agents.push(client.agent().await);
    }
    agents
}

/// When to kill, in steps: each event has two, the acknowledgement of its source and its
/// acceptance.
fn moments(kills: usize, events: usize) -> Vec<usize> {
    let steps = 2 * events as u64;
    let mut moments: Vec<usize> = (0..kills).map(|_| random_below(steps) as usize).collect();
    moments.sort_unstable();
    moments
}

/// Kills the server and starts it again, while the receiver continues to answer.
async fn restarted(mut server: Server) -> anyhow::Result<Server> {
    let restart = tokio::task::spawn_blocking(move || {
        server.restart();
        server
    });
    restart.await.context("restarting the server")
}

/// The number of steps so far, and when the last one was made.
struct Progress {
    steps: usize,
    since: Instant,
}

impl Progress {
    /// Records progress. Returns an error if there was none for too long.
    fn note(&mut self, steps: usize) -> anyhow::Result<()> {
        if steps > self.steps {
            *self = Self { steps, since: Instant::now() };
        }
        ensure!(
            self.since.elapsed() < STANDSTILL,
            "nothing was acknowledged or accepted for {STANDSTILL:?}, after {steps} steps"
        );
        Ok(())
    }
}
