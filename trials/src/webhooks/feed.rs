//! Writers that add sources. Each request is repeated until it is acknowledged, however often the
//! server is killed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use cicerone_tests::client::Client;
use serde_json::{Value, json};
use tokio::sync::watch;

/// How long one source may take to be acknowledged.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause before a request is sent again.
const PAUSE: Duration = Duration::from_millis(50);
/// How often a request is sent with a claimed key before it gets a new one, if a killed server may
/// have left the claim.
const HELD: usize = 20;

/// The state that the writers share.
pub(super) struct Feed {
    sources: usize,
    agents: Vec<String>,
    /// A client of the currently running server.
    client: watch::Receiver<Client>,
    /// Whether a killed server's claims of keys remain. Such a claim has had no effect and never
    /// will.
    is_shared: bool,
    begun: AtomicUsize,
    acknowledged: AtomicUsize,
}

impl Feed {
    /// This many sources, distributed over these agents.
    pub(super) fn new(
        sources: usize,
        agents: Vec<String>,
        client: watch::Receiver<Client>,
        is_shared: bool,
    ) -> Self {
        let (begun, acknowledged) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { sources, agents, client, is_shared, begun, acknowledged }
    }

    /// How many were acknowledged.
    pub(super) fn acknowledged(&self) -> usize {
        self.acknowledged.load(Ordering::Relaxed)
    }

    /// Adds a source. Returns its id.
    async fn add(&self, number: usize) -> anyhow::Result<String> {
        let agent = self.agents.get(number % self.agents.len().max(1)).context("no agents")?;
        let path = format!("/v1/agents/{agent}/sources");
        let content = format!("Hall {number} of the museum shows painting number {number}.");
        let body = json!({ "type": "text", "content": content });
        let deadline = Instant::now() + PATIENCE;
        let mut held = 0;
        while Instant::now() < deadline {
            let client = self.client.borrow().clone();
            let renewed = if self.is_shared { held / HELD } else { 0 };
            let key = format!("source-{number}-{renewed}");
            let request = client.request("POST", &path).idempotent(&key).json(&body);
            // If the connection breaks, the server is being restarted.
            if let Ok(answer) = request.try_send().await {
                match answer.status {
                    201 => return id(&answer.json()),
                    409 => held += 1,
                    503 => {}
                    other => bail!("POST {path}: status {other}: {}", answer.text()),
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        bail!("source {number} is not acknowledged within {PATIENCE:?}")
    }
}

/// Adds sources until there are enough. Returns the ids of those that it added.
pub(super) async fn write(feed: Arc<Feed>) -> anyhow::Result<Vec<String>> {
    let mut added = Vec::new();
    loop {
        let number = feed.begun.fetch_add(1, Ordering::Relaxed);
        if number >= feed.sources {
            return Ok(added);
        }
        added.push(feed.add(number).await?);
        feed.acknowledged.fetch_add(1, Ordering::Relaxed);
    }
}

fn id(source: &Value) -> anyhow::Result<String> {
    Ok(source["id"].as_str().context("a source without an id")?.to_owned())
}
