//! Carrying out the steps of a plan.
//!
//! Every step leaves a state from which another run continues: it is interrupted anywhere, or another run is at work, and
//! the next plan contains what is left.

mod secret_steps;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use super::content::Loaded;
use super::observed::{ObjectKind, ObservedState};
use super::plan::{Action, Plan, Reason, Step};
use super::wanted::{Wanted, WantedObject, WantedSource, identity};
use crate::api_client::{ApiClient, ApiError, Body, text};
use crate::failure::Failure;
use crate::output;

/// The first and the longest pause between two looks at a source.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// Carries out steps.
pub(super) struct Executor<'a> {
    pub(super) api: &'a ApiClient,
    pub(super) wanted: &'a Wanted,
    /// How long a source may take to be trained.
    pub(super) patience: Duration,
    /// The sources that could not be trained, with the reasons.
    pub(super) failures: Vec<String>,
    /// The ids of agents, by their keys.
    agents: HashMap<String, String>,
    /// The ids of the wanted versions of sources, by their keys.
    current: HashMap<String, String>,
    /// What was done.
    pub(super) done: Done,
}

/// How many objects were touched.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) created: usize,
    pub(super) changed: usize,
    pub(super) removed: usize,
}

/// The outcome of a step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// Something else has changed the object: a new plan is needed. Contains the server's message.
    Moved(String),
}

/// The outcome for a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Training {
    Trained,
    Failed,
    /// Something else has deleted it, perhaps with its agent.
    Gone,
}

/// The outcome of a step on a source that something else has deleted.
fn gone(key: &str) -> Outcome {
    Outcome::Moved(format!("source `{key}` is gone"))
}

/// Whether an error means that something else has changed the object.
fn moved(error: ApiError) -> Result<Outcome, Failure> {
    match error {
        ApiError::Refused(refusal) if [404, 409].contains(&refusal.status) => {
            Ok(Outcome::Moved(refusal.message))
        }
        other => Err(other.into()),
    }
}

impl<'a> Executor<'a> {
    pub(super) fn new(api: &'a ApiClient, wanted: &'a Wanted, patience: Duration) -> Self {
        Self {
            api,
            wanted,
            patience,
            failures: Vec::new(),
            agents: HashMap::new(),
            current: HashMap::new(),
            done: Done::default(),
        }
    }

    /// Takes over what the server has.
    pub(super) fn observe(&mut self, state: &ObservedState) {
        let id = |object: &super::observed::Observed| (object.key.clone(), object.id.clone());
        self.agents = state.of_kind(ObjectKind::Agent).map(id).collect();
        let sources = self.wanted.agents.iter().flat_map(|agent| agent.sources.iter().flatten());
        let wanted: HashMap<&str, &str> =
            sources.map(|source| (source.key.as_str(), source.hash.as_str())).collect();
        let is_current = |source: &&super::observed::Observed| {
            wanted.get(source.key.as_str()) == Some(&source.hash.as_str())
        };
        self.current = state.of_kind(ObjectKind::Source).filter(is_current).map(id).collect();
    }

    /// Carries out a plan, up to the first step for which a new plan is needed.
    pub(super) async fn run(
        &mut self,
        plan: &Plan,
        state: &ObservedState,
    ) -> Result<Outcome, Failure> {
        self.observe(state);
        for step in &plan.steps {
            output::note(&step.to_string())?;
            if let Outcome::Moved(said) = self.step(step, state).await? {
                return Ok(Outcome::Moved(said));
            }
            match step.action {
                Action::Create => self.done.created += 1,
                Action::Update { .. } | Action::Refresh | Action::Renew => self.done.changed += 1,
                Action::Remove { .. } => self.done.removed += 1,
            }
        }
        Ok(Outcome::Done)
    }

    async fn step(&mut self, step: &Step, state: &ObservedState) -> Result<Outcome, Failure> {
        let path = step.id.as_ref().map(|id| format!("{}/{id}", step.kind.path()));
        let path = path.unwrap_or_default();
        match (&step.action, step.kind) {
            (Action::Create, ObjectKind::Source) => self.add_source(&step.key).await,
            (Action::Create, kind) => self.create(kind, self.object(kind, &step.key)?).await,
            (Action::Update { .. }, ObjectKind::Source) => {
                let (_, source) = self.source(&step.key)?;
                let body = json!({ "guarded": source.guarded });
                self.patch(&path, &version(step, state), &body).await
            }
            (Action::Update { .. }, kind) => {
                let object = self.object(kind, &step.key)?;
                let body = object.body(&self.wanted.set, &object.hash, |key| self.agent_id(key));
                self.patch(&path, &version(step, state), &body).await
            }
            (Action::Refresh, _) => {
                let path = format!("{path}/refresh");
                let version = version(step, state);
                match self.api.change(Method::POST, &path, &version, Body::None).await {
                    Ok(_) => Ok(Outcome::Done),
                    Err(error) => moved(error),
                }
            }
            (Action::Renew, kind) => {
                let object = self.object(kind, &step.key)?;
                self.renew(kind, object, &path, &version(step, state)).await
            }
            (Action::Remove { reason: Reason::Replaced }, _) => {
                // The old version answers until the new one does. If that fails, it stays.
                let Some(current) = self.current.get(&step.key).cloned() else {
                    return Ok(Outcome::Moved(format!("no new version of `{}`", step.key)));
                };
                match self.trained(&step.key, &current).await? {
                    Training::Trained => self.api.delete(&path).await?,
                    Training::Failed => {}
                    Training::Gone => return Ok(gone(&step.key)),
                }
                Ok(Outcome::Done)
            }
            (Action::Remove { .. }, _) => {
                self.api.delete(&path).await?;
                Ok(Outcome::Done)
            }
        }
    }

    /// The wanted object of a step.
    fn object(&self, kind: ObjectKind, key: &str) -> Result<&'a WantedObject, Failure> {
        self.wanted.object(kind, key).ok_or_else(|| unknown(kind, key))
    }

    fn agent_id(&self, key: &str) -> Option<String> {
        self.agents.get(key).cloned()
    }

    async fn patch(&self, path: &str, version: &str, body: &Value) -> Result<Outcome, Failure> {
        match self.api.change(Method::PATCH, path, version, Body::Json(body)).await {
            Ok(_) => Ok(Outcome::Done),
            Err(error) => moved(error),
        }
    }

    async fn create(
        &mut self,
        kind: ObjectKind,
        object: &'a WantedObject,
    ) -> Result<Outcome, Failure> {
        if kind != ObjectKind::Agent {
            return self.create_with_secret(kind, object).await;
        }
        let mut body = object.body(&self.wanted.set, &object.hash, |_| None);
        let status = body.as_object_mut().and_then(|fields| fields.remove("status"));
        let agent = match self.api.create(kind.path(), Body::Json(&body)).await {
            Ok(agent) => agent,
            Err(error) => return moved(error),
        };
        let id = text(&agent, "id");
        self.agents.insert(object.key.clone(), id.to_owned());
        match status {
            // A new agent is active.
            Some(status) if status != "active" => {
                let version = text(&agent, "updated_at");
                self.patch(&format!("/v1/agents/{id}"), version, &json!({ "status": status })).await
            }
            _ => Ok(Outcome::Done),
        }
    }

    async fn add_source(&mut self, key: &str) -> Result<Outcome, Failure> {
        let (agent, source) = self.source(key)?;
        let Some(agent_id) = self.agent_id(agent) else {
            return Ok(Outcome::Moved(format!("agent `{agent}` is gone")));
        };
        let loaded = source.content.load()?;
        if loaded.hash() != source.hash {
            return Err(Failure::new(format!(
                "the content of `{key}` has changed since the plan; run the command again"
            )));
        }
        let mut body = match loaded {
            Loaded::Fields(fields) => fields,
            Loaded::File { filename, bytes } => {
                let file = self.api.create("/v1/files", Body::File(&filename, &bytes)).await;
                let file = file.map_err(|error| about(key, error))?;
                json!({ "type": "file", "content": text(&file, "id") })
            }
        };
        if let Some(fields) = body.as_object_mut() {
            let identity = identity(&self.wanted.set, &source.key, &source.hash);
            fields.insert("managed".to_owned(), identity);
            if let Some(guarded) = source.guarded {
                fields.insert("guarded".to_owned(), Value::Bool(guarded));
            }
        }
        let path = format!("/v1/agents/{agent_id}/sources");
        match self.api.create(&path, Body::Json(&body)).await {
            Ok(made) => {
                self.current.insert(key.to_owned(), text(&made, "id").to_owned());
                Ok(Outcome::Done)
            }
            Err(error) if error.is(404) || error.is(409) => moved(error),
            Err(error) => Err(about(key, error)),
        }
    }

    fn source(&self, key: &str) -> Result<(&'a str, &'a WantedSource), Failure> {
        let sources = self.wanted.agents.iter().flat_map(|agent| {
            let key = agent.object.key.as_str();
            agent.sources.iter().flatten().map(move |source| (key, source))
        });
        let mut sources = sources;
        sources
            .find(|(_, source)| source.key == key)
            .ok_or_else(|| unknown(ObjectKind::Source, key))
    }

    /// Waits for all wanted sources.
    pub(super) async fn wait_for_sources(&mut self) -> Result<Outcome, Failure> {
        let mut current: Vec<(String, String)> =
            self.current.iter().map(|(key, id)| (key.clone(), id.clone())).collect();
        current.sort();
        for (key, id) in current {
            if self.trained(&key, &id).await? == Training::Gone {
                return Ok(gone(&key));
            }
        }
        Ok(Outcome::Done)
    }

    /// Waits until a source is trained, or never will be.
    async fn trained(&mut self, key: &str, id: &str) -> Result<Training, Failure> {
        let end = Instant::now() + self.patience;
        let (mut pause, longest) = PAUSES;
        loop {
            let source = match self.api.get(&format!("/v1/sources/{id}")).await {
                Ok(source) => source,
                Err(error) if error.is(404) => return Ok(Training::Gone),
                Err(error) => return Err(error.into()),
            };
            match text(&source, "status") {
                "trained" => return Ok(Training::Trained),
                "failed" => {
                    let failure = format!("source `{key}`: {}", text(&source, "error_message"));
                    if !self.failures.contains(&failure) {
                        self.failures.push(failure);
                    }
                    return Ok(Training::Failed);
                }
                status if Instant::now() > end => {
                    let seconds = self.patience.as_secs();
                    return Err(Failure::new(format!(
                        "source `{key}` is still {status} after {seconds} s; run the command again to keep waiting"
                    )));
                }
                _ => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }
}

/// The version of the object of a step, as it was observed.
fn version(step: &Step, state: &ObservedState) -> String {
    let mut objects = state.of_kind(step.kind);
    let found = objects.find(|object| Some(&object.id) == step.id.as_ref());
    found.map(super::observed::Observed::version).unwrap_or_default()
}

fn unknown(kind: ObjectKind, key: &str) -> Failure {
    Failure::new(format!("the file has no {} `{key}`", kind.name()))
}

/// A refusal with the source that it is about.
fn about(key: &str, error: ApiError) -> Failure {
    match error {
        ApiError::Refused(refusal) => Failure::new(format!("source `{key}`: {}", refusal.message)),
        ApiError::Failed(message) => Failure::new(message),
    }
}
