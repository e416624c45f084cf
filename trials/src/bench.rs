//! Speed and memory of the release binary, measured from outside on loopback.

mod agents;
mod caller;
mod connections;
pub(crate) mod corpus;
mod curves;
pub(crate) mod figures;
mod floors;
mod gateways;
mod learning;
pub(crate) mod load;
mod many;
pub(crate) mod memory;
mod mock;
mod paced;
mod page;
pub(crate) mod plot;
mod receipts;
mod searches;
mod steady;
mod table;
mod while_learning;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_tests::Client;
use cicerone_tests::process::{Program, ROOT_KEY, Server};
use clap::{Args, Subcommand};
use serde_json::json;

pub(crate) use self::figures::Output;
use crate::latency::millis;
use crate::program;

/// What to measure.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// POST /v1/conversations: replies per second, latency, and the mean time of each stage
    Replies {
        /// Connections at once
        #[arg(long, default_value_t = 64)]
        connections: usize,
        /// Seconds for each of the three runs
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Approximate number of passages of the agent
        #[arg(long, default_value_t = 2_000)]
        passages: usize,
        /// Ask an upstream that answers at once, instead of the embedded answerer
        #[arg(long)]
        upstream: bool,
    },
    /// Time from POST to `trained` for a text of 100,000 characters
    Ingest {
        /// Texts to add, one after another
        #[arg(long, default_value_t = 20)]
        rounds: usize,
    },
    /// Resident memory of a newly started server
    Idle,
    /// Replies of many agents with one text each, asked at random: the rate for each number of
    /// agents
    Many {
        /// Numbers of agents
        #[arg(long, value_delimiter = ',', default_values_t = [100, 1_000, 3_000, 10_000])]
        agents: Vec<usize>,
        /// Connections at once
        #[arg(long, default_value_t = 32)]
        connections: usize,
        /// Seconds for each run
        #[arg(long, default_value_t = 6)]
        seconds: u64,
    },
    /// The rate of turns with and without receipts, each in turn with the other, on both databases
    Receipts {
        /// Rounds, of which the medians are compared
        #[arg(long, default_value_t = 10)]
        rounds: usize,
        /// Seconds for each load in a round
        #[arg(long, default_value_t = 5)]
        seconds: u64,
    },
    /// The table of `docs/performance.md`: turns, many agents, reads, learning and crawling, beside what they are compared with,
    /// in one run
    Table {
        /// Rounds, of which the medians are shown
        #[arg(long, default_value_t = 3)]
        rounds: usize,
        /// Seconds for each load in a round
        #[arg(long, default_value_t = 5)]
        seconds: u64,
        /// Print the figures as JSON
        #[arg(long)]
        json: bool,
    },
    /// The rate of turns and their latency over the number of connections
    Connections {
        #[command(flatten)]
        extent: connections::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// What each agent of one source costs: turns, listing, start-up, disk and memory
    Agents {
        #[command(flatten)]
        extent: agents::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// The latency of turns while sources are learned
    WhileLearning {
        #[command(flatten)]
        extent: while_learning::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// The memory of a server under a steady load
    Memory {
        #[command(flatten)]
        extent: steady::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// The four above, one after the other
    Curves {
        #[command(flatten)]
        extent: curves::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// Turns beside Portkey's gateway and LiteLLM in front of the same mock upstream
    Gateways {
        #[command(flatten)]
        extent: gateways::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// Searches beside bm25s and tantivy-py, over the same passages and questions
    Searches {
        #[command(flatten)]
        extent: searches::Extent,
        #[command(flatten)]
        output: Output,
    },
    /// Writes the figures stored by `--save` into `docs/performance.md` and draws their plots, without measuring
    Page,
}

/// Builds the release binary and measures.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { server, what } = arguments;
    let program = match &what {
        // They need no server.
        What::Page | What::Searches { .. } => Program::at("cicerone"),
        _ => server.program()?,
    };
    match what {
        What::Replies { connections, seconds, passages, upstream } => {
            let server = if upstream {
                let base = format!("http://{}/v1", mock::upstream()?);
                Server::of(&program).env("OPENAI_BASE_URL", base).start()
            } else {
                Server::of(&program).start()
            };
            replies(&server, connections, Duration::from_secs(seconds), passages).await
        }
        What::Ingest { rounds } => ingest(&program, rounds).await,
        What::Idle => idle(&program).await,
        What::Many { agents, connections, seconds } => {
            many::run(&program, agents, connections, Duration::from_secs(seconds)).await
        }
        What::Receipts { rounds, seconds } => {
            receipts::run(&program, rounds, Duration::from_secs(seconds)).await
        }
        What::Table { rounds, seconds, json } => {
            let extent = table::Extent { rounds, duration: Duration::from_secs(seconds) };
            table::run(&program, extent, json).await
        }
        What::Connections { extent, output } => {
            output.publish(connections::measure(&program, extent).await?)
        }
        What::Agents { extent, output } => output.publish(agents::measure(&program, extent).await?),
        What::WhileLearning { extent, output } => {
            output.publish(while_learning::measure(&program, extent).await?)
        }
        What::Memory { extent, output } => output.publish(steady::measure(&program, extent).await?),
        What::Curves { extent, output } => curves::run(&program, extent, output).await,
        What::Gateways { extent, output } => {
            output.publish(gateways::measure(&program, extent).await?)
        }
        What::Searches { extent, output } => output.publish(searches::measure(extent).await?),
        What::Page => curves::show(),
    }
}

/// Characters of one text; its passages are about 1,600 each.
const TEXT_CHARS: usize = 100_000;
const PASSAGE_CHARS: usize = 1_600;

async fn replies(
    server: &Server,
    connections: usize,
    duration: Duration,
    passages: usize,
) -> anyhow::Result<()> {
    let requests = Arc::new(questions(server, passages).await);
    let warm =
        load::run(server.address(), Arc::clone(&requests), connections, duration / 5).await?;
    println!("replies, {connections} connections, warm-up {:.0}/s", warm.rate());
    let mut rates = Vec::new();
    for _ in 0..3 {
        let before = memory::processor_time(server.pid())?;
        let outcome =
            load::run(server.address(), Arc::clone(&requests), connections, duration).await?;
        let used = memory::processor_time(server.pid())?.saturating_sub(before);
        println!(
            "  {:>8.0} replies/s   {:.0} µs processor each   p50 {:>6.2} ms   p99 {:>6.2} ms   \
             {}",
            outcome.rate(),
            millis(used) * 1_000.0 / outcome.latencies.len().max(1) as f64,
            millis(outcome.percentile(0.5)),
            millis(outcome.percentile(0.99)),
            memory::of(server.pid())?,
        );
        rates.push(outcome.rate());
    }
    rates.sort_by(f64::total_cmp);
    println!("median {:.0} replies/s", rates.get(1).copied().unwrap_or_default());
    println!("mean time of each stage: {}", stages(server).await);
    Ok(())
}

/// The mean time of each stage of all replies so far, as the server's metrics tell it.
async fn stages(server: &Server) -> String {
    let answer = server.client().get("/metrics").await;
    let metrics = answer.text();
    let value = |what: &str, stage: &str| {
        let start = format!("cicerone_reply_stage_seconds_{what}{{stage=\"{stage}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&start));
        line.and_then(|value| value.parse::<f64>().ok()).unwrap_or_default()
    };
    let stages = metrics.lines().filter_map(|line| {
        line.strip_prefix("cicerone_reply_stage_seconds_count{stage=\"")?.split('"').next()
    });
    let means = stages.map(|stage| {
        format!("{stage} {:.0} µs", value("sum", stage) / value("count", stage) * 1e6)
    });
    means.collect::<Vec<_>>().join(", ")
}

/// Creates an agent with about this many passages, and returns a request with a question about each of their sentences,
/// in random order.
pub(crate) async fn questions(server: &Server, passages: usize) -> Vec<Vec<u8>> {
    questions_of(&server.client(), passages).await
}

/// The same for the account of this client.
pub(crate) async fn questions_of(client: &Client, passages: usize) -> Vec<Vec<u8>> {
    let agent = client.agent().await;
    let mut requests = Vec::new();
    for text in texts(passages) {
        let questions = corpus::questions(&text);
        requests.extend(questions.map(|question| {
            request_of(client.address(), client.key().unwrap_or_default(), &agent, &question)
        }));
        client.text(&agent, &text).await;
    }
    corpus::shuffle(&mut corpus::Numbers::new(8), &mut requests);
    requests
}

/// Texts with about this many passages, the same in every run.
fn texts(passages: usize) -> Vec<String> {
    let mut numbers = corpus::Numbers::new(7);
    let count = passages.div_ceil(TEXT_CHARS / PASSAGE_CHARS);
    (0..count).map(|_| corpus::text(&mut numbers, TEXT_CHARS)).collect()
}

/// The complete text of a request that starts a conversation.
fn request(server: &Server, agent: &str, question: &str) -> Vec<u8> {
    request_of(server.address(), ROOT_KEY, agent, question)
}

fn request_of(address: SocketAddr, key: &str, agent: &str, question: &str) -> Vec<u8> {
    let body = json!({ "agent_id": agent, "message": question }).to_string();
    format!(
        "POST /v1/conversations HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len(),
    )
    .into_bytes()
}

async fn ingest(program: &Program, rounds: usize) -> anyhow::Result<()> {
    let server = Server::of(program).start();
    let client = server.client();
    let agent = client.agent().await;
    let mut numbers = corpus::Numbers::new(11);
    let mut times = Vec::new();
    for _ in 0..rounds.max(1) {
        let text = corpus::text(&mut numbers, TEXT_CHARS);
        let start = Instant::now();
        client.text(&agent, &text).await;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let (first, middle, last) = (times.first(), times.get(times.len() / 2), times.last());
    let shown = [first, middle, last].map(|time| millis(time.copied().unwrap_or_default()));
    let [first, middle, last] = shown;
    println!(
        "POST of {TEXT_CHARS} characters to trained: min {first:.0} ms, median {middle:.0} ms, max {last:.0} ms"
    );
    Ok(())
}

async fn idle(program: &Program) -> anyhow::Result<()> {
    let start = Instant::now();
    let server = Server::of(program).start();
    println!("start to listening: {:.0} ms", millis(start.elapsed()));
    tokio::time::sleep(Duration::from_secs(3)).await;
    println!("idle after 3 s: {}", memory::of(server.pid())?);
    Ok(())
}
