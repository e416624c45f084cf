//! Malformed HTTP requests, endless addresses, headers for caches, and streams during a stop.

use std::time::Duration;

use anyhow::Context as _;
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use cicerone_tests::raw::{Connection, exchange};
use serde_json::{Value, json};

use super::arena::Field;
use super::floods::streams::slow_stream;
use super::model;
use super::report::Report;
use super::sources::{Material, add};

/// The characters of the longest accepted address, and of a longer one.
const ADDRESS_CHARS: usize = 2_048;
const LONG_ADDRESS_CHARS: usize = 3_000_000;
/// How long a stopping server may take: requests in progress have 30 s.
const STOPPED: Duration = Duration::from_secs(45);

pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let server = field.server()?.env("OPENAI_BASE_URL", model::start().await?);
    let mut server = server.start();
    let client = server.account("caller");
    let agent = client.agent().await;
    let mut report = Report::default();
    malformed(&server, &mut report).await;
    no_store(&client, &mut report).await;
    addresses(&client, &agent, &mut report).await?;
    at_a_stop(&mut server, &client, &agent, &mut report).await?;
    Ok(report)
}

/// Every answer to malformed HTTP has the usual form of an error.
async fn malformed(server: &Server, report: &mut Report) {
    let long = "x".repeat(200_000);
    let requests = [
        ("no HTTP", "HELLO\r\n\r\n".to_owned()),
        ("a bad version", "GET / HTTP/9.9\r\nHost: here\r\n\r\n".to_owned()),
        ("a bad header", "GET / HTTP/1.1\r\nHost: here\r\nno colon\r\n\r\n".to_owned()),
        ("a long header", format!("GET / HTTP/1.1\r\nHost: here\r\nLong: {long}\r\n\r\n")),
        ("a long path", format!("GET /{long} HTTP/1.1\r\nHost: here\r\n\r\n")),
        (
            "two lengths",
            "POST /v1/agents HTTP/1.1\r\nHost: here\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"
                .to_owned(),
        ),
    ];
    for (what, request) in requests {
        let answer = exchange(server.address(), request).await;
        let status = answer.split(' ').nth(1).unwrap_or("nothing").to_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let is_whole = head.to_ascii_lowercase().contains("x-request-id: req_")
            && body["error"]["request_id"].is_string()
            && body["error"]["code"].is_string();
        report.attempted(format!("{what}: {status}"));
        report.check(is_whole, format!("{what} was answered {status} without a body or an id"));
    }
}

/// Caches may not store answers to requests with a key.
async fn no_store(client: &Client, report: &mut Report) {
    for path in ["/v1/agents", "/v1/api_keys", "/v1/agents/agent_0000000000"] {
        let answer = client.get(path).await;
        let cached = answer.header("cache-control").unwrap_or_default().to_owned();
        report.check(cached.contains("no-store"), format!("`{path}` may be cached: `{cached}`"));
    }
}

/// The length of website addresses is limited.
async fn addresses(client: &Client, agent: &str, report: &mut Report) -> anyhow::Result<()> {
    let start = "https://example.com/";
    for (chars, is_taken) in
        [(ADDRESS_CHARS, true), (ADDRESS_CHARS + 1, false), (LONG_ADDRESS_CHARS, false)]
    {
        let address = format!("{start}{}", "a".repeat(chars - start.len()));
        let added = add(client, agent, Material::Website(address)).await?;
        let status = added.as_ref().err().copied().unwrap_or(201);
        report.attempted(format!("an address of {chars} characters: {status}"));
        let wanted = if is_taken { 201 } else { 400 };
        report.check(status == wanted, format!("an address of {chars} characters: {status}"));
    }
    Ok(())
}

/// A stream that outlasts the grace period of a stop ends with an error event.
async fn at_a_stop(
    server: &mut Server,
    client: &Client,
    agent: &str,
    report: &mut Report,
) -> anyhow::Result<()> {
    client
        .post("/v1/conversations", json!({ "agent_id": agent, "message": "When?" }))
        .await
        .expect(200);
    let mut stream = Connection::open(server.address()).await;
    stream.send(slow_stream(client, agent)).await;
    stream.read_until("event: token").await;
    server.terminate();
    let rest = tokio::time::timeout(STOPPED, stream.read_to_end()).await;
    let rest = rest.context("the stream did not end with the server")?;
    let is_told = rest.contains("event: error");
    report.attempted(format!("a stream at a stop was {}", if is_told { "told" } else { "cut" }));
    report.check(is_told, "a stream was cut at a stop without `error`");
    server.wait();
    Ok(())
}
