//! How fast sources are learned.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::{Builder, Server};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::caller::Caller;
use super::corpus::{self, Numbers};
use super::memory;

/// Texts of the size of a paragraph, and clients that add them.
const TEXTS: usize = 2_067;
const TEXT_CHARS: usize = 750;
const CLIENTS: usize = 16;
/// Texts in bulk.
const BULK: usize = 40;
const BULK_CHARS: usize = 95_000;
/// Characters of a token, about.
const TOKEN_CHARS: f64 = 4.0;
/// The longest that a source may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause between two looks at a source.
const PAUSE: Duration = Duration::from_millis(2);

/// Adds paragraphs as texts by several clients, and returns the seconds until all of them are trained, and the
/// resident memory afterwards in MiB.
pub(super) async fn paragraphs(server: Builder) -> anyhow::Result<(f64, f64)> {
    let server = server.start();
    let client = server.client();
    let agent = client.agent().await;
    let mut numbers = Numbers::new(23);
    let texts: Vec<String> = (0..TEXTS).map(|_| corpus::text(&mut numbers, TEXT_CHARS)).collect();
    let took = learn(server.address(), &agent, texts).await?;
    Ok((took.as_secs_f64(), memory::of(server.pid())?.resident_mib()))
}

/// Adds long texts, and returns the tokens that are learned per second.
pub(super) async fn bulk(server: Builder) -> anyhow::Result<f64> {
    let server = server.start();
    let client = server.client();
    let agent = client.agent().await;
    let mut numbers = Numbers::new(29);
    let texts: Vec<String> = (0..BULK).map(|_| corpus::text(&mut numbers, BULK_CHARS)).collect();
    let chars: usize = texts.iter().map(String::len).sum();
    let took = learn(server.address(), &agent, texts).await?;
    Ok(chars as f64 / TOKEN_CHARS / took.as_secs_f64())
}

/// Adds one text, and returns the milliseconds until a client that asks all the time sees it trained.
pub(super) async fn one(
    server: &Server,
    agent: &str,
    numbers: &mut Numbers,
) -> anyhow::Result<f64> {
    let client = server.client();
    let text = corpus::text(numbers, 100_000);
    let began = Instant::now();
    let id = add(&client, agent, &text).await?;
    trained(&client, &id).await?;
    Ok(began.elapsed().as_secs_f64() * 1_000.0)
}

/// Adds a text and returns the id of its source.
async fn add(client: &Client, agent: &str, text: &str) -> anyhow::Result<String> {
    let path = format!("/v1/agents/{agent}/sources");
    let body = json!({ "type": "text", "content": text });
    let added = client.request("POST", &path).json(&body).try_send().await?;
    ensure!(added.status == 201, "a text was answered {}", added.status);
    Ok(added.json()["id"].as_str().context("a source without an id")?.to_owned())
}

/// Waits until a source is trained.
async fn trained(client: &Client, id: &str) -> anyhow::Result<()> {
    let (path, began) = (format!("/v1/sources/{id}"), Instant::now());
    loop {
        let source = client.get(&path).await.expect(200);
        match source["status"].as_str() {
            Some("trained") => return Ok(()),
            Some("failed") => bail!("a text failed: {}", source["error_message"]),
            _ => ensure!(began.elapsed() < PATIENCE, "a text was not trained in time"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Adds texts by [`CLIENTS`] clients, and waits until all are trained.
pub(super) async fn learn(
    address: SocketAddr,
    agent: &str,
    texts: Vec<String>,
) -> anyhow::Result<Duration> {
    let (began, count) = (Instant::now(), texts.len());
    let path = format!("/v1/agents/{agent}/sources");
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let path = path.clone();
        let own: Vec<String> = texts.iter().skip(number).step_by(CLIENTS).cloned().collect();
        clients.spawn(async move {
            let mut caller = Caller::connect(address).await?;
            for text in own {
                let body = json!({ "type": "text", "content": text });
                caller.call("POST", &path, &body, 201).await?;
            }
            anyhow::Ok(())
        });
    }
    for outcome in clients.join_all().await {
        outcome?;
    }
    let mut caller = Caller::connect(address).await?;
    // A source is pending, then processing, then trained.
    for status in ["pending", "processing"] {
        while some(&mut caller, &path, status).await? {
            ensure!(began.elapsed() < PATIENCE, "texts were not trained in time");
            tokio::time::sleep(PAUSE).await;
        }
    }
    let took = began.elapsed();
    let trained = count_trained(&mut caller, &path).await?;
    ensure!(trained >= count, "{trained} of {count} texts are trained");
    Ok(took)
}

/// How many sources are trained.
async fn count_trained(caller: &mut Caller, path: &str) -> anyhow::Result<usize> {
    let (mut count, mut cursor) = (0, String::new());
    loop {
        let page = format!("{path}?page_size=100&status=trained{cursor}");
        let listed = caller.call("GET", &page, &Value::Null, 200).await?;
        count += listed["data"].as_array().map_or(0, Vec::len);
        match listed["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(count),
        }
    }
}

/// Whether some source has this status.
async fn some(caller: &mut Caller, path: &str, status: &str) -> anyhow::Result<bool> {
    let path = format!("{path}?page_size=1&status={status}");
    let listed = caller.call("GET", &path, &Value::Null, 200).await?;
    Ok(listed["data"].as_array().is_some_and(|sources| !sources.is_empty()))
}
