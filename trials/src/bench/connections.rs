//! The rate of turns and their latency over the number of connections.

use std::sync::Arc;
use std::time::Duration;

use cicerone_tests::process::{Program, Server};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::figures::{Figures, grouped, median, shown};
use super::load;
use super::plot::{Line, Panel, Plot, Scale};
use super::questions;
use crate::latency::millis;
use crate::open_files;

/// Passages of the agent that is asked.
const PASSAGES: usize = 2_000;

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512])]
    connections: Vec<usize>,
    /// Rounds, of which the medians are shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds for each load in a round
    #[arg(long, default_value_t = 5)]
    seconds: u64,
}

impl Extent {
    /// A short measurement.
    pub(super) fn quick() -> Self {
        Self { connections: (0..10).map(|power| 1 << power).collect(), rounds: 2, seconds: 3 }
    }

    /// A long measurement.
    pub(super) fn full() -> Self {
        Self { rounds: 3, seconds: 5, ..Self::quick() }
    }
}

/// The figures, one for each number of connections.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Connections(Vec<Point>);

#[derive(Debug, Serialize, Deserialize)]
struct Point {
    connections: usize,
    /// Turns per second: the median, the least and the greatest value of the rounds.
    rate: f64,
    least_rate: f64,
    greatest_rate: f64,
    p50_ms: f64,
    p99_ms: f64,
}

/// Loads a server by each number of connections in turn, in each round.
pub(super) async fn measure(program: &Program, extent: Extent) -> anyhow::Result<Connections> {
    let most = extent.connections.iter().copied().max().unwrap_or_default();
    open_files::allow(most as u64 + 500)?;
    let server = Server::of(program).env("RUST_LOG", "warn").start();
    let requests = Arc::new(questions(&server, PASSAGES).await);
    let time = Duration::from_secs(extent.seconds);
    load::run(server.address(), Arc::clone(&requests), 16, time).await?;
    let mut runs = vec![Vec::new(); extent.connections.len()];
    for _ in 0..extent.rounds.max(1) {
        for (connections, runs) in extent.connections.iter().zip(&mut runs) {
            let outcome =
                load::run(server.address(), Arc::clone(&requests), *connections, time).await?;
            let latency = |share| millis(outcome.percentile(share));
            runs.push((outcome.rate(), latency(0.5), latency(0.99)));
        }
    }
    let points = extent.connections.iter().zip(runs).map(|(connections, runs)| {
        let rates = || runs.iter().map(|run| run.0);
        Point {
            connections: *connections,
            rate: median(rates()),
            least_rate: rates().fold(f64::INFINITY, f64::min),
            greatest_rate: rates().fold(0.0, f64::max),
            p50_ms: median(runs.iter().map(|run| run.1)),
            p99_ms: median(runs.iter().map(|run| run.2)),
        }
    });
    Ok(Connections(points.collect()))
}

impl Figures for Connections {
    const NAME: &'static str = "connections";

    fn text(&self) -> String {
        let mut text =
            "| connections | turns per second | p50 | p99 |\n|---|---|---|---|\n".to_owned();
        for point in &self.0 {
            text += &format!(
                "| {} | {} ({}–{}) | {} ms | {} ms |\n",
                point.connections,
                grouped(point.rate),
                grouped(point.least_rate),
                grouped(point.greatest_rate),
                shown(point.p50_ms),
                shown(point.p99_ms),
            );
        }
        text
    }

    fn plot(&self) -> Option<Plot> {
        let line = |name, value: fn(&Point) -> f64| Line {
            name,
            points: self.0.iter().map(|point| (point.connections as f64, value(point))).collect(),
        };
        let panel = |title, up, lines| Panel {
            title,
            across: "connections",
            scales: (Scale::Measured, up),
            lines,
            bands: Vec::new(),
        };
        let rate = panel("turns per second", Scale::Linear, vec![line("", |point| point.rate)]);
        let latencies = vec![line("p50", |point| point.p50_ms), line("p99", |point| point.p99_ms)];
        let latency = panel("latency in ms", Scale::Logarithmic, latencies);
        Some(Plot { title: "Turns over the number of connections", panels: vec![rate, latency] })
    }
}
