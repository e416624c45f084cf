//! The service in one process, with an agent over files: what `ask` and `mcp` share.

use std::path::Path;

use cicerone_domain::access::DEFAULT_ACCOUNT;
use cicerone_domain::agent::{AgentDraft, AgentProfile};
use cicerone_domain::{AccountName, Agent, AgentPatch, Error, Id, Scope, kind};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::files::Found;
use super::knowledge::Knowledge;
use super::manifest::Manifest;
use crate::alone::Alone;
use crate::cli::SourceArguments;
use crate::configuration::{Configuration, Environment, load};
use crate::failure::Failure;
use crate::shutdown::StopSignals;
use crate::telemetry;
use crate::wiring::{self, Parts};

/// A data directory for this process alone. It is temporary unless the command line names one.
pub(in crate::commands) struct Workplace {
    environment: Environment,
    configuration: Configuration,
    temporary: Option<TempDir>,
    alone: Alone,
}

impl Workplace {
    /// Opens the data directory, and sets up logs and TLS.
    pub(in crate::commands) fn open(
        mut environment: Environment,
        from: &SourceArguments,
    ) -> Result<Self, Failure> {
        if from.sources.is_empty() && from.data_dir.is_none() {
            return Err(Failure::misuse(
                "there is nothing to answer from: name a file, a folder or a web page with `--source`, or \
                 what was indexed before with `--data-dir`",
            ));
        }
        let temporary = match &from.data_dir {
            Some(directory) => {
                set_data_directory(&mut environment, directory);
                None
            }
            None => {
                let directory = tempfile::tempdir().map_err(|error| {
                    Failure::because("cannot create a temporary directory", &error)
                })?;
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
        Ok(Self { environment, configuration, temporary, alone })
    }

    /// Runs `work` until it ends or a signal stops it, and removes the data directory if it is temporary.
    pub(in crate::commands) fn run(
        self,
        work: impl AsyncFnOnce(&Configuration, &Environment) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Self { environment, configuration, temporary, alone } = self;
        let runtime = wiring::runtime(2)?;
        let outcome = runtime.block_on(async {
            let mut signals = StopSignals::listen()?;
            tokio::select! {
                outcome = work(&configuration, &environment) => outcome,
                signal = signals.received() => Err(Failure::new(format!("stopped by {signal}"))),
            }
        });
        runtime.shutdown_background();
        drop(alone);
        outcome.and(temporary.map_or(Ok(()), remove))
    }
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

/// The service with one agent, and the worker that reads its files.
pub(in crate::commands) struct Session<'a> {
    pub(in crate::commands) parts: Parts,
    pub(in crate::commands) scope: Scope,
    pub(in crate::commands) agent: Agent,
    /// Whether the links of websites are followed.
    crawl: bool,
    directory: &'a Path,
    manifest: Manifest,
    stop: CancellationToken,
    worker: JoinHandle<()>,
}

impl<'a> Session<'a> {
    /// Starts the service, with the agent of earlier calls on this directory or a new one.
    pub(in crate::commands) async fn open(
        configuration: &'a Configuration,
        environment: &Environment,
        from: &SourceArguments,
    ) -> Result<Self, Failure> {
        let directory = configuration.data_dir();
        let parts = Parts::open(configuration, environment, None).await?;
        let scope = default_scope(&parts).await?;
        let mut manifest = Manifest::read(directory)?;
        let agent = agent(&parts, &scope, &manifest, from.model.clone()).await?;
        manifest.begin(agent.id);
        let stop = CancellationToken::new();
        let worker = {
            let (worker, stop) = (parts.worker.clone(), stop.clone());
            tokio::spawn(async move { worker.run(stop).await })
        };
        let crawl = from.crawl;
        Ok(Self { parts, scope, agent, crawl, directory, manifest, stop, worker })
    }

    /// Updates the agent's sources to match the files, and waits until all are trained.
    pub(in crate::commands) async fn learn(&mut self, found: Found) -> Result<(), Failure> {
        let knowledge = Knowledge {
            parts: &self.parts,
            scope: &self.scope,
            agent: self.agent.id,
            crawl: self.crawl,
        };
        let learned = knowledge.learn(found, &mut self.manifest).await;
        self.manifest.write(self.directory)?;
        learned
    }

    /// Stops the service.
    pub(in crate::commands) async fn close(self) -> Result<(), Failure> {
        self.stop.cancel();
        self.worker.await.map_err(|error| Failure::because("the worker failed", &error))?;
        self.parts.storage.close().await;
        Ok(())
    }
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
    let profile = AgentProfile::parse(draft, |model| parts.agents.knows_model(model));
    // Only the model comes from the command line.
    let profile = profile.map_err(|error| {
        Failure::misuse(format!(
            "{error}; for a model of the server at `OPENAI_BASE_URL`, set `OPENAI_MODEL` to its name"
        ))
    })?;
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
