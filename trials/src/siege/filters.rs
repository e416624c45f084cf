//! Lists with very many filters: more than twenty are refused, and twenty do not slow down others.

use std::time::{Duration, Instant};

use anyhow::ensure;
use cicerone_tests::client::Client;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::arena::{Arena, Field};
use super::report::{RISE_MIB, Report};

/// The number of filters that a list accepts.
const TAKEN: usize = 20;
/// Larger numbers, which are refused.
const REFUSED: [usize; 4] = [21, 300, 900, 1_100];
/// The number of conversations to search, and how many are created at the same time.
const CONVERSATIONS: usize = 8_000;
const MAKERS: usize = 16;
/// Concurrent readers.
const READERS: usize = 16;

pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    attacker.text(&agent, "The museum opens at nine.").await;
    let conversations = field.count(CONVERSATIONS, 800);
    fill(&attacker, &agent, conversations).await?;
    let mut report = Report::default();
    let mut answers = Vec::new();
    for count in REFUSED {
        let answer = attacker.request("GET", &list(&agent, count)).try_send().await;
        let status =
            answer.map_or_else(|_| "nothing".to_owned(), |answer| answer.status.to_string());
        report.check(status == "400", format!("{count} filters were answered {status}"));
        answers.push(format!("{count}: {status}"));
    }
    report.attempted(format!("filters refused: {}", answers.join(", ")));
    let time = field.seconds(20, 5);
    let attack = read(&attacker, &agent, time);
    let (lists, slowest) = arena.besiege(&mut report, RISE_MIB, attack).await??;
    report.attempted(format!(
        "{READERS} readers with {TAKEN} filters over {conversations} conversations: {lists} lists, \
         the slowest {slowest:.1?}"
    ));
    Ok(report)
}

/// Creates conversations with as much metadata as possible.
async fn fill(client: &Client, agent: &str, count: usize) -> anyhow::Result<()> {
    let metadata: Map<String, Value> = (0..TAKEN)
        .map(|number| (format!("key{number}"), json!(format!("value{number}"))))
        .collect();
    let body = json!({ "agent_id": agent, "message": "When?", "metadata": metadata });
    let mut makers = JoinSet::new();
    for maker in 0..MAKERS {
        let (client, body) = (client.clone(), body.clone());
        makers.spawn(async move {
            for _ in (maker..count).step_by(MAKERS) {
                let request = client.request("POST", "/v1/conversations").json(&body);
                let status = request.try_send().await?.status;
                ensure!(status == 200, "a conversation was answered {status}");
            }
            Ok(())
        });
    }
    makers.join_all().await.into_iter().collect()
}

/// Reads the list with twenty filters, the last of which never matches, again and again. Returns
/// how often, and the slowest time.
async fn read(client: &Client, agent: &str, time: Duration) -> anyhow::Result<(usize, Duration)> {
    let end = Instant::now() + time;
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (client, path) = (client.clone(), list(agent, TAKEN));
        readers.spawn(async move {
            let (mut count, mut slowest) = (0, Duration::ZERO);
            while Instant::now() < end {
                let begun = Instant::now();
                // The answer does not matter, only the effect on the victim.
                let _ = client.request("GET", &path).try_send().await;
                slowest = slowest.max(begun.elapsed());
                count += 1;
            }
            (count, slowest)
        });
    }
    let readers = readers.join_all().await;
    let count = readers.iter().map(|(count, _)| count).sum();
    Ok((count, readers.iter().map(|(_, slowest)| *slowest).max().unwrap_or_default()))
}

/// The path of the list with `count` filters.
fn list(agent: &str, count: usize) -> String {
    let filters = (0..count).map(|number| {
        let value = if number + 1 == count { "none".to_owned() } else { format!("value{number}") };
        format!("metadata=key{number}:{value}")
    });
    let filters: Vec<_> = filters.collect();
    format!("/v1/agents/{agent}/conversations?{}", filters.join("&"))
}
