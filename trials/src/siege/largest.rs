//! The largest sources that are accepted, one at a time, each on a separate server.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use cicerone_tests::client::Client;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::arena::{Arena, Field};
use super::documents::docx;
use super::report::{RISE_MIB, Report};
use super::sources::{Material, add};
use crate::bench::corpus::{self, Numbers};

/// Characters of the pairs, of the text file, and of the text in the DOCX file.
const PAIRS_CHARS: usize = 8_000_000;
const FILE_CHARS: usize = 10_000_000;
const DOCX_CHARS: usize = 10_000_000;
/// The number of pairs into which the characters are divided.
const PAIRS: usize = 400;
/// The longest that one may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// The pause between two searches for the new content.
const POLL: Duration = Duration::from_millis(500);
/// A word that occurs in every source here and in no other.
const WORD: &str = "xylophone";

pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let mut numbers = Numbers::new(field.seed);
    let answer = format!("{WORD} {}", corpus::text(&mut numbers, PAIRS_CHARS / PAIRS - 40));
    let pairs =
        (0..PAIRS).map(|at| json!({ "question": format!("When, {at}?"), "answer": answer }));
    let pairs = Value::Array(pairs.collect()).to_string();
    let file = format!("{WORD} {}", corpus::text(&mut numbers, FILE_CHARS));
    let paragraph = corpus::text(&mut numbers, 2_000).replace("\n\n", " ");
    let body = format!("<w:p><w:r><w:t>{WORD} {paragraph}</w:t></w:r></w:p>");
    let sources = [
        ("pairs", Material::Pairs(pairs)),
        ("text file", Material::File("large.txt", file.into_bytes())),
        ("DOCX file", Material::File("large.docx", docx(&body.repeat(DOCX_CHARS / 2_100))?)),
    ];
    let mut report = Report::default();
    for (name, material) in sources {
        let arena = Arena::open(&field, field.server()?).await?;
        let attacker = arena.attacker("attacker");
        let agent = attacker.agent().await;
        let attack = until_found(&attacker, &agent, material);
        let took = arena.besiege(&mut report, RISE_MIB, attack).await?;
        let took = took.with_context(|| name.to_owned())?;
        report.attempted(format!("{name}: found after {:.1} s", took.as_secs_f64()));
    }
    Ok(report)
}

/// Adds a source and waits until a search finds it. The source itself is not requested in the meantime: that would be
/// another large answer.
async fn until_found(client: &Client, agent: &str, material: Material) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    if let Err(status) = add(client, agent, material).await? {
        bail!("adding was answered {status}");
    }
    let path = format!("/v1/agents/{agent}/search");
    let query = json!({ "query": WORD, "limit": 1 });
    loop {
        let found = client.request("POST", &path).json(&query).try_send().await?;
        if found.json()["data"].as_array().is_some_and(|hits| !hits.is_empty()) {
            return Ok(begun.elapsed());
        }
        if begun.elapsed() > PATIENCE {
            bail!("it was not found after {} s", PATIENCE.as_secs());
        }
        sleep(POLL).await;
    }
}
