//! What the server has acknowledged to one writer.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use serde_json::Value;

/// A request whose answer did not arrive: it may or may not have had an effect, and is repeated
/// with the same key until its outcome is known.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    pub(crate) key: String,
}

impl Pending {
    /// A string in the body that it sends.
    fn sent(&self, name: &str) -> String {
        let value = self.body.as_ref().and_then(|body| body[name].as_str());
        value.unwrap_or_default().to_owned()
    }
}

/// An acknowledged source.
#[derive(Debug)]
pub(crate) struct Added {
    pub(crate) agent: String,
    pub(crate) content: String,
}

/// An acknowledged conversation.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) agent: String,
    pub(crate) messages: Vec<String>,
}

/// Everything that one writer knows to exist, or to be deleted.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) number: usize,
    pub(crate) requests: u64,
    /// The names of agents.
    pub(crate) agents: BTreeMap<String, String>,
    pub(crate) sources: BTreeMap<String, Added>,
    pub(crate) conversations: BTreeMap<String, Exchange>,
    /// The descriptions of webhook endpoints.
    pub(crate) endpoints: BTreeMap<String, String>,
    /// The paths of deleted objects, in order.
    pub(crate) gone: Vec<String>,
    /// How many of them were checked so far.
    pub(super) looked_for: usize,
    pub(super) pending: Option<Pending>,
    acknowledged: usize,
}

impl Model {
    /// The empty model of the writer with this number.
    pub(crate) const fn new(number: usize) -> Self {
        Self {
            number,
            requests: 0,
            agents: BTreeMap::new(),
            sources: BTreeMap::new(),
            conversations: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            gone: Vec::new(),
            looked_for: 0,
            pending: None,
            acknowledged: 0,
        }
    }

    /// How many requests were acknowledged.
    pub(crate) const fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// Records the answer of a request.
    pub(crate) fn acknowledge(&mut self, request: &Pending, answer: &Value) -> anyhow::Result<()> {
        self.acknowledged += 1;
        let id = || answer["id"].as_str().map(str::to_owned).context("no id");
        match (request.method, request.path.as_str()) {
            ("POST", "/v1/agents") | ("PATCH", _) => {
                self.agents.insert(id()?, request.sent("name"));
            }
            ("POST", "/v1/conversations") => {
                let exchange = self.conversations.entry(id()?).or_default();
                exchange.agent = request.sent("agent_id");
                exchange.messages.push(request.sent("message"));
                exchange.messages.push(answer["reply"].as_str().unwrap_or_default().to_owned());
            }
            ("POST", "/v1/webhook_endpoints") => {
                self.endpoints.insert(id()?, request.sent("description"));
            }
            ("POST", path) => {
                // /v1/agents/{agent_id}/sources
                let agent = path.split('/').nth(3).context("no agent")?.to_owned();
                self.sources.insert(id()?, Added { agent, content: request.sent("content") });
            }
            ("DELETE", path) => self.delete(path),
            (other, path) => bail!("{other} {path} is not modelled"),
        }
        Ok(())
    }

    fn delete(&mut self, path: &str) {
        let id = path.rsplit('/').next().unwrap_or_default();
        self.sources.remove(id);
        self.conversations.remove(id);
        self.endpoints.remove(id);
        if self.agents.remove(id).is_some() {
            self.delete_all_of(id);
        }
        self.gone.push(path.to_owned());
    }

    /// Deleting an agent deletes everything that belongs to it.
    fn delete_all_of(&mut self, agent: &str) {
        let gone = &mut self.gone;
        self.sources.retain(|id, source| {
            let stays = source.agent != agent;
            if !stays {
                gone.push(format!("/v1/sources/{id}"));
            }
            stays
        });
        self.conversations.retain(|id, exchange| {
            let stays = exchange.agent != agent;
            if !stays {
                gone.push(format!("/v1/conversations/{id}"));
            }
            stays
        });
    }
}
