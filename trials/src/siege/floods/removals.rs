//! An agent with many large sources and a long conversation, deleted with one request.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;
use tokio::time::sleep;

use crate::bench::corpus::{self, Numbers};
use crate::siege::arena::{Arena, Field};
use crate::siege::report::{RISE_MIB, Report};
use crate::siege::sources::{End, Material, carry_through};

/// Characters of each source.
const FILE_CHARS: usize = 8_000_000;
/// The longest that one source may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// How long the server is idle before the deletion, to finish its work after training.
const PAUSE: Duration = Duration::from_secs(5);

pub(in crate::siege) async fn run(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let sources = field.count(10, 3);
    let turns = field.count(500, 100);
    let text = corpus::text(&mut Numbers::new(field.seed), FILE_CHARS);
    for _ in 0..sources {
        let material = Material::File("large.txt", text.clone().into_bytes());
        let end = carry_through(&attacker, &agent, material, PATIENCE).await?;
        ensure!(end == End::Trained, "a source was {}", end.word());
    }
    let question = "q".repeat(4_000);
    let first = attacker.ask(&agent, &question).await;
    let id = first["conversation_id"].as_str().context("a reply without its conversation")?;
    let message = json!({ "agent_id": agent, "conversation_id": id, "message": question });
    for _ in 1..turns {
        attacker.post("/v1/conversations", message.clone()).await.expect(200);
    }
    sleep(PAUSE).await;
    let mut report = Report::default();
    let deletion = async {
        let begun = Instant::now();
        let path = format!("/v1/agents/{agent}");
        let status = attacker.request("DELETE", &path).try_send().await?.status;
        anyhow::Ok((status, begun.elapsed()))
    };
    let (status, took) = arena.besiege(&mut report, RISE_MIB, deletion).await??;
    report.check(status == 204, format!("the deletion was answered {status}"));
    report.attempted(format!(
        "an agent of {sources} sources of {} MB and {turns} turns deleted in {:.1} s",
        FILE_CHARS / 1_000_000,
        took.as_secs_f64()
    ));
    Ok(report)
}
