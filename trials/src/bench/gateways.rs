//! Turns compared with other gateways in front of the same mock upstream, in one run and in turn.

pub(super) mod started;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::process::{Program, Server};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::figures::{Figures, grouped, median, shown};
use super::plot::Plot;
use super::{load, memory, mock, questions};
use crate::latency::millis;

/// Passages of the agent that is asked.
const PASSAGES: usize = 2_000;
/// Numbers of connections.
const CONNECTIONS: [usize; 2] = [1, 64];
/// The name of our own in the figures.
const OURS: &str = "cicerone: search, prompt, upstream, commit";

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Rounds, of which the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds for each load in a round
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

/// The figures, one for each program.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gateways(Vec<Row>);

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    name: String,
    /// Over one connection.
    p50_ms: f64,
    p99_ms: f64,
    /// Over 64 connections.
    rate: f64,
    busy_p99_ms: f64,
    /// Resident memory after the loads, with that of child processes; nothing for the mock, which is a part of this
    /// program.
    memory_mib: Option<f64>,
}

/// A program that answers, and what it was measured to do.
struct Target {
    name: String,
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    pid: Option<u32>,
    /// The 50th and 99th percentile of the latency over one connection.
    single: Vec<(f64, f64)>,
    /// The rate and the 99th percentile over many connections.
    busy: Vec<(f64, f64)>,
}

/// Loads the mock upstream, ours and the gateways of others in turn.
pub(super) async fn measure(program: &Program, extent: Extent) -> anyhow::Result<Gateways> {
    let upstream = mock::upstream()?;
    let server = Server::of(program)
        .env("RUST_LOG", "warn")
        .env("OPENAI_BASE_URL", format!("http://{upstream}/v1"))
        .start();
    let mut targets = vec![
        Target::new("the mock upstream, asked directly", upstream, mock::completion(upstream, "")),
        Target {
            requests: Arc::new(questions(&server, PASSAGES).await),
            pid: Some(server.pid()),
            ..Target::new(OURS, server.address(), Vec::new())
        },
    ];
    let others = started::all(upstream).await?;
    for other in &others {
        let target = Target::new(other.name(), other.address(), other.request());
        targets.push(Target { pid: Some(other.pid()?), ..target });
    }
    let time = Duration::from_secs(extent.seconds);
    for target in &targets {
        // Interpreters compile what runs often.
        target.load(CONNECTIONS[1], time).await?;
    }
    for _ in 0..extent.rounds.max(1) {
        for target in &mut targets {
            let [one, many] = CONNECTIONS;
            let single = target.load(one, time).await?;
            target.single.push((millis(single.percentile(0.5)), millis(single.percentile(0.99))));
            let busy = target.load(many, time).await?;
            target.busy.push((busy.rate(), millis(busy.percentile(0.99))));
        }
    }
    let rows = targets.iter().map(Target::row).collect::<anyhow::Result<_>>()?;
    Ok(Gateways(rows))
}

impl Target {
    fn new(name: &str, address: SocketAddr, request: Vec<u8>) -> Self {
        let requests = Arc::new(vec![request]);
        let (single, busy) = (Vec::new(), Vec::new());
        Self { name: name.to_owned(), address, requests, pid: None, single, busy }
    }

    async fn load(&self, connections: usize, time: Duration) -> anyhow::Result<load::Outcome> {
        let requests = Arc::clone(&self.requests);
        let outcome = load::run(self.address, requests, connections, time).await;
        outcome.with_context(|| self.name.clone())
    }

    fn row(&self) -> anyhow::Result<Row> {
        Ok(Row {
            name: self.name.clone(),
            p50_ms: median(self.single.iter().map(|run| run.0)),
            p99_ms: median(self.single.iter().map(|run| run.1)),
            rate: median(self.busy.iter().map(|run| run.0)),
            busy_p99_ms: median(self.busy.iter().map(|run| run.1)),
            memory_mib: self.pid.map(memory::of_family).transpose()?,
        })
    }
}

impl Figures for Gateways {
    const NAME: &'static str = "gateways";

    fn text(&self) -> String {
        let mut text = format!(
            "| what | 1 connection: p50; p99 | {} connections: rate; p99 | memory |\n|---|---|---|---|\n",
            CONNECTIONS[1]
        );
        for row in &self.0 {
            let memory =
                row.memory_mib.map_or("–".to_owned(), |mib| format!("{} MiB", shown(mib)));
            text += &format!(
                "| {} | {}; {} ms | {}/s; {} ms | {memory} |\n",
                row.name,
                shown(row.p50_ms),
                shown(row.p99_ms),
                grouped(row.rate),
                shown(row.busy_p99_ms),
            );
        }
        let ours = self.0.iter().find(|row| row.name == OURS);
        for other in self.0.iter().skip(2) {
            if let Some(ours) = ours {
                text += &format!(
                    "\nCompared with {}: {} times its rate, and {} of its median over one connection.\n",
                    other.name,
                    shown(ours.rate / other.rate),
                    shown(ours.p50_ms / other.p50_ms),
                );
            }
        }
        text
    }

    fn plot(&self) -> Option<Plot> {
        None
    }
}
