//! Identical requests at the same time: one effect, and the same answer to all that are answered.

use anyhow::{bail, ensure};
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use crate::program;

/// How many rounds and requests.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// Rounds
    #[arg(long, default_value_t = 50)]
    rounds: usize,
    /// Concurrent identical requests
    #[arg(long, default_value_t = 64)]
    requests: usize,
}

/// Runs the rounds on the release binary; creates an agent, adds a source and sends a message in
/// turn. Returns an error if a round did not have exactly one effect.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let server = Server::of(&program).start();
    let client = server.client();
    let agent = client.agent().await;
    client.text(&agent, "The museum opens at nine.").await;
    let sources = format!("/v1/agents/{agent}/sources");
    let conversations = format!("/v1/agents/{agent}/conversations");
    let mut refused = 0;
    for round in 0..arguments.rounds {
        let (path, list, body) = match round % 3 {
            0 => ("/v1/agents", "/v1/agents", json!({ "name": format!("Guide {round}") })),
            1 => {
                let body = json!({ "type": "text", "content": format!("Room {round} is blue.") });
                (sources.as_str(), sources.as_str(), body)
            }
            _ => {
                let body = json!({ "agent_id": agent, "message": "When does the museum open?" });
                ("/v1/conversations", conversations.as_str(), body)
            }
        };
        let before = client.list_all(list, 100).await.len();
        refused += at_once(&client, path, &body, round, arguments.requests).await?;
        let after = client.list_all(list, 100).await.len();
        ensure!(after == before + 1, "round {round}: {} effects instead of one", after - before);
    }
    println!(
        "{} rounds of {} requests: one effect each, {refused} answered 409",
        arguments.rounds, arguments.requests
    );
    Ok(())
}

/// Sends the same request many times at once; returns how many were answered 409.
async fn at_once(
    client: &Client,
    path: &str,
    body: &serde_json::Value,
    round: usize,
    requests: usize,
) -> anyhow::Result<usize> {
    let key = format!("round-{round}");
    let mut tasks = JoinSet::new();
    for _ in 0..requests {
        let request = client.request("POST", path).idempotent(&key).json(body);
        tasks.spawn(request.send());
    }
    let mut first = None;
    let mut refused = 0;
    while let Some(answer) = tasks.join_next().await {
        let answer = answer?;
        match answer.status {
            200 | 201 => {
                let kept = first.get_or_insert_with(|| answer.body.clone());
                ensure!(*kept == answer.body, "round {round}: two answers differ");
            }
            409 => refused += 1,
            other => bail!("round {round}: status {other}: {}", answer.text()),
        }
    }
    ensure!(first.is_some(), "round {round}: no request was answered");
    Ok(refused)
}
