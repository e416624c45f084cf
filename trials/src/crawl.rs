//! Websites through the whole service: a real site compared with `wget`, refreshes during
//! questions, kills in the middle of a crawl.

mod beside;
mod book;
mod kill;
mod refresh;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use cicerone_tests::client::Client;
use cicerone_tests::process::{Program, Server};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

pub(crate) use self::beside::{Beside, has_manual};
use crate::program;

/// The action.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Crawls the Rust book of this toolchain, compared with `wget -r`; refreshes it unchanged and
    /// with one page changed
    Book,
    /// Crawls a folder of pages beside `wget -r` and Scrapy, which it installs in the target directory
    Beside {
        /// The folder, with an index.html, instead of the manual of Git that Debian's package
        /// git-doc installs
        #[arg(long)]
        folder: Option<PathBuf>,
        /// Times that each reads it
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// Refreshes a site again and again while questions are asked about it: every answer is from
    /// the old content or the new
    Refresh {
        /// Refreshes
        #[arg(long, default_value_t = 200)]
        rounds: usize,
    },
    /// Kills the server in the middle of crawls: each continues, ends, and creates one event
    Kill {
        /// Kills
        #[arg(long, default_value_t = 50)]
        rounds: usize,
    },
}

/// Runs the action on the release binary.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    match arguments.what {
        What::Beside { folder, rounds } => beside::run(&program, folder, rounds).await,
        What::Book => book::run(&program).await,
        What::Refresh { rounds } => refresh::run(&program, rounds).await,
        What::Kill { rounds } => kill::run(&program, rounds).await,
    }
}

/// A server that may fetch from loopback.
fn start(program: &Program) -> Server {
    Server::of(program).env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8").start()
}

/// Adds a site, and returns the source's id without waiting.
async fn add(client: &Client, agent: &str, url: &str) -> anyhow::Result<String> {
    let body = json!({ "type": "website", "content": url, "crawl_subpages": true });
    let source = client.post(&format!("/v1/agents/{agent}/sources"), body).await.expect(201);
    Ok(source["id"].as_str().context("a source without an id")?.to_owned())
}

async fn refresh_source(client: &Client, source: &str) {
    client.post_nothing(&format!("/v1/sources/{source}/refresh")).await.expect(200);
}

/// Waits until a source is trained, at most as long as a crawl may take, and returns it.
async fn trained(client: &Client, source: &str) -> anyhow::Result<Value> {
    loop {
        let found = client.get(&format!("/v1/sources/{source}")).await.expect(200);
        match found["status"].as_str() {
            Some("trained") => return Ok(found),
            Some("failed") => bail!("the crawl failed: {found}"),
            _ => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}
