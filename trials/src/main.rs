//! Benchmarks, evaluations and attacks on the release binary: `cargo trial --help`.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]
#![expect(clippy::print_stderr, reason = "progress, while standard output has the figures")]
#![expect(
    clippy::indexing_slicing,
    reason = "a field that JSON lacks reads as null, and a tool may stop"
)]

mod bench;
mod consistency;
mod crash;
mod crawl;
mod database;
mod disk_full;
mod eval;
mod formats;
mod hostile;
mod idempotency;
mod latency;
mod mutate;
mod open_files;
mod others;
mod overload;
mod program;
mod service;
mod siege;
mod slow_loris;
mod webhooks;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo trial",
    about = "Benchmarks, evaluations and attacks on the release binary"
)]
struct Arguments {
    #[command(subcommand)]
    trial: Trial,
}

#[derive(Subcommand)]
enum Trial {
    /// Speed and memory of the release binary, on loopback
    Bench(bench::Arguments),
    /// Quality of retrieval, of refusals and of replies without a model, on public collections and
    /// manuals
    Eval(eval::EvalArgs),
    /// Public collections sent through the whole service, over its API
    EvalService(service::Arguments),
    /// Kills the server under a mixed write load, again and again, and checks that it has what it
    /// acknowledged
    Crash(crash::Arguments),
    /// Websites through the whole service
    Crawl(crawl::Arguments),
    /// Real PDF files with a byte changed, through the whole service
    Hostile(hostile::Arguments),
    /// Files of office programs, books and messages, changed at random, through child processes
    Mutate(mutate::Arguments),
    /// Asks right after a source is trained and right after it was deleted
    Consistency(consistency::Arguments),
    /// Sends 64 identical requests with one Idempotency-Key at once
    Idempotency(idempotency::Arguments),
    /// Kills the server while it delivers events to a receiver that often fails
    Webhooks(webhooks::Arguments),
    /// Endpoints that never answer, together with one that must not wait for them
    WebhooksFairness(webhooks::fairness::Arguments),
    /// Many times the load that the server can handle
    Overload(overload::Arguments),
    /// Connections that send a byte every few seconds, together with a normal client
    SlowLoris(slow_loris::Arguments),
    /// Attacks by one account or without a key, together with another account that must not notice
    Siege(siege::Arguments),
    /// Fills the disk under a write load; mounts a small disk, for which it needs root
    DiskFull(disk_full::Arguments),
    /// Read untrusted documents. The program starts itself with this subcommand
    #[command(hide = true, name = formats::READ_WORKER)]
    ReadWorker,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().trial {
        Trial::Bench(arguments) => runtime()?.block_on(bench::run(arguments)),
        Trial::Eval(arguments) => eval::run(arguments),
        Trial::EvalService(arguments) => runtime()?.block_on(service::run(arguments)),
        Trial::Crash(arguments) => runtime()?.block_on(crash::run(arguments)),
        Trial::Crawl(arguments) => runtime()?.block_on(crawl::run(arguments)),
        Trial::Hostile(arguments) => runtime()?.block_on(hostile::run(arguments)),
        Trial::Consistency(arguments) => runtime()?.block_on(consistency::run(arguments)),
        Trial::Idempotency(arguments) => runtime()?.block_on(idempotency::run(arguments)),
        Trial::Webhooks(arguments) => runtime()?.block_on(webhooks::run(arguments)),
        Trial::WebhooksFairness(arguments) => {
            runtime()?.block_on(webhooks::fairness::run(arguments))
        }
        Trial::Overload(arguments) => runtime()?.block_on(overload::run(arguments)),
        Trial::SlowLoris(arguments) => runtime()?.block_on(slow_loris::run(arguments)),
        Trial::Siege(arguments) => runtime()?.block_on(siege::run(arguments)),
        Trial::Mutate(arguments) => runtime()?.block_on(mutate::run(arguments)),
        Trial::ReadWorker => {
            cicerone_ingestion::serve_reader();
            Ok(())
        }
        Trial::DiskFull(arguments) => runtime()?.block_on(disk_full::run(arguments)),
    }
}

/// One thread: the measuring program must leave the machine to the server.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
