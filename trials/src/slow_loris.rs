//! Connections that send a byte every few seconds, while another client must be served as usual.

mod slow;

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::interval;

use self::slow::{Part, Seen};
use crate::bench::memory;
use crate::latency::{millis, percentile};
use crate::{open_files, program};

/// How many connections, and for how long.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// Concurrent slow connections
    #[arg(long, default_value_t = 1_000)]
    connections: usize,
    /// Seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// How long the client is measured without the slow connections.
const ALONE: Duration = Duration::from_secs(10);
/// The pause between two of its requests.
const PACE: Duration = Duration::from_millis(50);
/// The time over which the slow connections are opened.
const ARRIVAL: Duration = Duration::from_secs(3);
/// How much slower 1 % of the requests may be: a factor, and an additional time.
const TIMES: u32 = 10;
const MORE: Duration = Duration::from_millis(50);

/// Measures the client without and with the slow connections. Returns an error if it is not served,
/// or too slowly.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    open_files::allow(arguments.connections as u64 + 500)?;
    let server = Server::of(&program).start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine. On Mondays it is closed.").await;
    let before = ask(&client, &agent, ALONE).await.context("without slow connections")?;

    let time = Duration::from_secs(arguments.seconds);
    let end = Instant::now() + time;
    let mut connections = JoinSet::new();
    for number in 0..arguments.connections {
        let part = if number % 2 == 0 { Part::Head } else { Part::Body };
        let delay = ARRIVAL.mul_f64(number as f64 / arguments.connections as f64);
        connections.spawn(slow::keep(server.address(), part, delay, end));
    }
    let during = ask(&client, &agent, time).await.context("beside slow connections")?;
    let mut seen = Seen::default();
    while let Some(one) = connections.join_next().await {
        seen.add(one.context("a slow connection's task")?);
    }
    memory::of(server.pid()).context("the server has ended")?;
    let (limit, most) = (percentile(&before, 0.99) * TIMES + MORE, percentile(&during, 0.99));
    show("before", &before);
    show("during", &during);
    seen.show();
    ensure!(most <= limit, "p99 is {most:.1?} beside slow connections, more than {limit:.1?}");
    Ok(())
}

/// Sends twenty messages per second for this time, whether or not answers arrive. Returns the
/// durations, sorted.
async fn ask(client: &Client, agent: &str, time: Duration) -> anyhow::Result<Vec<Duration>> {
    let end = Instant::now() + time;
    let message = json!({ "agent_id": agent, "message": "When does the museum open?" });
    let mut asked = JoinSet::new();
    let mut ticks = interval(PACE);
    while Instant::now() < end {
        ticks.tick().await;
        let request = client.request("POST", "/v1/conversations").json(&message);
        asked.spawn(async move {
            let sent = Instant::now();
            let answer = request.try_send().await.context("a normal request failed")?;
            let status = answer.status;
            ensure!(status == 200, "a normal request was answered {status}: {}", answer.text());
            anyhow::Ok(sent.elapsed())
        });
    }
    let mut times = Vec::new();
    while let Some(took) = asked.join_next().await {
        times.push(took.context("a normal request's task")??);
    }
    times.sort_unstable();
    Ok(times)
}

fn show(when: &str, times: &[Duration]) {
    println!(
        "{when}: {} requests, p50 {:.1} ms, p99 {:.1} ms",
        times.len(),
        millis(percentile(times, 0.5)),
        millis(percentile(times, 0.99)),
    );
}
