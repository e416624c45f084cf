//! Answers right after a change: the first question after `trained` uses the new content, and the
//! first one after a deletion does not use the old content.

use anyhow::bail;
use cicerone_tests::client::Client;
use cicerone_tests::process::Server;
use clap::Args;
use serde_json::Value;

use crate::program;

/// How many rounds to run, and on which server.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// Rounds of add, ask, delete, ask
    #[arg(long, default_value_t = 1_000)]
    rounds: usize,
}

/// Runs the rounds on the release binary. In every third round, the index folder is deleted before
/// each question. Returns an error if any answer is wrong.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let program = arguments.server.program()?;
    let server = Server::of(&program).start();
    let client = server.client();
    let small = client.agent().await;
    let large = client.agent().await;
    client.text(&large, &"The river carries stones to the sea. ".repeat(2_000)).await;
    for agent in [&small, &large] {
        client.text(agent, "The museum opens at nine. On Mondays it is closed.").await;
    }
    let mut misses = 0;
    for round in 0..arguments.rounds {
        let wipe = round % 3 == 2;
        // The index of the small agent is in memory.
        let agent = if wipe || round % 2 == 0 { &large } else { &small };
        misses += self::round(&server, &client, agent, round, wipe).await?;
        if (round + 1) % 100 == 0 {
            println!("{} rounds, {misses} misses", round + 1);
        }
    }
    if misses > 0 {
        bail!("{misses} of {} answers missed", arguments.rounds * 2);
    }
    println!("{} rounds, every answer from the current content", arguments.rounds);
    Ok(())
}

async fn round(
    server: &Server,
    client: &Client,
    agent: &str,
    round: usize,
    wipe: bool,
) -> anyhow::Result<usize> {
    let code = format!("zq{round}x");
    let text = format!("The combination of vault number {round} is {code}. Keep it safe.");
    let question = format!("What is the combination of vault number {round}?");
    let mut misses = 0;

    let source = client.text(agent, &text).await;
    if wipe {
        server.remove_index();
    }
    let answer = client.ask(agent, &question).await;
    if !names(&answer, &source) || !reply(&answer).contains(&code) {
        println!("round {round}: the new content was not used: {answer}");
        misses += 1;
    }

    client.delete(&format!("/v1/sources/{source}")).await.expect_nothing();
    if wipe {
        server.remove_index();
    }
    let answer = client.ask(agent, &question).await;
    if names(&answer, &source) || reply(&answer).contains(&code) {
        println!("round {round}: deleted content was used: {answer}");
        misses += 1;
    }
    Ok(misses)
}

fn reply(answer: &Value) -> &str {
    answer["reply"].as_str().unwrap_or_default()
}

fn names(answer: &Value, source: &str) -> bool {
    answer["sources_used"].as_array().is_some_and(|used| used.iter().any(|one| one["id"] == source))
}
