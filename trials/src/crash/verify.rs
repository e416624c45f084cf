//! Compares the models with the server.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use cicerone_tests::client::Client;
use serde_json::Value;

use super::model::Model;
use super::random_below;

/// The states of sources that are still being processed.
pub(super) const ON_THEIR_WAY: [&str; 2] = ["pending", "processing"];
/// How many of the objects that were already checked to be deleted are checked again.
const DELETED_AGAIN: usize = 50;
/// The page size for reading lists.
const PAGE: usize = 100;

impl Model {
    /// Its sources in one of these states. Excludes those of an agent that may be deleted, because
    /// the answer to its deletion was cut off.
    pub(crate) async fn sources_in(&self, client: &Client, states: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        let is_doubtful = |agent: &String| {
            let pending = self.pending.as_ref();
            pending.is_some_and(|request| {
                request.method == "DELETE" && request.path == format!("/v1/agents/{agent}")
            })
        };
        for agent in self.agents.keys().filter(|agent| !is_doubtful(agent)) {
            for state in states {
                let path = format!("/v1/agents/{agent}/sources?status={state}");
                let list = client.list_all(&path, PAGE).await;
                let ids = list.iter().filter_map(|source| source["id"].as_str());
                found.extend(ids.map(str::to_owned));
            }
        }
        found
    }

    /// Checks the whole model against the server; each source must be in one of these states. All
    /// newly deleted objects are checked, and some of the earlier ones.
    pub(crate) async fn verify(&mut self, client: &Client, states: &[&str]) -> anyhow::Result<()> {
        for (id, name) in &self.agents {
            let agent = client.get(&format!("/v1/agents/{id}")).await.expect(200);
            ensure!(agent["name"] == name.as_str(), "agent `{id}` lost its name `{name}`: {agent}");
        }
        for (id, added) in &self.sources {
            let source = client.get(&format!("/v1/sources/{id}")).await.expect(200);
            let content = added.content.as_str();
            ensure!(source["content"] == content, "source `{id}` lost its content");
            let state = source["status"].as_str().unwrap_or_default();
            ensure!(states.contains(&state), "source `{id}` is `{state}`: {source}");
        }
        for (id, expected) in &self.conversations {
            let found = client.get(&format!("/v1/conversations/{id}")).await.expect(200);
            let messages = found["messages"].as_array().context("no messages")?;
            let texts = messages.iter().map(|message| message["content"].as_str());
            let kept: Vec<&str> = texts.map(Option::unwrap_or_default).collect();
            let expected = &expected.messages;
            ensure!(kept == *expected, "conversation `{id}`: {kept:?} instead of {expected:?}");
        }
        for (id, description) in &self.endpoints {
            let found = client.get(&format!("/v1/webhook_endpoints/{id}")).await.expect(200);
            let kept = &found["description"];
            ensure!(kept == description.as_str(), "endpoint `{id}`: {kept} is not `{description}`");
        }
        self.look_for_deleted(client).await;
        Ok(())
    }

    async fn look_for_deleted(&mut self, client: &Client) {
        let (old, new) = self.gone.split_at(self.looked_for.min(self.gone.len()));
        for path in new {
            client.get(path).await.refused(404, "resource_not_found");
        }
        for _ in 0..DELETED_AGAIN.min(old.len()) {
            if let Some(path) = old.get(random_below(old.len() as u64) as usize) {
                client.get(path).await.refused(404, "resource_not_found");
            }
        }
        self.looked_for = self.gone.len();
    }

    /// Checks that all deleted objects are gone.
    pub(crate) async fn look_for_all_deleted(&self, client: &Client) {
        for path in &self.gone {
            client.get(path).await.refused(404, "resource_not_found");
        }
    }
}

/// Checks that the account has exactly the objects in the models: no duplicates, and nothing that
/// no answer has named.
pub(crate) async fn census(client: &Client, models: &[Model]) -> anyhow::Result<()> {
    let agents: BTreeSet<&str> = ids(models.iter().flat_map(|model| model.agents.keys()));
    same(client, "/v1/agents", &agents).await?;
    let endpoints = ids(models.iter().flat_map(|model| model.endpoints.keys()));
    same(client, "/v1/webhook_endpoints", &endpoints).await?;
    for model in models {
        for agent in model.agents.keys() {
            let sources = model.sources.iter().filter(|(_, source)| source.agent == *agent);
            let sources = ids(sources.map(|(id, _)| id));
            same(client, &format!("/v1/agents/{agent}/sources"), &sources).await?;
            let exchanges = model.conversations.iter().filter(|(_, one)| one.agent == *agent);
            let exchanges = ids(exchanges.map(|(id, _)| id));
            same(client, &format!("/v1/agents/{agent}/conversations"), &exchanges).await?;
        }
    }
    Ok(())
}

fn ids<'a>(ids: impl Iterator<Item = &'a String>) -> BTreeSet<&'a str> {
    ids.map(String::as_str).collect()
}

/// Checks that a list has exactly these items, each of them once.
async fn same(client: &Client, path: &str, known: &BTreeSet<&str>) -> anyhow::Result<()> {
    let listed = client.list_all(path, PAGE).await;
    let listed: Vec<&str> = listed.iter().filter_map(id).collect();
    let stranger = listed.iter().find(|id| !known.contains(*id));
    ensure!(stranger.is_none(), "{path}: no answer named `{}`", stranger.unwrap_or(&""));
    let (has, knows) = (listed.len(), known.len());
    ensure!(has == knows, "{path}: {has} items instead of {knows}");
    Ok(())
}

fn id(item: &Value) -> Option<&str> {
    item["id"].as_str()
}
