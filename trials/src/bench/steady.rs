//! The memory of a server under a steady load.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cicerone_tests::client::Client;
use cicerone_tests::process::{Program, Server};
use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::corpus::{self, Numbers};
use super::figures::{Figures, grouped, shown};
use super::paced::{self, Paced};
use super::plot::{Line, Panel, Plot, Scale};
use super::{memory, questions};
use crate::latency::{millis, percentile};

/// Passages of the agent that is asked.
const PASSAGES: usize = 2_000;
/// The most turns in progress.
const CONNECTIONS: usize = 16;
/// Characters of the texts that are added, of which there are this many at most at once.
const TEXT_CHARS: usize = 20_000;
const TEXTS: usize = 20;
/// Samples of the memory, about, and the least time between two of them.
const SAMPLES: u32 = 240;
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Minutes of load
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Turns per second
    #[arg(long, default_value_t = 300)]
    rate: u32,
}

impl Extent {
    /// The usual load for this time.
    pub(super) fn of(minutes: f64) -> Self {
        Self { minutes, rate: 300 }
    }
}

/// The figures.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Steady {
    minutes: f64,
    turns_per_second: u32,
    turns: usize,
    texts: usize,
    idle_mib: f64,
    /// The 99th percentile of the latency in the first and in the last quarter.
    first_p99_ms: f64,
    last_p99_ms: f64,
    /// Minutes since the start, and the resident and the anonymous memory in MiB.
    course: Vec<(f64, f64, f64)>,
}

/// Asks at a fixed rate, adds and removes texts, and reads the memory.
pub(super) async fn measure(program: &Program, extent: Extent) -> anyhow::Result<Steady> {
    anyhow::ensure!(extent.minutes > 0.0, "`--minutes` must be greater than 0");
    let server = Server::of(program).env("RUST_LOG", "warn").start();
    sleep(Duration::from_secs(1)).await;
    let idle = memory::of(server.pid())?.resident_mib();
    let requests = Arc::new(questions(&server, PASSAGES).await);
    let is_over = Arc::new(AtomicBool::new(false));
    let load = Paced {
        address: server.address(),
        requests,
        rate: extent.rate,
        connections: CONNECTIONS,
        is_over: Arc::clone(&is_over),
    };
    let client = server.client();
    let (start, time) = (Instant::now(), Duration::from_secs_f64(extent.minutes * 60.0));
    let watching = async {
        let watched =
            tokio::try_join!(watch(server.pid(), start, time), change(&client, start + time));
        is_over.store(true, Ordering::Relaxed);
        watched
    };
    let (timed, watched) = tokio::join!(load.run(start), watching);
    let (timed, (course, texts)) = (timed?, watched?);
    let p99 = |from: f64, to: f64| {
        let span = time.mul_f64(from)..time.mul_f64(to);
        let latencies = paced::sorted(timed.iter().filter(|one| span.contains(&one.due)));
        millis(percentile(&latencies, 0.99))
    };
    Ok(Steady {
        minutes: extent.minutes,
        turns_per_second: extent.rate,
        turns: timed.len(),
        texts,
        idle_mib: idle,
        first_p99_ms: p99(0.0, 0.25),
        last_p99_ms: p99(0.75, 1.0),
        course,
    })
}

/// Reads the memory of a process for this time.
async fn watch(pid: u32, start: Instant, time: Duration) -> anyhow::Result<Vec<(f64, f64, f64)>> {
    let pause = (time / SAMPLES).max(LEAST_PAUSE);
    let tenth = |value: f64| (value * 10.0).round() / 10.0;
    let mut course = Vec::new();
    loop {
        let (at, usage) = (start.elapsed(), memory::of(pid)?);
        let minutes = (at.as_secs_f64() / 60.0 * 1_000.0).round() / 1_000.0;
        course.push((minutes, tenth(usage.resident_mib()), tenth(usage.anonymous_mib())));
        if at >= time {
            return Ok(course);
        }
        sleep(pause.min(time.saturating_sub(at))).await;
    }
}

/// Adds a text each second, and deletes the oldest ones; returns how many were added.
async fn change(client: &Client, end: Instant) -> anyhow::Result<usize> {
    let agent = client.agent().await;
    let mut numbers = Numbers::new(41);
    let (mut present, mut added) = (VecDeque::new(), 0);
    while Instant::now() < end {
        let text = corpus::text(&mut numbers, TEXT_CHARS);
        present.push_back(client.text(&agent, &text).await);
        added += 1;
        if present.len() > TEXTS
            && let Some(oldest) = present.pop_front()
        {
            client.delete(&format!("/v1/sources/{oldest}")).await.expect_nothing();
        }
        sleep(Duration::from_secs(1).min(end.saturating_duration_since(Instant::now()))).await;
    }
    Ok(added)
}

impl Steady {
    /// The median of the resident memory in a quarter of the time.
    fn resident(&self, quarter: usize) -> f64 {
        let size = self.course.len().div_ceil(4).max(1);
        let some = self.course.chunks(size).nth(quarter).unwrap_or_default();
        super::figures::median(some.iter().map(|at| at.1))
    }
}

impl Figures for Steady {
    const NAME: &'static str = "memory";

    fn text(&self) -> String {
        let most = self.course.iter().map(|at| at.1).fold(0.0, f64::max);
        format!(
            "{} turns per second for {} minutes, {} in all; at the same time, {} texts of {} characters were added \
             one after the other, of which the last {TEXTS} were kept.\n\n| resident memory | |\n|---|---|\n| idle | \
             {} MiB |\n| first quarter of the time, median | {} MiB |\n| last quarter of the time, median | {} MiB \
             |\n| greatest | {} MiB |\n| p99 of the turns, first quarter | {} ms |\n| p99 of the turns, last quarter \
             | {} ms |\n",
            self.turns_per_second,
            self.minutes,
            grouped(self.turns as f64),
            grouped(self.texts as f64),
            grouped(TEXT_CHARS as f64),
            shown(self.idle_mib),
            shown(self.resident(0)),
            shown(self.resident(3)),
            shown(most),
            shown(self.first_p99_ms),
            shown(self.last_p99_ms),
        )
    }

    fn plot(&self) -> Option<Plot> {
        let line = |name, value: fn(&(f64, f64, f64)) -> f64| Line {
            name,
            points: self.course.iter().map(|at| (at.0, value(at))).collect(),
        };
        let panel = Panel {
            title: "memory in MiB",
            across: "minutes",
            scales: (Scale::Linear, Scale::Linear),
            lines: vec![line("resident", |at| at.1), line("anonymous", |at| at.2)],
            bands: Vec::new(),
        };
        Some(Plot { title: "Memory under a steady load", panels: vec![panel] })
    }
}
