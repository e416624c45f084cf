//! Agents with one text each, made over few connections.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use cicerone_tests::process::Server;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::bench::caller::{Caller, id};
use crate::bench::corpus::{self, Numbers};
use crate::bench::request;

/// Agents that are made at the same time.
const AT_ONCE: usize = 32;
/// Characters of each text.
pub(super) const TEXT_CHARS: usize = 1_000;
/// The longest that all sources may take.
const PATIENCE: Duration = Duration::from_secs(900);
/// The pause between two looks at a source.
const PAUSE: Duration = Duration::from_millis(20);

/// An agent, whose text follows from its number.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Made {
    number: usize,
    agent: String,
}

fn text(number: usize) -> String {
    corpus::text(&mut Numbers::new(1_000 + number as u64), TEXT_CHARS)
}

impl Made {
    /// A request with a new question, so that few agents have no advantage of cached results. The address of a server changes
    /// with each start.
    pub(super) fn request(&self, server: &Server, numbers: &mut Numbers) -> Vec<u8> {
        let question = corpus::new_question(numbers, &text(self.number));
        request(server, &self.agent, &question)
    }
}

/// Makes agents until there are this many, and waits until all sources are trained.
pub(super) async fn agents(
    server: SocketAddr,
    made: &mut Vec<Made>,
    count: usize,
) -> anyhow::Result<()> {
    let mut tasks = JoinSet::new();
    for first in 0..AT_ONCE {
        let numbers = (made.len() + first..count).step_by(AT_ONCE);
        tasks.spawn(async move {
            let mut caller = Caller::connect(server).await?;
            let (mut some, mut sources) = (Vec::new(), Vec::new());
            for number in numbers {
                let (one, source) = make(&mut caller, number).await?;
                some.push(one);
                sources.push(source);
            }
            // The source that was added last is trained last, or nearly so.
            for source in sources.iter().rev() {
                trained(&mut caller, source).await?;
            }
            anyhow::Ok(some)
        });
    }
    while let Some(some) = tasks.join_next().await {
        made.extend(some.context("making agents")??);
    }
    made.sort_unstable();
    Ok(())
}

async fn make(caller: &mut Caller, number: usize) -> anyhow::Result<(Made, String)> {
    let name = json!({ "name": format!("Guide {number}") });
    let agent = id(&caller.call("POST", "/v1/agents", &name, 201).await?)?;
    let path = format!("/v1/agents/{agent}/sources");
    let source = json!({ "type": "text", "content": text(number) });
    let source = id(&caller.call("POST", &path, &source, 201).await?)?;
    Ok((Made { number, agent }, source))
}

async fn trained(caller: &mut Caller, source: &str) -> anyhow::Result<()> {
    let (path, began) = (format!("/v1/sources/{source}"), Instant::now());
    loop {
        let found = caller.call("GET", &path, &Value::Null, 200).await?;
        match found["status"].as_str() {
            Some("trained") => return Ok(()),
            Some("failed") => bail!("a text failed: {}", found["error_message"]),
            _ => ensure!(began.elapsed() < PATIENCE, "a text was not trained in time"),
        }
        sleep(PAUSE).await;
    }
}
