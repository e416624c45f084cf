//! Writing the file from what a server has, with the content of every source.

mod adopt;
mod folder;
mod names;
mod written;

use std::collections::BTreeMap;
use std::path::Path;

use cicerone_domain::managed::SetName;
use serde_json::Value;

use super::manifest::{Format, Pairs};
use crate::api_client::{ApiClient, text};
use crate::cli::ExportArguments;
use crate::failure::Failure;
use crate::output;
use folder::Folder;
use names::Names;
use written::{Agent, FileOf, Key, Source, Webhook, Widget, Written};

/// The file that is written if none is named.
const FILE: &str = "cicerone.yaml";
/// Longest part of a key or file name that is derived from a title.
const AGENT_KEY_CHARS: usize = 40;

/// Writes the file and the contents next to it. Existing files are not overwritten.
pub(super) async fn run(api: &ApiClient, arguments: &ExportArguments) -> Result<(), Failure> {
    let set = SetName::parse_field("--set", arguments.set.as_str())
        .map_err(|error| Failure::misuse(error.to_string()))?;
    let file = arguments.file.as_deref().unwrap_or(Path::new(FILE));
    let format = Format::of(file)?;
    if file.exists() {
        return Err(Failure::new(format!("`{}` exists already", file.display())));
    }
    let folder = Folder::new(file.parent().unwrap_or(Path::new("")));
    let mut export =
        Export { api, set: set.as_str(), folder, agents: BTreeMap::new(), adopted: Vec::new() };
    let agents = export.agents(&arguments.agents).await?;
    let webhooks =
        if arguments.agents.is_empty() { export.webhooks().await? } else { BTreeMap::new() };
    let keys = export.keys().await?;
    let written = Written { version: 1, set: set.to_string(), agents, webhooks, keys };
    export.folder.write(file, written.text(format)?.as_bytes())?;
    if arguments.adopt {
        let adopted = std::mem::take(&mut export.adopted);
        adopt::run(api, file, &adopted).await?;
    }
    output::line(&format!("wrote `{}`: {} agents", file.display(), written.agents.len()))
}

struct Export<'a> {
    api: &'a ApiClient,
    set: &'a str,
    folder: Folder,
    /// The keys of agents, by their ids.
    agents: BTreeMap<String, String>,
    /// The objects that the file describes: kind, key and path.
    adopted: Vec<adopt::Adopted>,
}

impl Export<'_> {
    /// The key of an object: the one that it has in this set, or one made from a name.
    fn key(&self, names: &mut Names, object: &Value, name: &str) -> String {
        let managed = &object["managed"];
        if text(managed, "set") == self.set {
            let own = text(managed, "key");
            let own = own.rsplit_once('/').map_or(own, |(_, own)| own);
            return names.take(own);
        }
        names.take(name)
    }

    async fn agents(&mut self, only: &[String]) -> Result<BTreeMap<String, Agent>, Failure> {
        let mut found = Vec::new();
        self.api
            .each("/v1/agents", |agent| {
                if only.is_empty() || only.iter().any(|id| id == text(&agent, "id")) {
                    found.push(agent);
                }
                Ok(())
            })
            .await?;
        if let Some(id) = only.iter().find(|id| !found.iter().any(|agent| text(agent, "id") == *id))
        {
            return Err(Failure::new(format!("no agent has the id `{id}`")));
        }
        let mut names = Names::new(AGENT_KEY_CHARS);
        let mut agents = BTreeMap::new();
        // Oldest first, so that an agent that is added later changes no name.
        for agent in found.iter().rev() {
            let key = self.key(&mut names, agent, text(agent, "name"));
            let id = text(agent, "id").to_owned();
            self.agents.insert(id.clone(), key.clone());
            self.adopted.push(adopt::Adopted::new("agents", &key, format!("/v1/agents/{id}")));
            let sources = self.sources(&id, &key).await?;
            let widgets = self.widgets(&id, &key).await?;
            let prompt = text(agent, "system_prompt");
            let prompt = match prompt.is_empty() {
                true => None,
                false => Some(FileOf {
                    file: self.folder.add("prompts", &format!("{key}.md"), prompt.as_bytes())?,
                }),
            };
            agents.insert(key, Agent::of(agent, prompt, sources, widgets));
        }
        Ok(agents)
    }

    /// The sources of an agent. Those that cannot be exported are named on standard error.
    async fn sources(
        &mut self,
        id: &str,
        agent: &str,
    ) -> Result<BTreeMap<String, Source>, Failure> {
        let mut ids = Vec::new();
        self.api
            .each(&format!("/v1/agents/{id}/sources"), |source| {
                ids.push(text(&source, "id").to_owned());
                Ok(())
            })
            .await?;
        let mut names = Names::new(cicerone_domain::limits::MANAGED_KEY_CHARS - agent.len() - 1);
        let mut sources = BTreeMap::new();
        for id in ids.iter().rev() {
            let path = format!("/v1/sources/{id}");
            let source = match self.api.get(&path).await {
                Ok(source) => source,
                // It has been deleted.
                Err(error) if error.is(404) => continue,
                Err(error) => return Err(error.into()),
            };
            let content = text(&source, "content");
            let kind = text(&source, "type");
            let title = text(&source, "title");
            let title = if title.is_empty() { kind } else { title };
            let key = self.key(&mut names, &source, title);
            let written = match kind {
                "website" => Source::website(
                    content,
                    source.get("crawl_subpages") == Some(&Value::Bool(true)),
                    source.get("guarded") == Some(&Value::Bool(true)),
                ),
                "text" => Source::text(self.folder.add(
                    &content_of(agent),
                    &format!("{key}.txt"),
                    content.as_bytes(),
                )?),
                "qa" => Source::qa(self.pairs(agent, &key, content)?),
                _ => self.upload(agent, &key, content).await?,
            };
            self.adopted.push(adopt::Adopted::new("sources", &format!("{agent}/{key}"), path));
            sources.insert(key, written);
        }
        Ok(sources)
    }

    fn pairs(&mut self, agent: &str, key: &str, content: &str) -> Result<String, Failure> {
        let pairs: Pairs = serde_json::from_str::<Vec<Value>>(content)
            .map(|pairs| {
                pairs
                    .iter()
                    .map(|pair| super::manifest::Pair {
                        question: text(pair, "question").to_owned(),
                        answer: text(pair, "answer").to_owned(),
                    })
                    .collect()
            })
            .map_err(|error| Failure::because(&format!("the pairs of `{key}`"), &error))?;
        let mut writer = csv::Writer::from_writer(Vec::new());
        let failed = |error: csv::Error| Failure::because("cannot write pairs", &error);
        for pair in &pairs {
            writer.serialize(pair).map_err(failed)?;
        }
        let bytes = writer
            .into_inner()
            .map_err(|error| Failure::because("cannot write pairs", error.error()))?;
        self.folder.add(&content_of(agent), &format!("{key}.csv"), &bytes)
    }

    async fn upload(&mut self, agent: &str, key: &str, file: &str) -> Result<Source, Failure> {
        let described = self.api.get(&format!("/v1/files/{file}")).await?;
        let bytes = self.api.bytes(&format!("/v1/files/{file}/content")).await?;
        let filename = text(&described, "filename");
        let extension = Path::new(filename).extension().and_then(|extension| extension.to_str());
        let name = match extension {
            Some(extension) if extension.chars().all(|c| c.is_ascii_alphanumeric()) => {
                format!("{key}.{extension}")
            }
            _ => key.to_owned(),
        };
        let path = self.folder.add(&content_of(agent), &name, &bytes)?;
        Ok(Source::upload(path, filename))
    }

    /// The widgets of an agent.
    async fn widgets(
        &mut self,
        id: &str,
        agent: &str,
    ) -> Result<BTreeMap<String, Widget>, Failure> {
        let mut found = Vec::new();
        self.api
            .each(&format!("/v1/agents/{id}/widgets"), |one| {
                found.push(one);
                Ok(())
            })
            .await?;
        let mut names = Names::new(cicerone_domain::limits::MANAGED_KEY_CHARS - agent.len() - 1);
        let mut widgets = BTreeMap::new();
        for widget in found.iter().rev() {
            let key = self.key(&mut names, widget, text(widget, "name"));
            let path = format!("/v1/widgets/{}", text(widget, "id"));
            self.adopted.push(adopt::Adopted::new("widgets", &format!("{agent}/{key}"), path));
            let write_to = format!(".secrets/{agent}-{key}.widget");
            widgets.insert(key, Widget::of(widget, write_to));
        }
        Ok(widgets)
    }

    async fn webhooks(&mut self) -> Result<BTreeMap<String, Webhook>, Failure> {
        let mut found = Vec::new();
        self.api
            .each("/v1/webhook_endpoints", |one| {
                found.push(one);
                Ok(())
            })
            .await?;
        let mut names = Names::new(cicerone_domain::limits::MANAGED_KEY_CHARS);
        let mut webhooks = BTreeMap::new();
        for endpoint in found.iter().rev() {
            let key = self.key(&mut names, endpoint, "webhook");
            let path = format!("/v1/webhook_endpoints/{}", text(endpoint, "id"));
            self.adopted.push(adopt::Adopted::new("webhooks", &key, path));
            webhooks.insert(key.clone(), Webhook::of(endpoint, format!(".secrets/{key}.webhook")));
        }
        Ok(webhooks)
    }

    /// The keys of the set. Others do not belong in this file, which would create them again wherever it is applied.
    async fn keys(&mut self) -> Result<BTreeMap<String, Key>, Failure> {
        let mut found = Vec::new();
        let path = format!("/v1/api_keys?set={}", self.set);
        self.api
            .each(&path, |one| {
                found.push(one);
                Ok(())
            })
            .await?;
        let mut names = Names::new(cicerone_domain::limits::MANAGED_KEY_CHARS);
        let mut keys = BTreeMap::new();
        for key in found.iter().rev() {
            let name = self.key(&mut names, key, text(key, "name"));
            let agents = match &key["agent_ids"] {
                Value::Array(ids) => {
                    let known = |id: &Value| self.agents.get(id.as_str()?).cloned();
                    let agents: Option<Vec<String>> = ids.iter().map(known).collect();
                    // A key of an agent that is not exported.
                    let Some(agents) = agents else { continue };
                    Some(agents)
                }
                _ => None,
            };
            let path = format!("/v1/api_keys/{}", text(key, "id"));
            self.adopted.push(adopt::Adopted::new("keys", &name, path));
            keys.insert(name.clone(), Key::of(key, agents, format!(".secrets/{name}.key")));
        }
        Ok(keys)
    }
}

fn content_of(agent: &str) -> String {
    format!("content/{agent}")
}
