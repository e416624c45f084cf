//! `cicerone ask`: the whole pipeline in one process, for one question.

mod files;
mod knowledge;
mod manifest;
mod reply;

use std::path::Path;

use cicerone_domain::access::DEFAULT_ACCOUNT;
use cicerone_domain::agent::{AgentDraft, AgentProfile};
use cicerone_domain::conversation::{MessageText, Metadata};
use cicerone_domain::services::NewMessage;
use cicerone_domain::{AccountName, Agent, AgentPatch, Error, Id, Scope, kind};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::alone::Alone;
use crate::cli::AskArguments;
use crate::configuration::{Configuration, Environment, load};
use crate::failure::Failure;
use crate::shutdown::StopSignals;
use crate::telemetry;
use crate::wiring::{self, Parts};

use knowledge::Knowledge;
use manifest::Manifest;

/// Answers one question.
pub(crate) fn run(mut environment: Environment, arguments: AskArguments) -> Result<(), Failure> {
    if arguments.sources.is_empty() && arguments.data_dir.is_none() {
        return Err(Failure::misuse(
            "there is nothing to answer from: name a file, a folder or a web page with `--source`, or \
             what was indexed before with `--data-dir`",
        ));
    }
    let temporary = match &arguments.data_dir {
        Some(directory) => {
            set_data_directory(&mut environment, directory);
            None
        }
        None => {
            let directory = tempfile::tempdir()
                .map_err(|error| Failure::because("cannot create a temporary directory", &error))?;
            set_data_directory(&mut environment, directory.path());
            Some(directory)
        }
    };
    let configuration = load(&environment)?;
    // Standard error is for progress here. Logs appear only if `RUST_LOG` asks for them.
    let filter =
        if environment.contains_key("RUST_LOG") { &configuration.settings.log } else { "warn" };
    telemetry::logs(&configuration.settings, filter, None)?;
    wiring::install_tls()?;
    let alone = Alone::open(&configuration)?;
    let runtime = wiring::runtime(2)?;
    let outcome = runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        tokio::select! {
            outcome = ask(&configuration, &environment, arguments) => outcome,
            signal = signals.received() => Err(Failure::new(format!("stopped by {signal}"))),
        }
    });
    runtime.shutdown_background();
    drop(alone);
    outcome.and(temporary.map_or(Ok(()), remove))
}

/// The configuration of this command, which keeps its data in `directory`. It ignores a database
/// that the environment or the file names, since a server may use that one.
fn set_data_directory(environment: &mut Environment, directory: &Path) {
    let settings = [
        ("CICERONE_DATA_DIR", directory.display().to_string()),
        ("CICERONE_DATABASE_URL", format!("sqlite:{}", directory.join("cicerone.db").display())),
        ("CICERONE_OBJECT_STORE_URL", format!("file:{}", directory.join("objects").display())),
    ];
    environment.extend(settings.map(|(name, value)| (name.to_owned(), value)));
}

fn remove(directory: TempDir) -> Result<(), Failure> {
    directory
        .close()
        .map_err(|error| Failure::because("cannot remove a temporary directory", &error))
}

async fn ask(
    configuration: &Configuration,
    environment: &Environment,
    arguments: AskArguments,
) -> Result<(), Failure> {
    let AskArguments { sources, crawl, json, model, question, .. } = arguments;
    let question =
        MessageText::parse_field("QUESTION", question).map_err(|field| as_misuse(field.into()))?;
    let found = files::find(&sources)?;

    let parts = Parts::open(configuration, environment, None).await?;
    let scope = default_scope(&parts).await?;
    let mut manifest = Manifest::read(configuration.data_dir())?;
    let agent = agent(&parts, &scope, &manifest, model).await?;
    manifest.begin(agent.id);

    let stop = CancellationToken::new();
    let worker = {
        let (worker, stop) = (parts.worker.clone(), stop.clone());
        tokio::spawn(async move { worker.run(stop).await })
    };
    let knowledge = Knowledge { parts: &parts, scope: &scope, agent: agent.id, crawl };
    let learned = knowledge.learn(found, &mut manifest).await;
    manifest.write(configuration.data_dir())?;
    learned?;

    let message = NewMessage {
        agent_id: agent.id,
        conversation_id: None,
        text: question,
        metadata: Metadata::default(),
    };
    let outcome = reply::give(&parts, &scope, message, json).await;
    stop.cancel();
    worker.await.map_err(|error| Failure::because("the worker failed", &error))?;
    parts.storage.close().await;
    outcome
}

/// The scope of the account `default`, which is created if it is missing. It gets no key: the first
/// `serve` on this directory creates one and shows it.
async fn default_scope(parts: &Parts) -> Result<Scope, Failure> {
    let accounts = parts.keys.accounts().await?;
    let known = accounts.into_iter().find(|account| account.name.as_str() == DEFAULT_ACCOUNT);
    let account = match known {
        Some(account) => account,
        None => parts.keys.create_account(AccountName::default()).await?,
    };
    Ok(Scope::account(account.id))
}

/// The agent of earlier calls on this directory, or a new one, with the given model.
async fn agent(
    parts: &Parts,
    scope: &Scope,
    manifest: &Manifest,
    model: Option<String>,
) -> Result<Agent, Failure> {
    let draft = AgentDraft { name: "ask".to_owned(), model, ..AgentDraft::default() };
    let profile = AgentProfile::parse(draft, |model| parts.agents.knows_model(model))
        .map_err(|field| as_misuse(field.into()))?;
    let earlier: Option<Id<kind::Agent>> = manifest.agent();
    if let Some(id) = earlier {
        let patch = AgentPatch { model: Some(profile.model.clone()), ..AgentPatch::default() };
        match parts.agents.update(scope, id, patch, None).await {
            Ok(agent) => return Ok(agent),
            Err(Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(parts.agents.create(scope, profile, None).await?)
}

/// The failure for a value of the command line that was refused.
fn as_misuse(error: Error) -> Failure {
    Failure::misuse(error.to_string())
}
