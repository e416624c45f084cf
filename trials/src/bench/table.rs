//! The table of `docs/performance.md`: turns, many agents, reads, learning and crawling, and the programs of others beside
//! them, measured in one run, each several times and in turn with the others, so that a busy moment of the machine does not
//! favour one of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::postgres::Cluster;
use cicerone_tests::process::{Builder, Program, ROOT_KEY, Server};
use serde_json::{Value, json};

use super::corpus::{self, Numbers};
use super::figures::Figures as _;
use super::floors::Floors;
use super::gateways::started::{self, Gateway};
use super::many::{Agents, Questions};
use super::{learning, load, memory, mock, questions, searches, texts};
use crate::crawl::{Beside, has_manual};
use crate::latency::millis;

/// Passages of the agent that is asked.
const PASSAGES: usize = 2_000;
/// Repeated questions, compared with new ones.
const OFTEN: usize = 2_000;
/// Questions of a set about 2,067 paragraphs (the development set of SQuAD 1.1), with which the figures of before were
/// measured: more than the caches have room for, and each comes again after all others.
const OF_A_SET: usize = 10_570;
/// Agents with one text each that are compared, and the connections over which they are asked.
const AGENTS: [usize; 2] = [100, 10_000];
const ASKING_AGENTS: usize = 32;
/// Texts of 100,000 characters that are added one after the other in each round.
const SINGLE_TEXTS: usize = 7;

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Rounds, of which the median is shown.
    pub(super) rounds: usize,
    /// The time of each load in a round.
    pub(super) duration: Duration,
}

/// A figure: its name, its unit, and a value for each round.
struct Figure {
    name: String,
    unit: &'static str,
    values: Vec<f64>,
}

/// The turns that are compared with those of other gateways.
const OVER_UPSTREAM: &str = "a turn over the mock upstream";
/// The turns that are compared with the prototype of their path.
const TURN: &str = "a turn, embedded answerer";
/// A server that searches and commits as they do, and does nothing else.
const PROTOTYPE: &str = "a bare prototype of the path";

/// The figures in the order in which they were first measured.
#[derive(Default)]
struct Table(Vec<Figure>);

impl Table {
    fn add(&mut self, name: impl Into<String>, unit: &'static str, value: f64) {
        let name = name.into();
        match self.0.iter_mut().find(|figure| figure.name == name) {
            Some(figure) => figure.values.push(value),
            None => self.0.push(Figure { name, unit, values: vec![value] }),
        }
    }

    /// Adds the ratio of the last values of two figures.
    fn add_ratio(&mut self, name: impl Into<String>, of: &str, to: &str) {
        let last = |name| {
            let mut figures = self.0.iter();
            figures.find(|figure| figure.name == name).and_then(|figure| figure.values.last())
        };
        if let (Some(of), Some(to)) = (last(of), last(to)) {
            let ratio = of / to;
            self.add(name, "", ratio);
        }
    }

    /// Prints medians, with the least and the greatest value.
    fn print(&self) {
        println!("| what | median | least | greatest |\n|---|---|---|---|");
        for Figure { name, unit, values } in &self.0 {
            let [least, median, greatest] = spread(values).map(shown);
            println!("| {name} | {median} {unit} | {least} | {greatest} |");
        }
    }

    fn json(&self) -> Value {
        let figure = |Figure { name, unit, values }: &Figure| {
            let [least, median, greatest] = spread(values);
            json!({ "name": name, "unit": unit, "median": median, "least": least, "greatest": greatest })
        };
        self.0.iter().map(figure).collect()
    }
}

/// The least value, the median and the greatest one.
fn spread(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    [at(0), at(sorted.len() / 2), at(sorted.len().saturating_sub(1))]
}

/// A number with as many digits as are meant.
fn shown(value: f64) -> String {
    match value {
        1_000.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Something that answers requests.
struct Target {
    name: &'static str,
    address: SocketAddr,
    requests: Arc<Vec<Vec<u8>>>,
    connections: &'static [usize],
}

/// Measures and prints the table, as JSON too if that is wanted.
pub(super) async fn run(program: &Program, extent: Extent, as_json: bool) -> anyhow::Result<()> {
    let mut table = Table::default();
    let embedded = unlimited(program).start();
    tokio::time::sleep(Duration::from_secs(3)).await;
    table.add("memory, idle", "MiB", memory::of(embedded.pid())?.resident_mib());
    let upstream = mock::upstream()?;
    let asking = unlimited(program).env("OPENAI_BASE_URL", format!("http://{upstream}/v1")).start();
    let postgres = Cluster::shared().map(|cluster| {
        let url = cluster.empty_database().to_string();
        unlimited(program).env("CICERONE_DATABASE_URL", url).start()
    });
    let floors = floors()?;
    let gateways = started::all(upstream).await?;
    let mut targets = targets(&embedded, &asking, postgres.as_ref(), upstream, &floors).await?;
    for gateway in &gateways {
        let target = target_of(gateway);
        // Interpreters compile what runs often.
        load::run(target.address, Arc::clone(&target.requests), 64, extent.duration).await?;
        targets.push(target);
    }
    let mut agents = Agents::start(program, AGENTS.into_iter().max().unwrap_or_default()).await?;
    let mut beside = if has_manual() {
        Some(Beside::start(program, None, false).await?)
    } else {
        eprintln!("Git's manual is not crawled: apt-get install git-doc wget");
        None
    };
    let learner = unlimited(program).start();
    let agent = learner.client().agent().await;
    let mut numbers = Numbers::new(31);
    for _ in 0..extent.rounds {
        for target in &targets {
            measure(&mut table, target, extent.duration).await?;
        }
        for connections in [1, 64, 256] {
            let name = |target| match connections {
                1 => format!("{target}, 1 connections: p50"),
                _ => format!("{target}, {connections} connections"),
            };
            let ratio = format!("{}, as a share of the prototype's", name(TURN));
            table.add_ratio(ratio, &name(TURN), &name(PROTOTYPE));
        }
        for gateway in &gateways {
            let rate = |name| format!("{name}, 64 connections");
            let ratio = format!("{}, as a multiple of {}'s", rate(OVER_UPSTREAM), gateway.name());
            table.add_ratio(ratio, &rate(OVER_UPSTREAM), &rate(gateway.name()));
        }
        many(&mut table, &mut agents, extent.duration).await?;
        parts(&mut table, &floors, extent.duration).await?;
        for _ in 0..SINGLE_TEXTS {
            let took = learning::one(&learner, &agent, &mut numbers).await?;
            table.add("a text of 100,000 characters until `trained`", "ms", took);
        }
        let (took, resident) = learning::paragraphs(unlimited(program)).await?;
        table.add("2,067 texts by 16 clients, SQLite", "s", took);
        table.add("memory after 2,067 texts", "MiB", resident);
        if let Some(cluster) = Cluster::shared() {
            let url = cluster.empty_database().to_string();
            let server = unlimited(program).env("CICERONE_DATABASE_URL", url);
            let (took, _) = learning::paragraphs(server).await?;
            table.add("2,067 texts by 16 clients, PostgreSQL", "s", took);
        }
        let rate = learning::bulk(unlimited(program)).await?;
        table.add("texts of 95,000 characters in bulk", "tokens/s", rate);
        if let Some(beside) = &mut beside {
            let times = beside.round().await?;
            let name = "Git's manual, from POST to `trained`";
            table.add(name, "s", times.ours.as_secs_f64());
            table.add("the same, read by wget -r", "s", times.wget.as_secs_f64());
            if let Some(scrapy) = times.scrapy {
                table.add("the same, read by Scrapy", "s", scrapy.as_secs_f64());
            }
        }
    }
    table.add("memory after the load", "MiB", memory::of(embedded.pid())?.resident_mib());
    // They take the whole machine, and everything else has been measured.
    let searches = searches::measure(searches::Extent::of_rounds(extent.rounds)).await?;
    if as_json {
        let figures = json!({ "table": table.json(), "searches": searches });
        println!("{}", serde_json::to_string_pretty(&figures)?);
    } else {
        table.print();
        println!("\n{}", searches.text());
    }
    Ok(())
}

/// A gateway, asked for what it passes on to the upstream.
fn target_of(gateway: &Gateway) -> Target {
    let requests = Arc::new(vec![gateway.request()]);
    let (name, address) = (gateway.name(), gateway.address());
    Target { name, address, requests, connections: &[1, 64] }
}

/// Asks few and many agents in turn, and adds how many times fewer questions the many answer.
async fn many(table: &mut Table, agents: &mut Agents, duration: Duration) -> anyhow::Result<()> {
    for questions in Questions::ALL {
        let name = |count| format!("{count} agents at random, {}", questions.name());
        for count in AGENTS {
            let outcome = agents.ask(questions, count, ASKING_AGENTS, duration).await?;
            table.add(name(count), "/s", outcome.rate());
        }
        let [few, many] = AGENTS;
        let ratio = format!("{}, as a multiple of that of {many}", name(few));
        table.add_ratio(ratio, &name(few), &name(many));
    }
    Ok(())
}

/// A server without limits of rates.
fn unlimited(program: &Program) -> Builder {
    Server::of(program).env("CICERONE_RATE_LIMIT_PER_MINUTE", "0").env("RUST_LOG", "warn")
}

/// What is loaded in each round. A baseline precedes what is compared with it.
async fn targets(
    embedded: &Server,
    asking: &Server,
    postgres: Option<&Server>,
    upstream: SocketAddr,
    floors: &Floors,
) -> anyhow::Result<Vec<Target>> {
    let asked = Arc::new(questions(embedded, PASSAGES).await);
    let mut targets = vec![
        Target {
            name: "the mock upstream, asked directly",
            address: upstream,
            requests: Arc::new(vec![mock::completion(upstream, "")]),
            connections: &[1, 64],
        },
        Target {
            name: OVER_UPSTREAM,
            address: asking.address(),
            requests: Arc::new(questions(asking, PASSAGES).await),
            connections: &[1, 64],
        },
        Target {
            name: PROTOTYPE,
            address: floors.prototype().context("starting the prototype")?,
            requests: Arc::clone(&asked),
            connections: &[1, 64, 256],
        },
        Target {
            name: TURN,
            address: embedded.address(),
            requests: Arc::clone(&asked),
            connections: &[1, 64, 256],
        },
        Target {
            name: "a turn, embedded answerer, 10,570 questions in turn",
            address: embedded.address(),
            requests: Arc::new(asked.iter().take(OF_A_SET).cloned().collect()),
            connections: &[64, 256],
        },
        Target {
            name: "a turn, embedded answerer, questions that come again",
            address: embedded.address(),
            requests: Arc::new(asked.iter().take(OFTEN).cloned().collect()),
            connections: &[1, 64, 256],
        },
    ];
    if let Some(server) = postgres {
        targets.push(Target {
            name: "a turn, embedded answerer, PostgreSQL",
            address: server.address(),
            requests: Arc::new(questions(server, PASSAGES).await),
            connections: &[1, 64],
        });
    }
    let agent = embedded.client().agent().await;
    let path = format!("/v1/agents/{agent}");
    let body = embedded.client().get(&path).await.expect(200).to_string();
    let bare = mock::handler(body).context("starting a bare handler")?;
    for (name, address) in
        [("a bare handler of actix-web", bare), ("GET /v1/agents/{id}", embedded.address())]
    {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {ROOT_KEY}\r\n\r\n"
        );
        let requests = Arc::new(vec![request.into_bytes()]);
        targets.push(Target { name, address, requests, connections: &[64] });
    }
    Ok(targets)
}

/// What turns are compared with, about the same passages and questions.
fn floors() -> anyhow::Result<Arc<Floors>> {
    let texts = texts(PASSAGES);
    let mut questions = texts.iter().flat_map(|text| corpus::questions(text)).collect::<Vec<_>>();
    corpus::shuffle(&mut Numbers::new(8), &mut questions);
    Floors::new(&texts, questions).map(Arc::new).context("preparing what turns are compared with")
}

/// Measures the parts of a turn alone.
async fn parts(table: &mut Table, floors: &Arc<Floors>, duration: Duration) -> anyhow::Result<()> {
    for threads in [1, std::thread::available_parallelism()?.get()] {
        let searching = Arc::clone(floors);
        let measuring = tokio::task::spawn_blocking(move || searching.searches(threads, duration));
        let measured = measuring.await.context("the thread of the searches")??;
        let name = format!("a raw search with tantivy, {threads} threads");
        table.add(&name, "/s", measured.rate);
        table.add(format!("{name}: p50"), "ms", millis(measured.p50));
    }
    for callers in [1, 64] {
        let measured = floors.commits(callers, duration).await?;
        let name = format!("a raw commit of two rows, {callers} callers");
        table.add(&name, "/s", measured.rate);
        table.add(format!("{name}: p50"), "ms", millis(measured.p50));
    }
    Ok(())
}

/// Loads a target with each number of connections.
async fn measure(table: &mut Table, target: &Target, duration: Duration) -> anyhow::Result<()> {
    for connections in target.connections {
        let requests = Arc::clone(&target.requests);
        let outcome = load::run(target.address, requests, *connections, duration).await;
        let outcome = outcome.context(target.name)?;
        let name = format!("{}, {connections} connections", target.name);
        if *connections > 1 {
            table.add(&name, "/s", outcome.rate());
        }
        table.add(format!("{name}: p50"), "ms", millis(outcome.percentile(0.5)));
        table.add(format!("{name}: p99"), "ms", millis(outcome.percentile(0.99)));
    }
    Ok(())
}
