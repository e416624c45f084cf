//! What one writer was told is done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use serde_json::Value;

/// A request whose answer did not come: it may or may not have had its effect, and is repeated
/// with the same key until it is known.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) body: Option<Value>,
    pub(super) key: String,
}

/// A conversation as it was acknowledged.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    pub(super) agent: String,
    pub(super) messages: Vec<String>,
}

/// Everything that one writer knows to be there, or to be gone.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) number: usize,
    pub(super) requests: u64,
    pub(super) agents: BTreeMap<String, String>,
    pub(super) sources: BTreeMap<String, String>,
    pub(super) conversations: BTreeMap<String, Exchange>,
    pub(super) gone: BTreeSet<String>,
    pub(super) pending: Option<Pending>,
    acknowledged: usize,
}

impl Model {
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            requests: 0,
            agents: BTreeMap::new(),
            sources: BTreeMap::new(),
            conversations: BTreeMap::new(),
            gone: BTreeSet::new(),
            pending: None,
            acknowledged: 0,
        }
    }

    pub(super) const fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// Takes the answer of a request into the books.
    pub(super) fn acknowledge(&mut self, request: &Pending, answer: &Value) -> anyhow::Result<()> {
        self.acknowledged += 1;
        let id = answer["id"].as_str().map(str::to_owned);
        let sent = |name: &str| {
            let value = request.body.as_ref().and_then(|body| body[name].as_str());
            value.unwrap_or_default().to_owned()
        };
        let last = request.path.rsplit('/').next().unwrap_or_default().to_owned();
        match (request.method, request.path.as_str()) {
            ("POST", "/v1/agents") | ("PATCH", _) => {
                self.agents.insert(id.context("no id")?, sent("name"));
            }
            ("POST", "/v1/conversations") => {
                let exchange = self.conversations.entry(id.context("no id")?).or_default();
                exchange.agent = sent("agent_id");
                exchange.messages.push(sent("message"));
                exchange.messages.push(answer["reply"].as_str().unwrap_or_default().to_owned());
            }
            ("POST", _) => {
                self.sources.insert(id.context("no id")?, sent("content"));
            }
            ("DELETE", _) => {
                self.sources.remove(&last);
                self.conversations.remove(&last);
                self.gone.insert(request.path.clone());
            }
            (other, path) => anyhow::bail!("no books are kept for {other} {path}"),
        }
        Ok(())
    }

    /// How many of its sources are on their way.
    pub(super) async fn moving(&self, client: &Client) -> anyhow::Result<usize> {
        let mut moving = 0;
        for agent in self.agents.keys() {
            for status in ["pending", "processing"] {
                let path = format!("/v1/agents/{agent}/sources?page_size=100&status={status}");
                let list = client.get(&path).await.expect(200);
                moving += list["data"].as_array().context("a list has no data")?.len();
            }
        }
        Ok(moving)
    }

    /// Waits until none of its sources is on its way.
    pub(super) async fn wait_until_still(&self, client: &Client) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(5);
        while self.moving(client).await? > 0 {
            ensure!(Instant::now() < deadline, "sources are still on their way");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Checks all of it against the server.
    pub(super) async fn verify(&mut self, client: &Client) -> anyhow::Result<()> {
        for (id, name) in &self.agents {
            let agent = client.get(&format!("/v1/agents/{id}")).await.expect(200);
            ensure!(agent["name"] == name.as_str(), "agent `{id}` lost its name `{name}`: {agent}");
        }
        for (id, content) in &self.sources {
            let source = client.get(&format!("/v1/sources/{id}")).await.expect(200);
            ensure!(source["content"] == content.as_str(), "source `{id}` lost its content");
            let status = &source["status"];
            ensure!(["trained", "pending", "processing"].iter().any(|s| status == s), "{source}");
        }
        for (id, expected) in &self.conversations {
            let found = client.get(&format!("/v1/conversations/{id}")).await.expect(200);
            let messages = found["messages"].as_array().context("no messages")?;
            let texts = messages.iter().map(|message| message["content"].as_str());
            let kept: Vec<&str> = texts.map(Option::unwrap_or_default).collect();
            let expected = &expected.messages;
            ensure!(kept == *expected, "conversation `{id}`: {kept:?} instead of {expected:?}");
        }
        for path in &self.gone {
            client.get(path).await.refused(404, "resource_not_found");
        }
        Ok(())
    }
}
