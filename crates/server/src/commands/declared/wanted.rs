//! The objects that a file declares, with all references resolved.

mod check;
mod widget;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cicerone_domain::managed::{ManagedKey, SetName};
use cicerone_domain::webhook::EventName;
use serde_json::{Map, Value, json};

use super::content::{Content, hash_of, text_file};
use super::manifest::{AgentEntry, Field, KeyEntry, Manifest, TextFrom, WebhookEntry};
use super::observed::ObjectKind;
use crate::api_client::object;
use crate::failure::Failure;

/// The longest key of an agent, which is a part of the keys of its sources.
const AGENT_KEY_CHARS: usize = 40;

/// Everything that a file asks for.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) set: String,
    pub(super) agents: Vec<WantedAgent>,
    /// `None` if the file does not cover webhook endpoints.
    pub(super) webhooks: Option<Vec<WantedObject>>,
    /// `None` if the file does not cover keys.
    pub(super) keys: Option<Vec<WantedObject>>,
}

/// An agent with its sources and widgets.
#[derive(Debug)]
pub(super) struct WantedAgent {
    pub(super) object: WantedObject,
    /// `None` if the file does not cover its sources.
    pub(super) sources: Option<Vec<WantedSource>>,
    /// `None` if the file does not cover its widgets.
    pub(super) widgets: Option<Vec<WantedObject>>,
}

/// An agent, a widget, a webhook endpoint or a key.
#[derive(Debug, Clone)]
pub(super) struct WantedObject {
    pub(super) key: String,
    /// The fields that are written, as the API names them. Null means a default. `agents` of a key are keys of agents.
    pub(super) fields: Map<String, Value>,
    pub(super) hash: String,
    /// Where its secret is written.
    pub(super) write_to: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct WantedSource {
    /// The keys of the agent and of the source, joined by a slash.
    pub(super) key: String,
    pub(super) content: Content,
    pub(super) hash: String,
    /// Whether it is guarded; `None` if the file does not specify it.
    pub(super) guarded: Option<bool>,
}

impl Wanted {
    /// Resolves a file of a folder. Every file that it names is read once, for its hash.
    pub(super) fn of(manifest: Manifest, folder: &Path) -> Result<Self, Failure> {
        let set = SetName::parse_field("set", manifest.set.as_str());
        let set = set.map_err(|error| Failure::new(error.to_string()))?.to_string();
        let agents = manifest.agents.unwrap_or_default();
        let agents: Result<Vec<_>, _> =
            agents.into_iter().map(|(key, entry)| agent(key, entry, folder)).collect();
        let agents = agents?;
        let known: Vec<&str> = agents.iter().map(|agent| agent.object.key.as_str()).collect();
        let webhooks = all(manifest.webhooks, |key, entry| webhook(key, entry, folder))?;
        let keys = all(manifest.keys, |key, entry| api_key(key, entry, folder, &known))?;
        let wanted = Self { set, agents, webhooks, keys };
        wanted.check_secrets()?;
        Ok(wanted)
    }

    /// Refuses two secrets in one file: the second would replace the first, which cannot be read again.
    fn check_secrets(&self) -> Result<(), Failure> {
        let widgets = self.widgets().map(|widget| {
            let (agent, name) = widget.key.split_once('/').unwrap_or((&widget.key, ""));
            (format!("agents.{agent}.widgets.{name}"), widget)
        });
        let webhooks =
            self.webhooks.iter().flatten().map(|one| (format!("webhooks.{}", one.key), one));
        let keys = self.keys.iter().flatten().map(|one| (format!("keys.{}", one.key), one));
        let mut places = BTreeMap::new();
        for (at, object) in widgets.chain(webhooks).chain(keys) {
            let Some(path) = &object.write_to else { continue };
            if let Some(other) = places.insert(plain(path), at.clone()) {
                let path = path.display();
                return Err(Failure::new(format!(
                    "`{at}`: `write_to` names the file `{path}`, into which the secret of `{other}` is written"
                )));
            }
        }
        Ok(())
    }

    /// The hash of everything, which identifies what a saved plan was made for.
    pub(super) fn hash(&self) -> String {
        let mut parts = vec![self.set.clone()];
        let mut add = |object: &WantedObject| {
            parts.extend([object.key.clone(), object.hash.clone()]);
        };
        let objects = self.agents.iter().map(|agent| &agent.object);
        objects
            .chain(self.widgets())
            .chain(self.webhooks.iter().flatten())
            .chain(self.keys.iter().flatten())
            .for_each(&mut add);
        for source in self.agents.iter().flat_map(|agent| agent.sources.iter().flatten()) {
            let guarded = format!("{:?}", source.guarded);
            parts.extend([source.key.clone(), source.hash.clone(), guarded]);
        }
        let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
        hash_of(&parts)
    }

    pub(super) fn agent(&self, key: &str) -> Option<&WantedAgent> {
        self.agents.iter().find(|agent| agent.object.key == key)
    }

    /// The object of a kind with that key; `None` for a source.
    pub(super) fn object(&self, kind: ObjectKind, key: &str) -> Option<&WantedObject> {
        let is_it = |object: &&WantedObject| object.key == key;
        match kind {
            ObjectKind::Agent => self.agent(key).map(|agent| &agent.object),
            ObjectKind::Source => None,
            ObjectKind::Widget => self.widgets().find(is_it),
            ObjectKind::Webhook => self.webhooks.iter().flatten().find(is_it),
            ObjectKind::Key => self.keys.iter().flatten().find(is_it),
        }
    }

    /// The widgets of all agents.
    pub(super) fn widgets(&self) -> impl Iterator<Item = &WantedObject> {
        self.agents.iter().flat_map(|agent| agent.widgets.iter().flatten())
    }
}

/// A path without its `.` and `..` components, as far as possible without accessing the file system.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn all<E>(
    entries: Option<BTreeMap<String, E>>,
    mut make: impl FnMut(String, E) -> Result<WantedObject, Failure>,
) -> Result<Option<Vec<WantedObject>>, Failure> {
    let made = |entries: BTreeMap<String, E>| {
        entries.into_iter().map(|(key, entry)| make(key, entry)).collect()
    };
    entries.map(made).transpose()
}

fn agent(key: String, entry: AgentEntry, folder: &Path) -> Result<WantedAgent, Failure> {
    let at = format!("agents.{key}");
    check_key(&at, &key, AGENT_KEY_CHARS)?;
    if !is_agent_key(&key) {
        return Err(Failure::new(format!("`{at}`: the key of an agent must not contain `/`")));
    }
    let prompt = match &entry.system_prompt {
        Field::Absent => Field::Absent,
        Field::Null => Field::Null,
        Field::Value(TextFrom::Inline(text)) => Field::Value(text.clone()),
        Field::Value(TextFrom::File(path)) => Field::Value(text_file(&folder.join(path))?),
    };
    check::agent(&at, &entry, &prompt)?;
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(entry.name));
    add(&mut fields, "model", entry.model);
    add(&mut fields, "system_prompt", prompt);
    add(&mut fields, "temperature", entry.temperature);
    add(&mut fields, "max_tokens", entry.max_tokens);
    add(&mut fields, "retention_days", entry.retention_days);
    add(&mut fields, "answer_floor", entry.answer_floor);
    add(&mut fields, "public_sources", entry.public_sources);
    add(&mut fields, "receipts", entry.receipts);
    add(&mut fields, "source_list", entry.source_list);
    if let Some(status) = entry.status {
        fields.insert("status".to_owned(), json!(status));
    }
    let sources = entry.sources.map(|sources| {
        sources
            .into_iter()
            .map(|(name, entry)| {
                let at = format!("{at}.sources.{name}");
                let source = format!("{key}/{name}");
                check_key(&at, &source, cicerone_domain::limits::MANAGED_KEY_CHARS)?;
                let guarded = entry.guarded;
                let content = Content::of(entry, folder)
                    .map_err(|problem| Failure::new(format!("`{at}`: {problem}")))?;
                let loaded = content.load()?;
                check::source(&at, &loaded)?;
                Ok(WantedSource { key: source, content, hash: loaded.hash(), guarded })
            })
            .collect::<Result<Vec<_>, Failure>>()
    });
    let sources = sources.transpose();
    let widgets = all(entry.widgets, |name, entry| widget::widget(&key, &name, entry, folder))?;
    let object = finished(key, fields, None);
    Ok(WantedAgent { object, sources: sources?, widgets })
}

fn webhook(key: String, entry: WebhookEntry, folder: &Path) -> Result<WantedObject, Failure> {
    let at = format!("webhooks.{key}");
    check_key(&at, &key, cicerone_domain::limits::MANAGED_KEY_CHARS)?;
    check::webhook(&at, &entry)?;
    let mut fields = Map::new();
    fields.insert("url".to_owned(), json!(entry.url));
    add(&mut fields, "events", entry.events);
    add(&mut fields, "description", entry.description);
    add(&mut fields, "payload", entry.payload);
    if let Some(status) = entry.status {
        fields.insert("status".to_owned(), json!(status));
    }
    Ok(finished(key, fields, entry.write_to.map(|path| folder.join(path))))
}

fn api_key(
    key: String,
    entry: KeyEntry,
    folder: &Path,
    agents: &[&str],
) -> Result<WantedObject, Failure> {
    let at = format!("keys.{key}");
    check_key(&at, &key, cicerone_domain::limits::MANAGED_KEY_CHARS)?;
    if let Field::Value(names) = &entry.agents
        && let Some(unknown) = names.iter().find(|name| !agents.contains(&name.as_str()))
    {
        return Err(Failure::new(format!("`{at}.agents`: the file has no agent `{unknown}`")));
    }
    let name = entry.name.clone().unwrap_or_else(|| key.clone());
    check::api_key(&at, &name, &entry)?;
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(name));
    fields.insert("permissions".to_owned(), json!(entry.permissions));
    add(&mut fields, "agents", entry.agents);
    add(&mut fields, "expires_at", entry.expires_at);
    Ok(finished(key, fields, Some(folder.join(entry.write_to))))
}

fn finished(key: String, fields: Map<String, Value>, write_to: Option<PathBuf>) -> WantedObject {
    let hash = hash_of(&[Value::Object(fields.clone()).to_string().as_bytes()]);
    WantedObject { key, fields, hash, write_to }
}

fn add<T: serde::Serialize>(fields: &mut Map<String, Value>, name: &str, field: Field<T>) {
    let value = match field {
        Field::Absent => return,
        Field::Null => Value::Null,
        Field::Value(value) => json!(value),
    };
    fields.insert(name.to_owned(), value);
}

/// Whether an agent of a file can have this key.
pub(super) fn is_agent_key(key: &str) -> bool {
    key.len() <= AGENT_KEY_CHARS && !key.contains('/')
}

fn check_key(at: &str, key: &str, most: usize) -> Result<(), Failure> {
    if key.len() > most {
        return Err(Failure::new(format!("`{at}`: the key has more than {most} characters")));
    }
    ManagedKey::parse_field("key", key)
        .map(drop)
        .map_err(|error| Failure::new(format!("`{at}`: the key {}", error.message)))
}

impl WantedObject {
    /// The names of the written fields that differ in an object of the server. `agent_id` gives the id of an agent of the
    /// file.
    pub(super) fn differing(
        &self,
        live: &Value,
        agent_id: impl Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let differs = |(name, wanted): (&String, &Value)| {
            let (name, wanted) = match name.as_str() {
                "agents" => ("agent_ids", ids(wanted, &agent_id)),
                other => (other, or_default(other, wanted)),
            };
            let live = live.get(name).unwrap_or(&Value::Null);
            (!is_same(name, &wanted, live)).then(|| name.to_owned())
        };
        self.fields.iter().filter_map(differs).collect()
    }

    /// The body of a request that creates or changes it.
    pub(super) fn body(
        &self,
        set: &str,
        hash: &str,
        agent_id: impl Fn(&str) -> Option<String>,
    ) -> Value {
        let mut body = self.fields.clone();
        if let Some(agents) = body.remove("agents") {
            body.insert("agent_ids".to_owned(), ids(&agents, &agent_id));
        }
        body.insert("managed".to_owned(), identity(set, &self.key, hash));
        Value::Object(body)
    }
}

/// The field `managed`.
pub(super) fn identity(set: &str, key: &str, hash: &str) -> Value {
    object([("set", json!(set)), ("key", json!(key)), ("hash", json!(hash))])
}

/// The ids of agents of the file; null for all agents. An agent that does not exist yet has none.
fn ids(keys: &Value, agent_id: &impl Fn(&str) -> Option<String>) -> Value {
    match keys {
        Value::Array(keys) => {
            let ids =
                keys.iter().filter_map(Value::as_str).map(|key| agent_id(key).unwrap_or_default());
            ids.collect()
        }
        _ => Value::Null,
    }
}

/// The value that null means.
fn or_default(name: &str, value: &Value) -> Value {
    match (name, value) {
        ("model", Value::Null) => json!(cicerone_domain::agent::MODEL_DEFAULT),
        ("system_prompt", Value::Null) => json!(""),
        ("temperature", Value::Null) => json!(cicerone_domain::limits::TEMPERATURE_DEFAULT),
        ("max_tokens", Value::Null) => json!(cicerone_domain::limits::REPLY_TOKENS_DEFAULT),
        ("answer_floor", Value::Null) => {
            json!(cicerone_domain::agent::AnswerFloor::default().name())
        }
        ("public_sources" | "source_list", Value::Null) => json!(false),
        ("receipts", Value::Null) => json!(cicerone_domain::agent::RECEIPTS_DEFAULT),
        ("events", Value::Null) => json!(EventName::CHOICES.map(EventName::name)),
        ("payload", Value::Null) => json!("full"),
        (_, value) => value.clone(),
    }
}

/// Whether two values of a field mean the same: the order of a list and the notation of a number or time do not matter.
fn is_same(name: &str, one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        // Starters are shown in their order.
        (Value::Array(one), Value::Array(other)) if name != "starters" => {
            let sorted = |list: &[Value]| {
                let mut texts: Vec<String> = list.iter().map(ToString::to_string).collect();
                texts.sort();
                texts.dedup();
                texts
            };
            sorted(one) == sorted(other)
        }
        (Value::String(one), Value::String(other)) if name == "expires_at" => {
            match (cicerone_domain::Timestamp::parse(one), cicerone_domain::Timestamp::parse(other))
            {
                (Ok(one), Ok(other)) => one == other,
                _ => one == other,
            }
        }
        // Of these, only the fields that are written are managed.
        (Value::Object(one), Value::Object(other)) if ["appearance", "limits"].contains(&name) => {
            one.iter().all(|(name, value)| other.get(name) == Some(value))
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};

    use super::Wanted;
    use crate::commands::declared::manifest::Manifest;

    fn wanted(yaml: &str) -> Result<Wanted, String> {
        let manifest: Manifest = serde_saphyr::from_str(yaml).unwrap();
        Wanted::of(manifest, Path::new(".")).map_err(|failure| format!("{failure:?}"))
    }

    const FILE: &str = "{version: 1, set: s, agents: {a: {name: A, temperature: 1, model: null, sources: {}}}, \
        keys: {k: {permissions: [agents:read, keys:read], agents: [a], write_to: k.key}}}";

    #[test]
    fn only_written_fields_are_compared_and_null_stands_for_the_default() {
        let wanted = wanted(FILE).unwrap();
        let agent = &wanted.agents[0].object;
        let differing = |live: Value| agent.differing(&live, |_| None);
        assert!(
            differing(
                json!({ "name": "A", "temperature": 1.0, "model": "gpt-4o", "max_tokens": 9 })
            )
            .is_empty()
        );
        assert_eq!(
            differing(json!({ "name": "B", "temperature": 0.7, "model": "gpt-4" })),
            ["model", "name", "temperature"]
        );
        let key = &wanted.keys.as_ref().unwrap()[0];
        let live = json!({ "name": "k", "permissions": ["keys:read", "agents:read"], "agent_ids": ["agent_1"] });
        assert!(key.differing(&live, |_| Some("agent_1".to_owned())).is_empty());
        assert_eq!(key.differing(&live, |_| Some("agent_2".to_owned())), ["agent_ids"]);
    }

    #[test]
    fn bad_names_are_refused_by_their_place() {
        for (yaml, part) in [
            ("{version: 1, set: 'a b'}", "`set`"),
            ("{version: 1, set: s, agents: {'a b': {name: A}}}", "agents.a b"),
            (
                "{version: 1, set: s, agents: {a: {name: A, sources: {s: {}}}}}",
                "agents.a.sources.s",
            ),
            (
                "{version: 1, set: s, keys: {k: {permissions: ['*'], agents: [b], write_to: x}}}",
                "no agent `b`",
            ),
            (
                "{version: 1, set: s, agents: {a: {name: A, sources: {s: {text: {file: /nowhere.txt}}}}}}",
                "/nowhere.txt",
            ),
        ] {
            let error = wanted(yaml).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn the_hash_of_a_file_covers_its_contents() {
        let one = wanted(FILE).unwrap().hash();
        assert_eq!(one, wanted(FILE).unwrap().hash());
        assert_ne!(one, wanted(&FILE.replace("name: A", "name: B")).unwrap().hash());
        assert_ne!(
            one,
            wanted(&FILE.replace("sources: {}", "sources: {s: {text: T}}")).unwrap().hash()
        );
    }
}
