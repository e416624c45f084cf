//! Searches with the longest queries over a large agent, as many at the same time as are accepted.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use cicerone_tests::client::Client;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::bench::corpus::{self, Numbers};
use crate::siege::arena::{Arena, Field};
use crate::siege::report::{RISE_MIB, Report};
use crate::siege::sources::{Material, add, ended};

/// Concurrent callers.
const CALLERS: usize = 64;
/// The characters of the agent's file, and of a query.
const FILE_CHARS: usize = 8_000_000;
const QUERY_CHARS: usize = 3_900;
/// The number of different queries, so that caches of one do not help the next.
const QUERIES: usize = 200;
/// The pause of a caller after a refusal.
const PAUSE: Duration = Duration::from_millis(50);

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let mut numbers = Numbers::new(field.seed);
    let chars = field.count(FILE_CHARS, FILE_CHARS / 8);
    let file = corpus::text(&mut numbers, chars).into_bytes();
    let added = add(&attacker, &agent, Material::File("large.txt", file)).await?;
    let added = added.ok().context("the large file was refused")?;
    ended(&attacker, &added, Duration::from_secs(180)).await?;
    let queries: Vec<_> = (0..QUERIES).map(|_| corpus::text(&mut numbers, QUERY_CHARS)).collect();
    let time = field.seconds(20, 5);
    let mut report = Report::default();
    let attack = flood(&attacker, &agent, &queries, time);
    let (found, refused) = arena.besiege(&mut report, RISE_MIB, attack).await?;
    report.attempted(format!(
        "{found} searches of {QUERY_CHARS} characters by {CALLERS} callers over {} MB in {} s, {refused} refused",
        chars / 1_000_000,
        time.as_secs()
    ));
    Ok(report)
}

async fn flood(client: &Client, agent: &str, queries: &[String], time: Duration) -> (usize, usize) {
    let end = Instant::now() + time;
    let path = format!("/v1/agents/{agent}/search");
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (client, path, queries) = (client.clone(), path.clone(), queries.to_vec());
        callers.spawn(async move {
            let (mut found, mut refused) = (0, 0);
            for query in queries.iter().cycle().skip(caller * 7) {
                if Instant::now() >= end {
                    break;
                }
                let body = json!({ "query": query, "limit": 50 });
                match client.request("POST", &path).json(&body).try_send().await {
                    Ok(answer) if answer.status == 200 => found += 1,
                    Ok(_) | Err(_) => {
                        refused += 1;
                        sleep(PAUSE).await;
                    }
                }
            }
            (found, refused)
        });
    }
    let outcomes = callers.join_all().await;
    outcomes.iter().fold((0, 0), |sum, (found, refused)| (sum.0 + found, sum.1 + refused))
}
