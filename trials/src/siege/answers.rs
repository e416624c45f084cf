//! Answers that could be large: lists of large sources and long conversations.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::arena::{Arena, Field};
use super::connections;
use super::report::{RISE_MIB, Report};
use super::sources::{Material, add, ended};

/// The largest answer with more than one item, in bytes: 4 MiB and the envelope.
const ANSWER_BYTES: usize = 4 * 1_024 * 1_024 + 4_096;
/// Large sources, and the characters of each.
const SOURCES: usize = 12;
const SOURCE_CHARS: usize = 7_000_000;
/// Readers that never read their answers.
const READERS: usize = 8;
/// Turns of a long conversation, and the four-byte characters of a message.
const TURNS: usize = 4_000;
const MESSAGE_CHARS: usize = 4_000;
/// The longest that a large source may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Lists of twelve large sources, read completely and not at all.
pub(super) async fn lists(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    let count = field.count(SOURCES, 4);
    let mut source = String::new();
    for _ in 0..count {
        source = large_source(&attacker, &agent).await?;
    }
    let mut report = Report::default();
    let path = format!("/v1/agents/{agent}/sources");
    let paths = [
        path.clone(),
        format!("/v1/sources/{source}/documents"),
        format!("/v1/sources/{source}/passages?page_size=100"),
    ];
    let time = field.seconds(20, 5);
    let request = get(&path, &attacker);
    let attack = async {
        // One after the other: the account's earlier readers may use up its memory.
        let read = read(&attacker, &paths).await;
        connections::hold(arena.server.address(), READERS, 1, &request, time).await;
        read
    };
    let read = arena.besiege(&mut report, RISE_MIB, attack).await?;
    for (path, bytes, items) in read? {
        let name = path.rsplit('/').next().unwrap_or_default();
        report.check(
            bytes <= ANSWER_BYTES || items == 1,
            format!("`{name}` answered {items} items in {} kB", bytes / 1_000),
        );
        report.attempted(format!("{name}: {items} items, {} kB", bytes / 1_000));
    }
    report.attempted(format!("{READERS} readers that read nothing of {count} large sources"));
    arena.rest(&mut report).await?;
    Ok(report)
}

/// Adds pairs with long answers. Returns the source's id.
async fn large_source(client: &Client, agent: &str) -> anyhow::Result<String> {
    let answer: String =
        "The museum opens at nine. ".chars().cycle().take(SOURCE_CHARS / 4).collect();
    let pairs: Vec<_> = (0..4)
        .map(|number| json!({ "question": format!("When, {number}?"), "answer": answer }))
        .collect();
    let material = Material::Pairs(Value::Array(pairs).to_string());
    let added = add(client, agent, material).await?;
    let id = added.map_err(|status| anyhow::anyhow!("a large source was answered {status}"))?;
    ended(client, &id, PATIENCE).await?;
    Ok(id)
}

/// Reads whole lists. Returns the bytes and items of the first page of each.
async fn read(client: &Client, paths: &[String]) -> anyhow::Result<Vec<(String, usize, usize)>> {
    let mut pages = Vec::new();
    for path in paths {
        let answer = client.request("GET", path).try_send().await.context("reading a list")?;
        ensure!(answer.status == 200, "`{path}` was answered {}", answer.status);
        let items = answer.json()["data"].as_array().map_or(0, Vec::len);
        pages.push((path.clone(), answer.body.len(), items));
    }
    Ok(pages)
}

/// A conversation of 4,000 turns, read as a whole and page by page.
pub(super) async fn turns(field: Field) -> anyhow::Result<Report> {
    let arena = Arena::open(&field, field.server()?).await?;
    let attacker = arena.attacker("attacker");
    let agent = attacker.agent().await;
    attacker.text(&agent, "The museum opens at nine.").await;
    let first = attacker.ask(&agent, "When does the museum open?").await;
    let id = first["conversation_id"].as_str().context("a reply without its conversation")?;
    let count = field.count(TURNS, 400);
    // One after the other: turns of one conversation never overlap.
    let message = json!({
        "agent_id": agent, "conversation_id": id, "message": "\u{1f980}".repeat(MESSAGE_CHARS),
    });
    for _ in 0..count {
        attacker.post("/v1/conversations", message.clone()).await.expect(200);
    }
    let path = format!("/v1/conversations/{id}");
    let mut report = Report::default();
    let (whole, pages) =
        arena.besiege(&mut report, RISE_MIB, page_through(&attacker, &path)).await??;
    report.attempted(format!(
        "a conversation of {count} turns: {} kB at once, {} messages over {} more pages",
        whole / 1_000,
        pages.1,
        pages.0
    ));
    report.check(whole <= ANSWER_BYTES, format!("it was answered in {} kB at once", whole / 1_000));
    // Each turn is a message and its reply; the first turn too.
    report.check(
        pages.1 == 2 * (count + 1),
        format!("{} of {} messages were found over all pages", pages.1, 2 * (count + 1)),
    );
    arena.rest(&mut report).await?;
    Ok(report)
}

/// Reads the conversation as a whole eight times at once, then the older messages page by page.
/// Returns the bytes of the whole, and the number of pages and messages.
async fn page_through(client: &Client, path: &str) -> anyhow::Result<(usize, (usize, usize))> {
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let request = client.request("GET", path);
        readers.spawn(async move { request.try_send().await.map(|answer| answer.body.len()) });
    }
    readers.join_all().await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let answer = client.request("GET", path).try_send().await?;
    let whole = answer.json();
    let mut messages = whole["messages"].as_array().map_or(0, Vec::len);
    let mut cursor = whole["messages_cursor"].as_str().map(str::to_owned);
    let mut pages = 0;
    while let Some(at) = cursor {
        let older = client.request("GET", &format!("{path}/messages?cursor={at}&page_size=100"));
        let older = older.try_send().await?;
        ensure!(older.status == 200, "a page of messages was answered {}", older.status);
        let older = older.json();
        pages += 1;
        messages += older["data"].as_array().map_or(0, Vec::len);
        cursor = older["next_cursor"].as_str().map(str::to_owned);
    }
    Ok((answer.body.len(), (pages, messages)))
}

/// A complete request with the client's key.
pub(super) fn get(path: &str, client: &Client) -> String {
    let key = client.key().unwrap_or_default();
    format!("GET {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {key}\r\n\r\n")
}
