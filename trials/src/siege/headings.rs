//! Sources with one very long heading above very many short sections: copying the heading for each
//! section would use up the memory.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::site::{Resource, Site};
use serde_json::json;

use super::arena::{Arena, Field};
use super::report::{RISE_MIB, Report};
use super::sources::{End, Material, carry_through};

/// The longest that such a source may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// The page: characters of its heading, and number of its sections.
const PAGE: (usize, usize) = (750_000, 30_000);
const FILE: (usize, usize) = (1_500_000, 40_000);
/// The text. Its characters have three bytes each, and count as one.
const TEXT: (usize, usize) = (60_000, 6_500);
/// Characters of the question of a pair.
const QUESTION: usize = 7_000_000;

pub(super) async fn text(field: Field) -> anyhow::Result<Report> {
    let text = markdown(TEXT.0, TEXT.1, "館");
    anyhow::ensure!(text.chars().count() <= 100_000, "the text is longer than a text may be");
    besiege(&field, Material::Text(text), &[]).await
}

/// As a `file` of text.
pub(super) async fn file(field: Field) -> anyhow::Result<Report> {
    let text = markdown(FILE.0, FILE.1, "museum ");
    besiege(&field, Material::File("long.md", text.into_bytes()), &[]).await
}

/// As a `website`.
pub(super) async fn page(field: Field) -> anyhow::Result<Report> {
    let site = Site::start().await;
    let mut page =
        format!("<!doctype html><html><body><main><h1>{}</h1>", words(PAGE.0, "museum "));
    for number in 0..PAGE.1 {
        write!(page, "<h2>{number}</h2><p>at {number}</p>").context("writing to a string")?;
    }
    site.put("/", Resource::html(page + "</main></body></html>"));
    besiege(&field, Material::Website(site.url("/")), &[]).await
}

/// As `qa`: a question of that size is refused.
pub(super) async fn pairs(field: Field) -> anyhow::Result<Report> {
    let pairs = json!([{ "question": words(QUESTION, "museum "), "answer": "At nine." }]);
    besiege(&field, Material::Pairs(pairs.to_string()), &[End::Refused(422)]).await
}

/// Adds the source while the victim is served. It must end in one of these ways; if the list is
/// empty, any end is accepted.
async fn besiege(field: &Field, material: Material, ends: &[End]) -> anyhow::Result<Report> {
    let server = field.server()?.env("CICERONE_EGRESS_ALLOW", "127.0.0.0/8");
    let arena = Arena::open(field, server).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let mut report = Report::default();
    report.attempted(size(&material));
    let attack = carry_through(&attacker, &agent, material, PATIENCE);
    let end = arena.besiege(&mut report, RISE_MIB, attack).await??;
    report.attempted(end.word());
    report.check(ends.is_empty() || ends.contains(&end), format!("it was {}", end.word()));
    Ok(report)
}

fn size(material: &Material) -> String {
    match material {
        Material::Text(text) => format!("a text of {} kB", text.len() / 1_000),
        Material::Pairs(text) => format!("a question of {} kB", text.len() / 1_000),
        Material::Website(_) => format!("a page: h1 of {} kB, {} h2", PAGE.0 / 1_000, PAGE.1),
        Material::File(_, bytes) => format!("a file of {} kB", bytes.len() / 1_000),
    }
}

/// A long heading and short sections, in Markdown.
fn markdown(chars: usize, sections: usize, word: &str) -> String {
    let mut text = format!("# {}\n\n", words(chars, word));
    for _ in 0..sections {
        text.push_str("## a\n\n");
    }
    text + "The museum opens at nine.\n"
}

/// Words of `chars` characters in total.
fn words(chars: usize, word: &str) -> String {
    word.chars().cycle().take(chars).collect()
}
