//! The objects of a set on a server.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::hash_of;
use super::wanted::{Wanted, WantedAgent};
use crate::api_client::{ApiClient, managed, text};
use crate::failure::Failure;

/// The most objects of a set, so that a listing has an end in memory.
const OBJECTS: usize = 20_000;

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ObjectKind {
    Agent,
    Source,
    Widget,
    Webhook,
    Key,
}

impl ObjectKind {
    /// The name for people.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Source => "source",
            Self::Widget => "widget",
            Self::Webhook => "webhook",
            Self::Key => "key",
        }
    }

    /// The path of its objects.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Agent => "/v1/agents",
            Self::Source => "/v1/sources",
            Self::Widget => "/v1/widgets",
            Self::Webhook => "/v1/webhook_endpoints",
            Self::Key => "/v1/api_keys",
        }
    }
}

/// An object of the set.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    pub(super) kind: ObjectKind,
    pub(super) key: String,
    pub(super) hash: String,
    pub(super) id: String,
    /// Its fields, without the content of a source.
    pub(super) value: Value,
}

/// Identifies the state that a saved plan was made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Mark {
    kind: ObjectKind,
    key: String,
    hash: String,
    id: String,
    /// Changes whenever the object does.
    version: String,
}

/// Everything of a set that a file covers.
#[derive(Debug, Default)]
pub(super) struct ObservedState {
    pub(super) objects: Vec<Observed>,
}

impl ObservedState {
    /// Asks the server.
    pub(super) async fn of(api: &ApiClient, wanted: &Wanted) -> Result<Self, Failure> {
        let mut state = Self::default();
        let set = &wanted.set;
        state.add(api, ObjectKind::Agent, &format!("/v1/agents?set={set}")).await?;
        let agents: Vec<(String, String)> =
            state.objects.iter().map(|agent| (agent.key.clone(), agent.id.clone())).collect();
        for (key, id) in agents {
            let Some(agent) = wanted.agent(&key) else { continue };
            let Err(failure) = state.add_parts(api, set, agent, &id).await else { continue };
            match api.get(&format!("/v1/agents/{id}")).await {
                // It has been deleted.
                Err(error) if error.is(404) => state.forget(&id),
                _ => return Err(failure),
            }
        }
        if wanted.webhooks.is_some() {
            state
                .add(api, ObjectKind::Webhook, &format!("/v1/webhook_endpoints?set={set}"))
                .await?;
        }
        if wanted.keys.is_some() {
            state.add(api, ObjectKind::Key, &format!("/v1/api_keys?set={set}")).await?;
        }
        Ok(state)
    }

    /// Adds the sources and widgets of an agent, if the file covers them.
    async fn add_parts(
        &mut self,
        api: &ApiClient,
        set: &str,
        agent: &WantedAgent,
        id: &str,
    ) -> Result<(), Failure> {
        if agent.sources.is_some() {
            let path = format!("/v1/agents/{id}/sources?set={set}");
            self.add(api, ObjectKind::Source, &path).await?;
        }
        if agent.widgets.is_some() {
            let path = format!("/v1/agents/{id}/widgets?set={set}");
            self.add(api, ObjectKind::Widget, &path).await?;
        }
        Ok(())
    }

    /// Forgets an agent with what belongs to it.
    fn forget(&mut self, agent: &str) {
        self.objects
            .retain(|object| object.id != agent && text(&object.value, "agent_id") != agent);
    }

    async fn add(&mut self, api: &ApiClient, kind: ObjectKind, path: &str) -> Result<(), Failure> {
        api.each(path, |mut value| {
            if self.objects.len() == OBJECTS {
                return Err(Failure::new(format!("the set has more than {OBJECTS} objects")));
            }
            if let Some(fields) = value.as_object_mut() {
                // The content of a source may have megabytes; the hash represents it.
                fields.remove("content");
                fields.remove("last_used_at");
            }
            let part = |field: &str| managed(&value, field).to_owned();
            let (key, hash, id) = (part("key"), part("hash"), text(&value, "id").to_owned());
            self.objects.push(Observed { kind, key, hash, id, value });
            Ok(())
        })
        .await
    }

    /// The objects of a kind.
    pub(super) fn of_kind(&self, kind: ObjectKind) -> impl Iterator<Item = &Observed> {
        self.objects.iter().filter(move |object| object.kind == kind)
    }

    /// The object of a kind with that key. Sources may have several.
    pub(super) fn find(&self, kind: ObjectKind, key: &str) -> Option<&Observed> {
        self.of_kind(kind).find(|object| object.key == key)
    }

    pub(super) fn agent_id(&self, key: &str) -> Option<String> {
        self.find(ObjectKind::Agent, key).map(|agent| agent.id.clone())
    }

    /// The marks of all objects, in order.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = self.objects.iter().map(Observed::mark).collect();
        marks.sort();
        marks
    }
}

impl Observed {
    /// Changes whenever the object does. The progress of a source does not count as a change.
    pub(super) fn version(&self) -> String {
        match self.kind {
            ObjectKind::Agent | ObjectKind::Widget | ObjectKind::Webhook => {
                text(&self.value, "updated_at").to_owned()
            }
            ObjectKind::Source => {
                format!("{} {}", text(&self.value, "created_at"), self.is_guarded())
            }
            ObjectKind::Key => hash_of(&[self.value.to_string().as_bytes()]),
        }
    }

    fn mark(&self) -> Mark {
        let Self { kind, key, hash, id, .. } = self.clone();
        Mark { kind, key, hash, id, version: self.version() }
    }

    /// Whether the `guarded` setting of a source must be changed.
    pub(super) fn differs(&self, guarded: Option<bool>) -> bool {
        guarded.is_some_and(|guarded| self.is_guarded() != guarded)
    }

    fn is_guarded(&self) -> bool {
        self.value.get("guarded") == Some(&Value::Bool(true))
    }

    /// The status of a source.
    pub(super) fn status(&self) -> &str {
        text(&self.value, "status")
    }
}
