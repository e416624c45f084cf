//! The steps from what a server has to what a file asks for.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::observed::{ObjectKind, Observed, ObservedState};
use super::wanted::{Wanted, WantedAgent, WantedObject, WantedSource};
use crate::api_client::text;
use crate::failure::Failure;

/// The hash of an object whose secret was not written to its file yet.
pub(super) const PENDING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What may be removed because the file no longer has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pruning {
    /// Sources, widgets, webhook endpoints and keys.
    pub(super) objects: bool,
    /// More than half of an agent's sources too.
    pub(super) most: bool,
    /// Agents, with everything that belongs to them.
    pub(super) agents: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    #[serde(flatten)]
    pub(super) action: Action,
    pub(super) kind: ObjectKind,
    pub(super) key: String,
    /// The existing object; null if it is to be created.
    pub(super) id: Option<String>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(super) enum Action {
    Create,
    /// Sets these fields; with none, only the hash is recorded.
    Update {
        fields: Vec<String>,
    },
    /// Crawls a website again whose last crawl failed.
    Refresh,
    /// Makes a new secret, since the first one was not written to its file.
    Renew,
    Remove {
        reason: Reason,
    },
}

/// Why an object is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    /// It is an earlier version of a source. It is removed when the new version is trained.
    Replaced,
    /// It could not be processed, and is added again.
    Failed,
    /// The file no longer has it.
    Pruned,
}

/// The steps, in their order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// Objects that the file no longer has, and that are not removed.
    pub(super) unlisted: Vec<(ObjectKind, String)>,
}

impl Plan {
    /// The steps to what is wanted.
    ///
    /// # Errors
    ///
    /// More than half of an agent's sources would be removed.
    pub(super) fn of(
        wanted: &Wanted,
        state: &ObservedState,
        pruning: Pruning,
    ) -> Result<Self, Failure> {
        let mut plan = Self::default();
        let id = |key: &str| state.agent_id(key);
        for agent in &wanted.agents {
            plan.object(ObjectKind::Agent, &agent.object, state, &id);
        }
        for agent in &wanted.agents {
            plan.sources(agent, state, pruning)?;
        }
        for widget in wanted.widgets() {
            plan.object(ObjectKind::Widget, widget, state, &id);
        }
        plan.prune(ObjectKind::Widget, state, pruning.objects, |key| {
            wanted.widgets().any(|widget| widget.key == key)
        });
        for (kind, objects) in
            [(ObjectKind::Webhook, &wanted.webhooks), (ObjectKind::Key, &wanted.keys)]
        {
            for object in objects.iter().flatten() {
                plan.object(kind, object, state, &id);
            }
            let Some(objects) = objects else { continue };
            plan.prune(kind, state, pruning.objects, |key| {
                objects.iter().any(|one| one.key == key)
            });
        }
        plan.prune(ObjectKind::Agent, state, pruning.agents, |key| wanted.agent(key).is_some());
        Ok(plan)
    }

    fn step(&mut self, action: Action, kind: ObjectKind, key: &str, id: Option<&Observed>) {
        let id = id.map(|observed| observed.id.clone());
        self.steps.push(Step { action, kind, key: key.to_owned(), id });
    }

    fn object(
        &mut self,
        kind: ObjectKind,
        object: &WantedObject,
        state: &ObservedState,
        agent_id: &impl Fn(&str) -> Option<String>,
    ) {
        let Some(live) = state.find(kind, &object.key) else {
            return self.step(Action::Create, kind, &object.key, None);
        };
        let is_pending = live.hash == PENDING;
        if is_pending && object.write_to.is_some() {
            return self.step(Action::Renew, kind, &object.key, Some(live));
        }
        // A different hash alone is not a change: an exported file may state the same values in other fields.
        let fields = object.differing(&live.value, agent_id);
        if !fields.is_empty() || is_pending {
            self.step(Action::Update { fields }, kind, &object.key, Some(live));
        }
    }

    fn sources(
        &mut self,
        agent: &WantedAgent,
        state: &ObservedState,
        pruning: Pruning,
    ) -> Result<(), Failure> {
        let Some(sources) = &agent.sources else { return Ok(()) };
        let owner = state.agent_id(&agent.object.key);
        let live: Vec<&Observed> = state
            .of_kind(ObjectKind::Source)
            .filter(|source| owner.as_deref() == Some(text(&source.value, "agent_id")))
            .collect();
        let mut replaced = Vec::new();
        let mut added = 0_usize;
        for source in sources {
            added += self.source(source, &live, &mut replaced);
        }
        for old in replaced {
            let action = Action::Remove { reason: Reason::Replaced };
            self.step(action, ObjectKind::Source, &old.key, Some(old));
        }
        let is_wanted = |old: &&&Observed| sources.iter().any(|source| source.key == old.key);
        let unlisted: Vec<&Observed> = live.iter().filter(|old| !is_wanted(old)).copied().collect();
        if !pruning.objects {
            self.unlisted.extend(unlisted.iter().map(|old| (ObjectKind::Source, old.key.clone())));
            return Ok(());
        }
        if unlisted.len() * 2 > live.len() + added && !pruning.most {
            return Err(Failure::new(format!(
                "{} of the {} sources of agent `{}` would be removed, which is more than half; \
                 if that is intended, add `--prune-most`",
                unlisted.len(),
                live.len(),
                agent.object.key
            )));
        }
        for old in unlisted {
            let action = Action::Remove { reason: Reason::Pruned };
            self.step(action, ObjectKind::Source, &old.key, Some(old));
        }
        Ok(())
    }

    /// Adds the steps of a source, and its earlier versions to `replaced`. Returns the number of sources that are added.
    fn source<'a>(
        &mut self,
        source: &WantedSource,
        live: &[&'a Observed],
        replaced: &mut Vec<&'a Observed>,
    ) -> usize {
        let versions = live.iter().filter(|version| version.key == source.key);
        let (current, earlier): (Vec<&Observed>, Vec<&Observed>) =
            versions.partition(|version| version.hash == source.hash);
        replaced.extend(earlier);
        if let Some(current) = current.first().filter(|one| one.differs(source.guarded)) {
            let fields = vec!["guarded".to_owned()];
            self.step(Action::Update { fields }, ObjectKind::Source, &source.key, Some(current));
        }
        match current.first() {
            None => self.step(Action::Create, ObjectKind::Source, &source.key, None),
            Some(failed) if failed.status() == "failed" => {
                if text(&failed.value, "type") == "website" {
                    self.step(Action::Refresh, ObjectKind::Source, &source.key, Some(failed));
                    return 0;
                }
                let action = Action::Remove { reason: Reason::Failed };
                self.step(action, ObjectKind::Source, &source.key, Some(failed));
                self.step(Action::Create, ObjectKind::Source, &source.key, None);
            }
            Some(_) => return 0,
        }
        1
    }

    fn prune(
        &mut self,
        kind: ObjectKind,
        state: &ObservedState,
        may: bool,
        is_wanted: impl Fn(&str) -> bool,
    ) {
        for old in state.of_kind(kind).filter(|old| !is_wanted(&old.key)) {
            if may {
                let action = Action::Remove { reason: Reason::Pruned };
                self.step(action, kind, &old.key, Some(old));
            } else {
                self.unlisted.push((kind, old.key.clone()));
            }
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{} {}", self.kind.name(), self.key);
        match &self.action {
            Action::Create => write!(f, "+ {name}"),
            Action::Update { fields } if fields.is_empty() => write!(f, "~ {name} (record only)"),
            Action::Update { fields } => write!(f, "~ {name} ({})", fields.join(", ")),
            Action::Refresh => write!(f, "~ {name} (crawl again)"),
            Action::Renew => write!(f, "~ {name} (new secret; the first was not written)"),
            Action::Remove { reason: Reason::Replaced } => {
                write!(f, "- {name} (previous version, when the new one is trained)")
            }
            Action::Remove { reason: Reason::Failed } => write!(f, "- {name} (failed)"),
            Action::Remove { reason: Reason::Pruned } => write!(f, "- {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::{PENDING, Plan, Pruning};
    use crate::commands::declared::observed::{ObjectKind, Observed, ObservedState};
    use crate::commands::declared::wanted::Wanted;

    fn wanted(yaml: &str) -> Wanted {
        Wanted::of(serde_saphyr::from_str(yaml).unwrap(), Path::new(".")).unwrap()
    }

    fn observed(kind: ObjectKind, key: &str, hash: &str, value: serde_json::Value) -> Observed {
        Observed {
            kind,
            key: key.to_owned(),
            hash: hash.to_owned(),
            id: format!("id {key}"),
            value,
        }
    }

    fn source(key: &str, hash: &str, status: &str) -> Observed {
        observed(
            ObjectKind::Source,
            key,
            hash,
            json!({ "agent_id": "id a", "status": status, "type": "text" }),
        )
    }

    fn planned(
        wanted: &Wanted,
        objects: Vec<Observed>,
        pruning: Pruning,
    ) -> Result<Vec<String>, String> {
        Plan::of(wanted, &ObservedState { objects }, pruning)
            .map(|plan| plan.steps.iter().map(ToString::to_string).collect())
            .map_err(|failure| format!("{failure:?}"))
    }

    const FILE: &str = "{version: 1, set: s, agents: {a: {name: A, sources: {one: {text: '1'}, two: {text: '2'}}}}, \
        keys: {k: {permissions: [agents:read], write_to: k.key}}}";

    fn agent(wanted: &Wanted) -> Observed {
        observed(ObjectKind::Agent, "a", &wanted.agents[0].object.hash, json!({ "name": "A" }))
    }

    #[test]
    fn an_empty_server_gets_everything_and_a_finished_one_nothing() {
        let wanted = wanted(FILE);
        let all = planned(&wanted, vec![], Pruning::default()).unwrap();
        assert_eq!(all, ["+ agent a", "+ source a/one", "+ source a/two", "+ key k"]);
        let hash = |index: usize| wanted.agents[0].sources.as_ref().unwrap()[index].hash.clone();
        let key = &wanted.keys.as_ref().unwrap()[0];
        let live = json!({ "name": "k", "permissions": ["agents:read"] });
        let done = vec![
            agent(&wanted),
            source("a/one", &hash(0), "trained"),
            source("a/two", &hash(1), "pending"),
            observed(ObjectKind::Key, "k", &key.hash, live.clone()),
        ];
        assert!(planned(&wanted, done.clone(), Pruning::default()).unwrap().is_empty());
        let mut unwritten = done;
        unwritten[3].hash = PENDING.to_owned();
        let renewed = planned(&wanted, unwritten, Pruning::default()).unwrap();
        assert_eq!(renewed, ["~ key k (new secret; the first was not written)"]);
    }

    #[test]
    fn a_new_version_comes_before_the_old_one_goes() {
        let wanted = wanted(FILE);
        let two = wanted.agents[0].sources.as_ref().unwrap()[1].hash.clone();
        let live = vec![
            agent(&wanted),
            source("a/one", "old", "trained"),
            source("a/two", &two, "failed"),
        ];
        let steps = planned(&wanted, live, Pruning::default()).unwrap();
        let expected = [
            "+ source a/one",
            "- source a/two (failed)",
            "+ source a/two",
            "- source a/one (previous version, when the new one is trained)",
            "+ key k",
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn what_is_unlisted_goes_only_if_asked_and_only_up_to_half() {
        let wanted = wanted(FILE);
        let hash = |index: usize| wanted.agents[0].sources.as_ref().unwrap()[index].hash.clone();
        let mut live = vec![
            agent(&wanted),
            source("a/one", &hash(0), "trained"),
            source("a/two", &hash(1), "trained"),
            source("a/x", "x", "trained"),
            source("a/y", "y", "trained"),
            observed(ObjectKind::Agent, "b", "b", json!({})),
        ];
        let prune = Pruning { objects: true, ..Pruning::default() };
        assert_eq!(planned(&wanted, live.clone(), Pruning::default()).unwrap(), ["+ key k"]);
        let half = planned(&wanted, live.clone(), prune).unwrap();
        assert_eq!(half, ["- source a/x", "- source a/y", "+ key k"]);
        live.push(source("a/z", "z", "trained"));
        let refused = planned(&wanted, live.clone(), prune).unwrap_err();
        assert!(refused.contains("3 of the 5 sources of agent `a`"), "{refused}");
        let most = Pruning { most: true, agents: true, ..prune };
        assert_eq!(planned(&wanted, live, most).unwrap().len(), 5);
    }
}
