//! What each further agent costs: turns, listing, start-up, disk and memory.

mod make;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::process::{Program, ROOT_KEY, Server};
use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::corpus::Numbers;
use super::figures::{Figures, grouped, median, shown};
use super::load;
use super::memory;
use super::plot::{Line, Panel, Plot, Scale};
use crate::latency::millis;

/// Connections of the greater load.
const CONNECTIONS: usize = 32;
/// Requests of a load, in random order.
const REQUESTS: u32 = 40_000;
/// Starts, of which the median is shown.
const STARTS: usize = 3;
/// How long a server rests before its memory is read.
const REST: Duration = Duration::from_secs(1);

/// How much is measured.
#[derive(Debug, Clone, Args)]
pub(crate) struct Extent {
    /// Numbers of agents
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 10_000, 100_000])]
    agents: Vec<usize>,
    /// Seconds for each load
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Leave out numbers of agents that would take more seconds to create, judged by those before
    #[arg(long)]
    most_seconds: Option<u64>,
}

impl Extent {
    /// The usual numbers of agents, with loads of this length.
    pub(super) fn of(seconds: u64, most_seconds: Option<u64>) -> Self {
        Self { agents: vec![100, 1_000, 10_000, 100_000], seconds, most_seconds }
    }
}

/// The figures, one for each number of agents.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Agents(Vec<Point>);

#[derive(Debug, Default, Serialize, Deserialize)]
struct Point {
    agents: usize,
    /// Turns of agents at random over one connection.
    turn_p50_ms: f64,
    turn_p99_ms: f64,
    /// The same over 32 connections.
    turns_per_second: f64,
    busy_p99_ms: f64,
    /// The first page of the list of agents.
    list_p50_ms: f64,
    /// From the start of the program until it listens.
    start_ms: f64,
    /// Disk for each agent with its source, while the server is stopped.
    disk_bytes: f64,
    /// Resident memory after the start, and after the load.
    started_mib: f64,
    loaded_mib: f64,
    /// What each agent adds to the memory after the load.
    memory_bytes: f64,
}

/// Makes agents with one text each, and measures whenever there are as many as one of the numbers.
pub(super) async fn measure(program: &Program, extent: Extent) -> anyhow::Result<Agents> {
    let mut counts = extent.agents;
    counts.sort_unstable();
    let settings = tempfile::NamedTempFile::new().context("a temporary file")?;
    std::fs::write(settings.path(), "[quotas]\nagents = 0\n").context("writing the settings")?;
    let mut server = Server::of(program)
        .env("RUST_LOG", "warn")
        .env("CICERONE_CONFIG", settings.path().to_string_lossy())
        .start();
    let (mut made, mut points, mut disk_bytes) = (Vec::new(), Vec::new(), 0);
    // What the load itself takes is not a cost of agents.
    make::agents(server.address(), &mut made, 1).await?;
    let base_mib = point(&mut server, &made, extent.seconds).await?.loaded_mib;
    let mut seconds_each = 0.0;
    for count in counts {
        let added = count.saturating_sub(made.len());
        let estimated = seconds_each * added as f64;
        if extent.most_seconds.is_some_and(|most| estimated > most as f64) {
            eprintln!("{count} agents are left out: creating them would take {estimated:.0} s");
            break;
        }
        let before = rested(&mut server)?;
        let began = Instant::now();
        make::agents(server.address(), &mut made, count).await?;
        let took = began.elapsed().as_secs_f64();
        seconds_each = took / added.max(1) as f64;
        eprintln!("{added} agents created in {took:.1} s");
        // The conversations of the loads are not counted.
        disk_bytes += rested(&mut server)?.saturating_sub(before);
        let mut point = point(&mut server, &made, extent.seconds).await?;
        let further = made.len().saturating_sub(1).max(1) as f64;
        point.disk_bytes = disk_bytes as f64 / further;
        point.memory_bytes = (point.loaded_mib - base_mib).max(0.0) * 1_048_576.0 / further;
        points.push(point);
    }
    Ok(Agents(points))
}

async fn point(server: &mut Server, made: &[make::Made], seconds: u64) -> anyhow::Result<Point> {
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        stop(server)?;
        starts.push(started(server)?);
    }
    sleep(REST).await;
    let started_mib = memory::of(server.pid())?.resident_mib();
    let time = Duration::from_secs(seconds);
    let list = Arc::new(vec![listing(server)]);
    let list = load::run(server.address(), list, 1, time / 2).await?;
    let mut numbers = Numbers::new(17);
    let chosen = (0..REQUESTS).map(|_| numbers.below(made.len() as u64) as usize);
    let mut words = Numbers::new(19);
    let chosen: Vec<_> = chosen.filter_map(|index| made.get(index)).collect();
    let requests = chosen.iter().map(|made| made.request(server, &mut words));
    let requests = Arc::new(requests.collect::<Vec<_>>());
    let one = load::run(server.address(), Arc::clone(&requests), 1, time).await?;
    let busy = load::run(server.address(), requests, CONNECTIONS, time).await?;
    let loaded_mib = memory::of(server.pid())?.resident_mib();
    Ok(Point {
        agents: made.len(),
        turn_p50_ms: millis(one.percentile(0.5)),
        turn_p99_ms: millis(one.percentile(0.99)),
        turns_per_second: busy.rate(),
        busy_p99_ms: millis(busy.percentile(0.99)),
        list_p50_ms: millis(list.percentile(0.5)),
        start_ms: median(starts),
        started_mib,
        loaded_mib,
        ..Point::default()
    })
}

/// A request for the first page of the list of agents.
fn listing(server: &Server) -> Vec<u8> {
    format!(
        "GET /v1/agents HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {ROOT_KEY}\r\n\r\n",
        server.address()
    )
    .into_bytes()
}

/// Stops the server as an operator does.
fn stop(server: &mut Server) -> anyhow::Result<()> {
    server.terminate();
    let status = server.wait();
    ensure!(status.success(), "the server ended with {status}");
    Ok(())
}

/// Starts a stopped server, and returns the milliseconds until it listens.
fn started(server: &mut Server) -> anyhow::Result<f64> {
    let began = Instant::now();
    server.restart();
    let took = millis(began.elapsed());
    memory::of(server.pid()).context("the server has ended")?;
    Ok(took)
}

/// Starts the server again, and returns the disk space that its data took while it was stopped.
fn rested(server: &mut Server) -> anyhow::Result<u64> {
    stop(server)?;
    let taken = disk(server.data())?;
    started(server)?;
    Ok(taken)
}

/// The disk space that a folder takes.
fn disk(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("reading `{}`", folder.display()))? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { disk(&entry.path())? } else { about.blocks() * 512 };
    }
    Ok(bytes)
}

impl Figures for Agents {
    const NAME: &'static str = "agents";

    fn text(&self) -> String {
        let mut text = format!(
            "Agents with one text of {} characters each, asked at random.\n\n\
             | agents | turn, 1 connection: p50; p99 | {CONNECTIONS} connections: rate; p99 | first page of the list: p50 | \
             start-up | disk for each | memory after the start; after the load; for each agent |\n|---|---|---|---|---|---|---|\n",
            grouped(make::TEXT_CHARS as f64),
        );
        for point in &self.0 {
            text += &format!(
                "| {} | {}; {} ms | {}/s; {} ms | {} ms | {} ms | {} KiB | {}; {} MiB; {} KiB |\n",
                grouped(point.agents as f64),
                shown(point.turn_p50_ms),
                shown(point.turn_p99_ms),
                grouped(point.turns_per_second),
                shown(point.busy_p99_ms),
                shown(point.list_p50_ms),
                shown(point.start_ms),
                shown(point.disk_bytes / 1_024.0),
                shown(point.started_mib),
                shown(point.loaded_mib),
                shown(point.memory_bytes / 1_024.0),
            );
        }
        text
    }

    fn plot(&self) -> Option<Plot> {
        let line = |name, value: fn(&Point) -> f64| Line {
            name,
            points: self.0.iter().map(|point| (point.agents as f64, value(point))).collect(),
        };
        let panel = |title, lines| Panel {
            title,
            across: "agents",
            scales: (Scale::Measured, Scale::Linear),
            lines,
            bands: Vec::new(),
        };
        let turns =
            vec![line("p50", |point| point.turn_p50_ms), line("p99", |point| point.turn_p99_ms)];
        let resident = vec![
            line("after the start", |point| point.started_mib),
            line("after the load", |point| point.loaded_mib),
        ];
        let each = vec![
            line("disk", |point| point.disk_bytes / 1_024.0),
            line("memory", |point| point.memory_bytes / 1_024.0),
        ];
        let panels = vec![
            panel("turn over 1 connection, ms", turns),
            panel(
                "turns per second, 32 connections",
                vec![line("", |point| point.turns_per_second)],
            ),
            panel("first page of the list, p50 in ms", vec![line("", |point| point.list_p50_ms)]),
            panel("start-up in ms", vec![line("", |point| point.start_ms)]),
            panel("resident memory in MiB", resident),
            Panel {
                scales: (Scale::Measured, Scale::Logarithmic),
                ..panel("for each agent, KiB", each)
            },
        ];
        Some(Plot { title: "Cost over the number of agents", panels })
    }
}
