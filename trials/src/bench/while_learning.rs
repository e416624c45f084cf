//! The latency of turns while sources are learned.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cicerone_tests::process::{Program, Server};
use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::corpus::{self, Numbers};
use super::figures::{Figures, grouped, shown};
use super::paced::{self, Paced, Timed};
use super::plot::{Line, Panel, Plot, Scale};
use super::{learning, questions};
use crate::latency::{millis, percentile};

/// Passages of the agent that is asked.
const PASSAGES: usize = 2_000;
/// The most turns in progress.
const CONNECTIONS: usize = 16;
/// Characters of each text that is learned.
const TEXT_CHARS: usize = 750;
/// The span whose turns are one point of the plot.
const BUCKET: Duration = Duration::from_millis(250);

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Texts that are added by 16 clients
    #[arg(long, default_value_t = 2_000)]
    sources: usize,
    /// How often they are added, each time to another agent
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Turns per second, of an agent whose sources do not change
    #[arg(long, default_value_t = 200)]
    rate: u32,
    /// Seconds of quiet before, between and after
    #[arg(long, default_value_t = 4)]
    pause: u64,
}

impl Extent {
    /// The usual measurement, which takes less than a minute.
    pub(super) fn usual() -> Self {
        Self { sources: 2_000, rounds: 3, rate: 200, pause: 4 }
    }
}

/// The figures.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WhileLearning {
    sources: usize,
    turns_per_second: u32,
    /// When sources were learned: the start and the end in seconds.
    learned: Vec<(f64, f64)>,
    quiet: Latency,
    learning: Latency,
    /// Seconds since the start, and the latencies of the turns from there on.
    course: Vec<(f64, f64, f64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Latency {
    turns: usize,
    p50_ms: f64,
    p99_ms: f64,
    greatest_ms: f64,
}

/// Asks at a fixed rate while texts are added.
pub(super) async fn measure(program: &Program, extent: Extent) -> anyhow::Result<WhileLearning> {
    let server = Server::of(program).env("RUST_LOG", "warn").start();
    let requests = Arc::new(questions(&server, PASSAGES).await);
    let is_over = Arc::new(AtomicBool::new(false));
    let load = Paced {
        address: server.address(),
        requests,
        rate: extent.rate,
        connections: CONNECTIONS,
        is_over: Arc::clone(&is_over),
    };
    let start = Instant::now();
    let teaching = async {
        let taught = teach(&server, &extent, start).await;
        is_over.store(true, Ordering::Relaxed);
        taught
    };
    let (timed, learned) = tokio::join!(load.run(start), teaching);
    Ok(summary(&extent, &timed?, learned?))
}

/// Adds texts, again and again with pauses, and returns when.
async fn teach(
    server: &Server,
    extent: &Extent,
    start: Instant,
) -> anyhow::Result<Vec<(f64, f64)>> {
    let client = server.client();
    let pause = Duration::from_secs(extent.pause);
    let mut numbers = Numbers::new(37);
    let mut learned = Vec::new();
    for _ in 0..extent.rounds.max(1) {
        let texts: Vec<String> =
            (0..extent.sources).map(|_| corpus::text(&mut numbers, TEXT_CHARS)).collect();
        let agent = client.agent().await;
        sleep(pause).await;
        let from = start.elapsed().as_secs_f64();
        learning::learn(server.address(), &agent, texts).await?;
        learned.push((from, start.elapsed().as_secs_f64()));
    }
    sleep(pause).await;
    Ok(learned)
}

fn summary(extent: &Extent, timed: &[Timed], learned: Vec<(f64, f64)>) -> WhileLearning {
    let (during, quiet): (Vec<Timed>, Vec<Timed>) = timed.iter().partition(|one| {
        let due = one.due.as_secs_f64();
        learned.iter().any(|(from, to)| (*from..*to).contains(&due))
    });
    // The first second warms the server up.
    let quiet: Vec<Timed> =
        quiet.into_iter().filter(|one| one.due > Duration::from_secs(1)).collect();
    let course = timed.chunk_by(|one, next| bucket(one) == bucket(next)).map(|some| {
        let latencies = paced::sorted(some);
        let at = some.first().map_or(0, bucket) as f64 * BUCKET.as_secs_f64();
        (at, rounded(percentile(&latencies, 0.5)), rounded(percentile(&latencies, 0.99)))
    });
    WhileLearning {
        sources: extent.sources,
        turns_per_second: extent.rate,
        learned: learned.clone(),
        quiet: latency(&quiet),
        learning: latency(&during),
        course: course.collect(),
    }
}

fn bucket(one: &Timed) -> u128 {
    one.due.as_millis() / BUCKET.as_millis()
}

fn latency(timed: &[Timed]) -> Latency {
    let latencies = paced::sorted(timed);
    let at = |share| rounded(percentile(&latencies, share));
    Latency { turns: timed.len(), p50_ms: at(0.5), p99_ms: at(0.99), greatest_ms: at(1.0) }
}

/// Milliseconds, to a microsecond.
fn rounded(time: Duration) -> f64 {
    (millis(time) * 1_000.0).round() / 1_000.0
}

impl Figures for WhileLearning {
    const NAME: &'static str = "while-learning";

    fn text(&self) -> String {
        let took = self.learned.iter().map(|(from, to)| to - from);
        let took: Vec<String> = took.map(|took| format!("{took:.1} s")).collect();
        let mut text = format!(
            "{} turns per second of one agent, while 16 clients add {} texts of a paragraph to another one. They took {}.\n\n\
             | turns | p50 | p99 | slowest |\n|---|---|---|---|\n",
            self.turns_per_second,
            grouped(self.sources as f64),
            took.join(", "),
        );
        for (name, latency) in [
            ("with nothing else to do", &self.quiet),
            ("while sources are learned", &self.learning),
        ] {
            text += &format!(
                "| {name} | {} ms | {} ms | {} ms |\n",
                shown(latency.p50_ms),
                shown(latency.p99_ms),
                shown(latency.greatest_ms),
            );
        }
        text
    }

    fn plot(&self) -> Option<Plot> {
        let line = |name, value: fn(&(f64, f64, f64)) -> f64| Line {
            name,
            points: self.course.iter().map(|at| (at.0, value(at))).collect(),
        };
        let panel = Panel {
            title: "latency of turns in ms; shaded: sources are learned",
            across: "seconds",
            scales: (Scale::Linear, Scale::Logarithmic),
            lines: vec![line("p50", |at| at.1), line("p99", |at| at.2)],
            bands: self.learned.clone(),
        };
        Some(Plot { title: "Turns while sources are learned", panels: vec![panel] })
    }
}
