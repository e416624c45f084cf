//! Replies of many agents with one text each, asked at random.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cicerone_tests::process::{Program, Server};
use tokio::task::JoinSet;

use super::{corpus, load, memory, request};
use crate::latency::millis;

/// Agents that are created at the same time.
const AT_ONCE: usize = 16;
/// Characters of each text.
const TEXT_CHARS: usize = 1_000;
/// Requests of a run, in random order.
const REQUESTS: usize = 40_000;
/// Runs for each number of agents, in turn.
const ROUNDS: usize = 3;

/// The result of a run: replies per second, and latencies in milliseconds.
struct Run {
    rate: f64,
    p50: f64,
    p99: f64,
}

/// What agents are asked.
#[derive(Debug, Clone, Copy)]
pub(super) enum Questions {
    /// Each question is new.
    New,
    /// Each agent is asked one question, again and again.
    Same,
}

impl Questions {
    pub(super) const ALL: [Self; 2] = [Self::New, Self::Same];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::New => "each question new",
            Self::Same => "one question for each agent",
        }
    }
}

/// A server with agents of one text each.
pub(super) struct Agents {
    server: Server,
    /// Each with its text.
    made: Vec<(String, String)>,
    chosen: corpus::Numbers,
    words: corpus::Numbers,
}

impl Agents {
    /// Starts a server and creates so many agents.
    pub(super) async fn start(program: &Program, count: usize) -> anyhow::Result<Self> {
        let server = Server::of(program)
            .env("CICERONE_RATE_LIMIT_PER_MINUTE", "0")
            .env("RUST_LOG", "warn")
            .start();
        let made = make(&server, count).await?;
        let (chosen, words) = (corpus::Numbers::new(17), corpus::Numbers::new(19));
        Ok(Self { server, made, chosen, words })
    }

    /// Asks the first `count` agents at random.
    pub(super) async fn ask(
        &mut self,
        questions: Questions,
        count: usize,
        connections: usize,
        duration: Duration,
    ) -> anyhow::Result<load::Outcome> {
        let Self { server, made, chosen, words } = self;
        let among = made.get(..count).context("an agent is missing")?;
        let requests = (0..REQUESTS).map(|_| {
            let chosen = usize::try_from(chosen.below(among.len() as u64))?;
            let (agent, text) = among.get(chosen).context("an agent is missing")?;
            let question = match questions {
                Questions::New => corpus::new_question(words, text),
                Questions::Same => {
                    corpus::questions(text).next().context("a text has no sentence")?
                }
            };
            Ok(request(server, agent, &question))
        });
        let requests = Arc::new(requests.collect::<anyhow::Result<Vec<_>>>()?);
        load::run(server.address(), requests, connections, duration).await
    }
}

/// Asks random agents, for each kind of question and number of agents in turn, three times, and prints medians.
pub(super) async fn run(
    program: &Program,
    mut counts: Vec<usize>,
    connections: usize,
    duration: Duration,
) -> anyhow::Result<()> {
    counts.sort_unstable();
    let most = counts.last().copied().unwrap_or_default();
    let began = Instant::now();
    let mut agents = Agents::start(program, most).await?;
    println!(
        "{most} agents created in {:.0} s; {}",
        began.elapsed().as_secs_f64(),
        memory::of(agents.server.pid())?
    );
    for questions in Questions::ALL {
        let mut runs: Vec<(usize, Vec<Run>)> =
            counts.iter().map(|count| (*count, Vec::new())).collect();
        for _ in 0..ROUNDS {
            for (count, results) in &mut runs {
                let outcome = agents.ask(questions, *count, connections, duration).await?;
                let latency = |share| millis(outcome.percentile(share));
                results.push(Run { rate: outcome.rate(), p50: latency(0.5), p99: latency(0.99) });
            }
        }
        print(questions, connections, &runs);
    }
    println!("afterwards: {}", memory::of(agents.server.pid())?);
    Ok(())
}

fn print(questions: Questions, connections: usize, runs: &[(usize, Vec<Run>)]) {
    let median = |results: &[Run], of: fn(&Run) -> f64| {
        let mut values: Vec<f64> = results.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    println!("{}:", questions.name());
    let base = runs.first().map_or(0.0, |(_, results)| median(results, |run| run.rate));
    for (count, results) in runs {
        let rate = median(results, |run| run.rate);
        println!(
            "{count:>7} agents, {connections} connections: {rate:>7.0} replies/s   p50 {:>6.2} ms   \
             p99 {:>6.2} ms   {:.2} times fewer than with the fewest agents",
            median(results, |run| run.p50),
            median(results, |run| run.p99),
            base / rate,
        );
    }
}

/// Creates agents with one text each, and returns each with its text.
async fn make(server: &Server, agents: usize) -> anyhow::Result<Vec<(String, String)>> {
    let mut tasks = JoinSet::new();
    for first in 0..AT_ONCE {
        let client = server.client();
        tasks.spawn(async move {
            let mut made = Vec::new();
            for number in (first..agents).step_by(AT_ONCE) {
                let mut numbers = corpus::Numbers::new(1_000 + number as u64);
                let text = corpus::text(&mut numbers, TEXT_CHARS);
                let agent = client.agent().await;
                client.text(&agent, &text).await;
                made.push((number, agent, text));
            }
            made
        });
    }
    let mut made = Vec::with_capacity(agents);
    while let Some(some) = tasks.join_next().await {
        made.extend(some.context("making agents")?);
    }
    made.sort_unstable();
    Ok(made.into_iter().map(|(_, agent, text)| (agent, text)).collect())
}
