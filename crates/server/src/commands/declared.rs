//! `cicerone plan`, `apply` and `export`: agents, sources, widgets, webhook endpoints and keys as a file declares them.
//!
//! The file is read into a [`manifest`], whose references are resolved into what is [`wanted`]. The difference to what is
//! [`observed`] on the server is a [`plan`], which is [`execute`]d step by step. The server keeps the identity of every
//! object, so there is no other record of what was done.

mod content;
mod execute;
mod export;
mod manifest;
mod observed;
mod plan;
mod saved;
mod secrets;
mod wanted;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api_client::ApiClient;
use crate::cli::{ApplyArguments, ExportArguments, PlanArguments, PruneArguments};
use crate::configuration::Environment;
use crate::failure::Failure;
use crate::{output, wiring};
use execute::{Executor, Outcome};
use observed::{ObjectKind, ObservedState};
use plan::{Action, Plan, Pruning, Step};
use saved::SavedPlan;
use wanted::Wanted;

/// The JSON Schema of the file.
const SCHEMA: &str = include_str!("declared/schema.json");
/// The file that is read if none is named.
const FILE: &str = "cicerone.yaml";
/// Plans that are carried out one after the other, if something else changes the set at the same time.
const ROUNDS: u32 = 8;
/// The pause before a new plan.
const PAUSE: Duration = Duration::from_millis(500);

impl From<&PruneArguments> for Pruning {
    fn from(arguments: &PruneArguments) -> Self {
        let PruneArguments { prune, prune_most, prune_agents } = *arguments;
        Self { objects: prune, most: prune_most, agents: prune_agents }
    }
}

/// Shows the steps. Returns true if there are any.
pub(crate) fn plan(environment: &Environment, arguments: &PlanArguments) -> Result<bool, Failure> {
    let file = arguments.from.file.as_deref().unwrap_or(Path::new(FILE));
    let wanted = wanted(file)?;
    let api = ApiClient::new(environment, arguments.from.server.as_deref())?;
    let pruning = Pruning::from(&arguments.prune);
    wiring::runtime(1)?.block_on(async {
        let (state, plan) = planned(&api, &wanted, pruning).await?;
        if let Some(path) = &arguments.out {
            SavedPlan::new(api.server(), file, pruning, &wanted, &state, &plan)?.write(path)?;
        }
        show(&plan, arguments.json)?;
        Ok(!plan.steps.is_empty())
    })
}

fn show(plan: &Plan, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let unlisted = plan.unlisted.iter().map(|(kind, key)| json!({ "kind": kind, "key": key }));
        let unlisted: Vec<_> = unlisted.collect();
        return output::line(&json!({ "steps": plan.steps, "unlisted": unlisted }));
    }
    for step in &plan.steps {
        output::line(step)?;
    }
    for (kind, key) in &plan.unlisted {
        output::line(&format!("  {} {key} is not in the file and is kept", kind.name()))?;
    }
    match plan.steps.len() {
        0 => output::line(&"Nothing to do."),
        1 => output::line(&"1 step."),
        count => output::line(&format!("{count} steps.")),
    }
}

/// Carries out the steps until there are none.
pub(crate) fn apply(environment: &Environment, arguments: &ApplyArguments) -> Result<(), Failure> {
    if arguments.schema {
        return output::print(SCHEMA);
    }
    let saved = arguments.plan.as_deref().map(SavedPlan::read).transpose()?;
    let (file, pruning) = match &saved {
        Some(saved) => (saved.file.as_path(), saved.pruning),
        None => {
            let file = arguments.from.file.as_deref().unwrap_or(Path::new(FILE));
            (file, Pruning::from(&arguments.prune))
        }
    };
    let server = arguments.from.server.as_deref();
    let server = server.or(saved.as_ref().map(|saved| saved.server.as_str()));
    let wanted = wanted(file)?;
    let api = ApiClient::new(environment, server)?;
    if let Some(saved) = &saved
        && saved.server != api.server()
    {
        return Err(Failure::new(format!("the plan was made for the server `{}`", saved.server)));
    }
    let patience = Duration::from_secs(arguments.timeout_seconds);
    let mut executor = Executor::new(&api, &wanted, patience);
    wiring::runtime(1)?.block_on(converge(&mut executor, pruning, saved.as_ref()))?;
    if !executor.failures.is_empty() {
        let failures = executor.failures.join("; ");
        return Err(Failure::new(format!("not everything was trained: {failures}")));
    }
    let done = &executor.done;
    output::line(&format!(
        "{} created, {} changed, {} removed.",
        done.created, done.changed, done.removed
    ))
}

async fn converge(
    executor: &mut Executor<'_>,
    pruning: Pruning,
    saved: Option<&SavedPlan>,
) -> Result<(), Failure> {
    let mut said = String::new();
    for round in 0..ROUNDS {
        let (state, plan) = planned(executor.api, executor.wanted, pruning).await?;
        if round == 0
            && let Some(saved) = saved
        {
            saved.check(executor.wanted, &state, &plan)?;
        }
        match executor.run(&plan, &state).await? {
            Outcome::Done => {
                if let Outcome::Moved(reason) = executor.wait_for_sources().await? {
                    said = reason;
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                if plan.steps.is_empty() || !executor.failures.is_empty() {
                    return Ok(());
                }
            }
            Outcome::Moved(reason) => {
                said = reason;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    Err(Failure::new(format!("after {ROUNDS} plans there is still something to do; {said}")))
}

/// What the server has, and the steps to what is wanted.
async fn planned(
    api: &ApiClient,
    wanted: &Wanted,
    pruning: Pruning,
) -> Result<(ObservedState, Plan), Failure> {
    let mut is_second = false;
    loop {
        let state = ObservedState::of(api, wanted).await?;
        let plan = Plan::of(wanted, &state, pruning)?;
        check_visible(api, &plan).await?;
        match secrets::check_free(wanted, &plan) {
            Ok(()) => return Ok((state, plan)),
            // Another run may have created the object since the server was asked, and have written the file.
            Err(_) if !is_second => is_second = true,
            Err(failure) => return Err(failure),
        }
    }
}

/// Returns an error if an agent is to be created with a key that is restricted to agents: it cannot create one, and the
/// agent may exist without being visible to it.
async fn check_visible(api: &ApiClient, plan: &Plan) -> Result<(), Failure> {
    let is_new = |step: &&Step| step.action == Action::Create && step.kind == ObjectKind::Agent;
    let Some(step) = plan.steps.iter().find(is_new) else { return Ok(()) };
    let me = api.get("/v1/me").await?;
    if me.pointer("/api_key/agent_ids").is_none_or(Value::is_null) {
        return Ok(());
    }
    let key = &step.key;
    Err(Failure::new(format!(
        "the API key is restricted to agents: it does not see agent `{key}`, if there is one, and cannot create it"
    )))
}

fn wanted(file: &Path) -> Result<Wanted, Failure> {
    let manifest = manifest::read(file)?;
    Wanted::of(manifest, file.parent().unwrap_or(Path::new("")))
}

/// Writes a file from what a server has, with the contents of sources.
pub(crate) fn export(
    environment: &Environment,
    arguments: &ExportArguments,
) -> Result<(), Failure> {
    let api = ApiClient::new(environment, arguments.server.as_deref())?;
    wiring::runtime(1)?.block_on(export::run(&api, arguments))
}
