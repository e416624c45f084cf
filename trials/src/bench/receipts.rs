//! What receipts cost: the rate of turns with and without them, in one process and in turn, so that a busy moment of the
//! machine favours neither.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::postgres::Cluster;
use cicerone_tests::process::{Builder, Program, Server};
use serde_json::json;

use super::{load, questions};

/// Passages of the agent that is asked.
const PASSAGES: usize = 2_000;
/// Connections at once.
const CONNECTIONS: usize = 64;

/// Measures on SQLite, and on PostgreSQL if it is installed.
pub(super) async fn run(
    program: &Program,
    rounds: usize,
    duration: Duration,
) -> anyhow::Result<()> {
    measure("SQLite", unlimited(program), rounds, duration).await?;
    match Cluster::shared() {
        Some(cluster) => {
            let url = cluster.empty_database().to_string();
            let server = unlimited(program).env("CICERONE_DATABASE_URL", url);
            measure("PostgreSQL", server, rounds, duration).await
        }
        None => {
            println!("PostgreSQL is not installed");
            Ok(())
        }
    }
}

/// A server without limits of rates.
fn unlimited(program: &Program) -> Builder {
    Server::of(program).env("CICERONE_RATE_LIMIT_PER_MINUTE", "0").env("RUST_LOG", "warn")
}

async fn measure(
    database: &str,
    server: Builder,
    rounds: usize,
    duration: Duration,
) -> anyhow::Result<()> {
    let server = server.start();
    let requests = Arc::new(questions(&server, PASSAGES).await);
    let client = server.client();
    let agents = client.get("/v1/agents").await.expect(200);
    let agent = agents["data"][0]["id"].as_str().context("an agent without an id")?;
    let path = format!("/v1/agents/{agent}");
    load::run(server.address(), Arc::clone(&requests), CONNECTIONS, duration).await?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..rounds.max(1) {
        let begins_with = round % 2 == 0;
        for receipts in [begins_with, !begins_with] {
            client.patch(&path, json!({ "receipts": receipts })).await.expect(200);
            let loaded =
                load::run(server.address(), Arc::clone(&requests), CONNECTIONS, duration).await?;
            if receipts { &mut with } else { &mut without }.push(loaded.rate());
        }
    }
    let (with, without) = (median(with), median(without));
    println!(
        "{database}, {CONNECTIONS} connections, medians of {rounds} rounds: {without:.0} turns/s without receipts, \
         {with:.0} with, {:+.1} %",
        (with / without - 1.0) * 100.0
    );
    Ok(())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    let at = |index: usize| rates.get(index).copied().unwrap_or_default();
    f64::midpoint(at(rates.len().saturating_sub(1) / 2), at(rates.len() / 2))
}
