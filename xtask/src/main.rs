//! The project's own tasks: `cargo xtask --help`.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]
#![expect(
    clippy::indexing_slicing,
    reason = "a field that JSON lacks reads as null, and a tool may stop"
)]

mod advisories;
mod bench;
mod ci;
mod consistency;
mod crash;
mod crawl;
mod database;
mod disk_full;
mod eval;
mod eval_answers;
mod hostile;
mod idempotency;
mod latency;
mod layers;
mod migrate;
mod open_files;
mod openapi;
mod overload;
mod process;
mod service;
mod siege;
mod slow_loris;
mod webhooks;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that the gate checks
    Ci,
    /// All tests
    Test {
        /// Goes to the test binaries: names of tests, or options such as --nocapture
        filter: Vec<String>,
    },
    /// The layers: who may depend on whom
    Layers,
    /// Known faults of the crates, by the RustSec database or its summary here
    Advisories,
    /// Writes docs/openapi.json from the code
    Openapi {
        /// Only checks that it is up to date
        #[arg(long)]
        check: bool,
    },
    /// Migrations of both databases
    Migrate(migrate::Arguments),
    /// Speed and memory of the release binary, on loopback
    Bench(bench::Arguments),
    /// Quality of retrieval on public collections
    Eval(eval::EvalArgs),
    /// Quality of the embedded answerer's choice of sentences
    EvalAnswers {
        /// The folder with the question sets
        #[arg(long)]
        data: std::path::PathBuf,
    },
    /// Public collections put through the whole service, over its API
    EvalService(service::Arguments),
    /// Kills the server under a mixed write load, again and again, and checks what it acknowledged
    Crash(crash::Arguments),
    /// Websites through the whole service
    Crawl(crawl::Arguments),
    /// Real PDF files with a byte changed, through the whole service
    Hostile(hostile::Arguments),
    /// Asks right after a source is trained and right after it is deleted
    Consistency(consistency::Arguments),
    /// Sends 64 identical requests with one Idempotency-Key at once
    Idempotency(idempotency::Arguments),
    /// Kills the server while it delivers events to a receiver that often fails
    Webhooks(webhooks::Arguments),
    /// Endpoints that never answer, beside one that must not wait for them
    WebhooksFairness(webhooks::fairness::Arguments),
    /// Many times the load that the server carries
    Overload(overload::Arguments),
    /// Connections that send a byte every few seconds, beside a normal client
    SlowLoris(slow_loris::Arguments),
    /// Attacks by one account or without a key, beside another account that must not notice
    Siege(siege::Arguments),
    /// Fills the disk under a write load; mounts a small one, which only root may
    DiskFull(disk_full::Arguments),
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Ci => ci::run(),
        Task::Test { filter } => ci::test(&filter),
        Task::Layers => layers::check(),
        Task::Advisories => advisories::check(),
        Task::Openapi { check } => openapi::run(check),
        Task::Migrate(arguments) => migrate::run(arguments),
        Task::Bench(arguments) => runtime()?.block_on(bench::run(arguments)),
        Task::Eval(arguments) => eval::run(arguments),
        Task::EvalAnswers { data } => eval_answers::run(&data),
        Task::EvalService(arguments) => runtime()?.block_on(service::run(arguments)),
        Task::Crash(arguments) => runtime()?.block_on(crash::run(arguments)),
        Task::Crawl(arguments) => runtime()?.block_on(crawl::run(arguments)),
        Task::Hostile(arguments) => runtime()?.block_on(hostile::run(arguments)),
        Task::Consistency(arguments) => runtime()?.block_on(consistency::run(arguments)),
        Task::Idempotency(arguments) => runtime()?.block_on(idempotency::run(arguments)),
        Task::Webhooks(arguments) => runtime()?.block_on(webhooks::run(arguments)),
        Task::WebhooksFairness(arguments) => {
            runtime()?.block_on(webhooks::fairness::run(arguments))
        }
        Task::Overload(arguments) => runtime()?.block_on(overload::run(arguments)),
        Task::SlowLoris(arguments) => runtime()?.block_on(slow_loris::run(arguments)),
        Task::Siege(arguments) => runtime()?.block_on(siege::run(arguments)),
        Task::DiskFull(arguments) => runtime()?.block_on(disk_full::run(arguments)),
    }
}

/// One thread: what measures must leave the machine to what is measured.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
