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
use super::wanted::is_agent_key;
use crate::api_client::{ApiClient, managed, text};
use crate::cli::ExportArguments;
use crate::commands::import::SET as IMPORTED;
use crate::failure::Failure;
use crate::output;
use adopt::Adopted;
use folder::Folder;
use names::{Keys, Names};
use written::{Agent, FileOf, Key, Source, Webhook, Widget, Written};

/// The file that is written if none is named.
const FILE: &str = "cicerone.yaml";

/// Writes the file and the contents next to it. Existing files are not overwritten.
pub(super) async fn run(api: &ApiClient, arguments: &ExportArguments) -> Result<(), Failure> {
    let set = SetName::parse_field("--set", arguments.set.as_str())
        .map_err(|error| Failure::misuse(error.to_string()))?;
    let file = arguments.file.as_deref().unwrap_or(Path::new(FILE));
    let format = Format::of(file)?;
    if file.exists() {
        return Err(Failure::new(format!("`{}` already exists", file.display())));
    }
    let folder = Folder::new(file.parent().unwrap_or(Path::new("")));
    let mut export = Export {
        api,
        set: set.as_str(),
        has_all_sets: arguments.all_sets,
        folder,
        agents: BTreeMap::new(),
        secrets: Names::of_files(),
        adopted: Vec::new(),
    };
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
    /// Whether objects of other sets are exported too.
    has_all_sets: bool,
    folder: Folder,
    /// The keys of agents, by their ids.
    agents: BTreeMap<String, String>,
    /// The names of the files for secrets.
    secrets: Names,
    /// The objects that the file describes: kind, key and path.
    adopted: Vec<Adopted>,
}

impl Export<'_> {
    /// The objects of a list, oldest first, so that an object that is added later changes no key. Without contents, which
    /// may have megabytes.
    async fn list(&self, path: &str) -> Result<Vec<Value>, Failure> {
        let mut found = Vec::new();
        let listed = self.api.each(path, |mut object| {
            object.as_object_mut().map(|fields| fields.remove("content"));
            found.push(object);
            Ok(())
        });
        listed.await?;
        found.reverse();
        Ok(found)
    }

    /// The other set that an object belongs to. `None` for imported objects: no file declares them.
    fn other_set<'o>(&self, object: &'o Value) -> Option<&'o str> {
        let set = managed(object, "set");
        (!["", self.set, IMPORTED].contains(&set)).then_some(set)
    }

    /// Leaves out what belongs to other sets, and says so: another file declares it, so it would exist twice where both are
    /// applied.
    fn without_other_sets(
        &self,
        kind: &str,
        mut objects: Vec<Value>,
    ) -> Result<Vec<Value>, Failure> {
        if self.has_all_sets {
            return Ok(objects);
        }
        for object in &objects {
            if let Some(set) = self.other_set(object) {
                let key = managed(object, "key");
                output::note(&format!("left out: {kind} `{key}` of the set `{set}`"))?;
            }
        }
        objects.retain(|object| self.other_set(object).is_none());
        Ok(objects)
    }

    /// The file for the secret of an object.
    fn secret(&mut self, name: &str, end: &str) -> String {
        format!(".secrets/{}", self.secrets.take(name, end))
    }

    async fn agents(&mut self, only: &[String]) -> Result<BTreeMap<String, Agent>, Failure> {
        let found = self.list("/v1/agents").await?;
        let is_known = |id: &&String| found.iter().any(|agent| text(agent, "id") == id.as_str());
        if let Some(id) = only.iter().find(|id| !is_known(id)) {
            return Err(Failure::new(format!("there is no agent `{id}`")));
        }
        let mut keys = Keys::of(self.set, String::new(), is_agent_key, &found);
        let chosen: Vec<Value> = match only.is_empty() {
            true => self.without_other_sets("agent", found)?,
            false => found
                .into_iter()
                .filter(|agent| only.iter().any(|id| id == text(agent, "id")))
                .collect(),
        };
        for agent in &chosen {
            if let (Some(set), false) = (self.other_set(agent), self.has_all_sets) {
                let id = text(agent, "id");
                return Err(Failure::new(format!(
                    "the agent `{id}` belongs to the set `{set}`; to export it, add `--all-sets`"
                )));
            }
        }
        let mut folders = Names::of_files();
        let mut agents = BTreeMap::new();
        for agent in &chosen {
            let id = text(agent, "id").to_owned();
            let key = keys.key(agent, text(agent, "name"));
            self.agents.insert(id.clone(), key.clone());
            self.adopted.push(Adopted::new("agents", &key, agent));
            // A key may have slashes and dots, and must not lead out of the folder.
            let folder = folders.take(&key, "");
            let sources = self.sources(&id, &key, &format!("content/{folder}")).await?;
            let widgets = self.widgets(&id, &key).await?;
            let prompt = text(agent, "system_prompt");
            let prompt = match prompt.is_empty() {
                true => None,
                false => Some(FileOf {
                    file: self.folder.add("prompts", &format!("{folder}.md"), prompt.as_bytes())?,
                }),
            };
            agents.insert(key, Agent::of(agent, prompt, sources, widgets));
        }
        Ok(agents)
    }

    /// The sources of an agent, with their contents in `folder`.
    async fn sources(
        &mut self,
        id: &str,
        agent: &str,
        folder: &str,
    ) -> Result<BTreeMap<String, Source>, Failure> {
        let found = self.list(&format!("/v1/agents/{id}/sources")).await?;
        let found = self.without_other_sets("source", found)?;
        let mut keys = Keys::of(self.set, format!("{agent}/"), |_| true, &found);
        let mut files = Names::of_files();
        let mut sources = BTreeMap::new();
        for source in current(&found, &keys) {
            let path = format!("/v1/sources/{}", text(source, "id"));
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
            let key = keys.key(&source, title);
            let written = match kind {
                "website" => Source::website(
                    content,
                    source.get("crawl_subpages") == Some(&Value::Bool(true)),
                    source.get("guarded") == Some(&Value::Bool(true)),
                ),
                "text" => {
                    let name = files.take(&key, ".txt");
                    Source::text(self.folder.add(folder, &name, content.as_bytes())?)
                }
                "qa" => {
                    let name = files.take(&key, ".csv");
                    Source::qa(self.folder.add(folder, &name, &pairs(&key, content)?)?)
                }
                _ => self.upload(folder, &key, content, &mut files).await?,
            };
            self.adopted.push(Adopted::new("sources", &format!("{agent}/{key}"), &source));
            sources.insert(key, written);
        }
        Ok(sources)
    }

    async fn upload(
        &self,
        folder: &str,
        key: &str,
        file: &str,
        files: &mut Names,
    ) -> Result<Source, Failure> {
        let described = self.api.get(&format!("/v1/files/{file}")).await?;
        let bytes = self.api.bytes(&format!("/v1/files/{file}/content")).await?;
        let filename = text(&described, "filename");
        let extension = Path::new(filename).extension().and_then(|extension| extension.to_str());
        let end = match extension {
            Some(extension) if extension.chars().all(|c| c.is_ascii_alphanumeric()) => {
                format!(".{extension}")
            }
            _ => String::new(),
        };
        let path = self.folder.add(folder, &files.take(key, &end), &bytes)?;
        Ok(Source::upload(path, filename))
    }

    /// The widgets of an agent.
    async fn widgets(
        &mut self,
        id: &str,
        agent: &str,
    ) -> Result<BTreeMap<String, Widget>, Failure> {
        let found = self.list(&format!("/v1/agents/{id}/widgets")).await?;
        let found = self.without_other_sets("widget", found)?;
        let mut keys = Keys::of(self.set, format!("{agent}/"), |_| true, &found);
        let mut widgets = BTreeMap::new();
        for widget in &found {
            let key = keys.key(widget, text(widget, "name"));
            self.adopted.push(Adopted::new("widgets", &format!("{agent}/{key}"), widget));
            let write_to = self.secret(&format!("{agent}-{key}"), ".widget");
            widgets.insert(key, Widget::of(widget, write_to));
        }
        Ok(widgets)
    }

    async fn webhooks(&mut self) -> Result<BTreeMap<String, Webhook>, Failure> {
        let found = self.list("/v1/webhook_endpoints").await?;
        let found = self.without_other_sets("webhook", found)?;
        let mut keys = Keys::of(self.set, String::new(), |_| true, &found);
        let mut webhooks = BTreeMap::new();
        for endpoint in &found {
            let key = keys.key(endpoint, "webhook");
            self.adopted.push(Adopted::new("webhooks", &key, endpoint));
            let write_to = self.secret(&key, ".webhook");
            webhooks.insert(key, Webhook::of(endpoint, write_to));
        }
        Ok(webhooks)
    }

    /// The keys of the set, or of all sets. Others do not belong in a file, which would create them again wherever it is
    /// applied.
    async fn keys(&mut self) -> Result<BTreeMap<String, Key>, Failure> {
        let mut found = match self.has_all_sets {
            true => self.list("/v1/api_keys").await?,
            false => self.list(&format!("/v1/api_keys?set={}", self.set)).await?,
        };
        found.retain(|key| !managed(key, "set").is_empty());
        let mut names = Keys::of(self.set, String::new(), |_| true, &found);
        let mut keys = BTreeMap::new();
        for key in &found {
            let name = names.key(key, text(key, "name"));
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
            self.adopted.push(Adopted::new("keys", &name, key));
            let write_to = self.secret(&name, ".key");
            keys.insert(name, Key::of(key, agents, write_to));
        }
        Ok(keys)
    }
}

/// The sources of an agent, oldest first, without the other versions of one that is being replaced: of these, the newest
/// that did not fail is what the agent answers from, or is about to.
fn current<'a>(sources: &'a [Value], keys: &Keys<'_>) -> Vec<&'a Value> {
    let mut versions: BTreeMap<&str, &Value> = BTreeMap::new();
    for source in sources {
        let Some(key) = keys.own(source) else { continue };
        if versions.get(key).is_none_or(|_| text(source, "status") != "failed") {
            versions.insert(key, source);
        }
    }
    let is_current = |source: &&Value| {
        let version = keys.own(source).and_then(|key| versions.get(key));
        version.is_none_or(|current| std::ptr::eq(*current, *source))
    };
    sources.iter().filter(is_current).collect()
}

/// Pairs as CSV.
fn pairs(key: &str, content: &str) -> Result<Vec<u8>, Failure> {
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
    writer.into_inner().map_err(|error| Failure::because("cannot write pairs", error.error()))
}
