//! `cicerone serve`.

mod banner;
mod files;
mod memory;
mod sweep;
mod uses;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::UploadType;
use cicerone_http::{Application, HttpSettings, JoinTrace};
use cicerone_ingestion::detect_upload_type;

use crate::alone::Alone;
use crate::configuration::{Configuration, Environment, ignored_model, load, unknown_variables};
use crate::failure::Failure;
use crate::shutdown::StopSignals;
use crate::supervisor::{Pauses, Supervisor};
use crate::telemetry::{self, Traces};
use crate::wiring::{self, Parts};
use sweep::Sweep;

/// The longest that a stop waits for requests and jobs in progress.
const STOP_GRACE: Duration = Duration::from_secs(30);
/// How long it then waits for the database. What is not committed by then is as if the process had been killed.
const CLOSE_GRACE: Duration = Duration::from_secs(3);
/// Connections that the system accepts before the server does. Clients beyond this number retry
/// after a second, so a burst of connections would delay everybody. The system may allow fewer.
const BACKLOG: i32 = 4_096;
/// Threads for everything except connections: workers, timers, housekeeping.
const TASK_THREADS: usize = 2;

/// Serves the HTTP API until a signal stops it.
pub(crate) fn run(environment: &Environment) -> Result<(), Failure> {
    let configuration = load(environment)?;
    let files = files::raise();
    memory::set_up();
    wiring::install_tls()?;
    let runtime = wiring::runtime(TASK_THREADS)?;
    let traces = Traces::open(environment, runtime.handle())?;
    telemetry::logs(&configuration.settings, &configuration.settings.log, traces.as_ref())?;
    for variable in unknown_variables(environment) {
        tracing::warn!(
            variable,
            "this variable of the environment is not a setting, and is ignored"
        );
    }
    if let Some(reason) = ignored_model(environment, &configuration) {
        tracing::warn!("{reason}");
    }
    let _alone = Alone::open(&configuration)?;
    let connections = files::connections(files, &configuration.settings);
    let join_trace = traces.as_ref().map(|_| telemetry::join_trace as JoinTrace);
    let serving = serve(&configuration, environment, files, connections, join_trace);
    let outcome = runtime.block_on(serving);
    if let Some(traces) = traces {
        traces.close();
    }
    // Work that still runs after the grace period is abandoned.
    runtime.shutdown_background();
    outcome
}

async fn serve(
    configuration: &Configuration,
    environment: &Environment,
    files: Option<usize>,
    connections: usize,
    join_trace: Option<JoinTrace>,
) -> Result<(), Failure> {
    let mut signals = StopSignals::listen()?;
    let listener = bind(&configuration.settings.bind)?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::because("`CICERONE_BIND`: no address", &error))?;
    let opening = async {
        let parts = Parts::open(configuration, environment, Some(address)).await?;
        let root = parts.keys.ensure_root(configuration.root_key.clone()).await?;
        let cursor_secret = parts.keys.cursor_secret().await?;
        Ok::<_, Failure>((parts, root, cursor_secret))
    };
    let (parts, root, cursor_secret) = tokio::select! {
        opened = opening => opened?,
        signal = signals.received() => {
            tracing::info!(signal, "stopped before the server was ready");
            return Ok(());
        }
    };
    let conversations = parts.conversations.clone();
    let storage = Arc::clone(&parts.storage);
    let mut work = start_work(&parts);
    let settings = HttpSettings {
        connections_at_once: connections,
        mcp: configuration.mcp.clone(),
        ..configuration.settings.http()
    };
    let application = application(configuration, settings, parts, cursor_secret, &mut work)?;
    let application = Application { join_trace, ..application };
    let server = cicerone_http::serve(listener, application)
        .map_err(|error| Failure::because("cannot start the HTTP server", &error))?;
    let handle = server.handle();
    banner::print(address, &root, configuration.settings.http.console)?;
    tracing::info!(%address, database = %configuration.database, files, connections, "serving");

    tokio::pin!(server);
    let signal = tokio::select! {
        ended = &mut server => {
            ended.map_err(|error| Failure::because("the HTTP server failed", &error))?;
            return Err(Failure::new("the HTTP server ended by itself"));
        }
        signal = signals.received() => signal,
    };
    tracing::info!(signal, "stopping: finishing requests and jobs in progress");
    let stopped = async {
        // The server stops only while it is polled.
        let ((), http, ()) = tokio::join!(handle.stop(true), &mut server, work.stop());
        // Replies whose callers went away are finished and stored too.
        conversations.drain().await;
        http
    };
    let stopping = async {
        let stopped = tokio::time::timeout(STOP_GRACE, stopped).await;
        if stopped.is_err() {
            tracing::warn!(
                "the grace period is over: abandoning requests and jobs that are still in progress"
            );
        }
        if tokio::time::timeout(CLOSE_GRACE, storage.close()).await.is_err() {
            tracing::warn!("the database does not answer: abandoning work that it has not done");
        }
        stopped.unwrap_or(Ok(()))
    };
    let outcome = tokio::select! {
        outcome = stopping => outcome,
        never = signals.exit_at_next() => match never {},
    };
    outcome.map_err(|error| Failure::because("the HTTP server failed", &error))?;
    tracing::info!("stopped");
    Ok(())
}

fn bind(address: &str) -> Result<TcpListener, Failure> {
    let cannot = |error: &std::io::Error| {
        Failure::because(&format!("`CICERONE_BIND`: cannot listen on `{address}`"), error)
    };
    let listener = TcpListener::bind(address).map_err(|error| cannot(&error))?;
    // The standard library uses a backlog of 128; listening again changes it.
    rustix::net::listen(&listener, BACKLOG).map_err(|error| cannot(&error.into()))?;
    Ok(listener)
}

/// Starts the background tasks.
fn start_work(parts: &Parts) -> Supervisor {
    let mut work = Supervisor::new(Pauses::default());
    let worker = parts.worker.clone();
    work.keep("worker", move |stop| {
        let worker = worker.clone();
        async move { worker.run(stop).await }
    });
    if let Some(learner) = parts.learner.clone() {
        work.keep("learner", move |stop| {
            let learner = learner.clone();
            async move { learner.run(stop).await }
        });
    }
    let checker = parts.checker.clone();
    work.keep("checker", move |stop| {
        let checker = checker.clone();
        async move { checker.run(stop).await }
    });
    let deliverer = parts.deliverer.clone();
    work.keep("deliverer", move |stop| {
        let deliverer = deliverer.clone();
        async move { deliverer.run(stop).await }
    });
    let housekeeper = parts.housekeeper.clone();
    work.keep("housekeeper", move |stop| {
        let housekeeper = housekeeper.clone();
        async move { housekeeper.run(stop).await }
    });
    let housekeeper = parts.housekeeper.clone();
    work.keep("measures", move |stop| {
        let housekeeper = housekeeper.clone();
        async move { housekeeper.measure(stop).await }
    });
    let (keys, audit) = (parts.keys.clone(), parts.audit.clone());
    work.keep("uses", move |stop| uses::run(keys.clone(), audit.clone(), stop));
    work.keep("memory", memory::give_back);
    let sweep = Sweep::new(parts.index.clone());
    work.keep("sweep", move |stop| {
        let sweep = sweep.clone();
        async move { sweep.run(stop).await }
    });
    work
}

fn application(
    configuration: &Configuration,
    settings: HttpSettings,
    parts: Parts,
    cursor_secret: [u8; 32],
    work: &mut Supervisor,
) -> Result<Application, Failure> {
    let failing = work.failing();
    let reads_pictures = configuration.settings.ocr().is_some();
    let metrics: Option<Arc<dyn Fn() -> String + Send + Sync>> =
        if configuration.settings.http.metrics {
            let handle = telemetry::metrics()?;
            let kept = handle.clone();
            work.keep("metrics", move |stop| {
                let kept = kept.clone();
                async move {
                    stop.run_until_cancelled(telemetry::upkeep(kept)).await;
                }
            });
            Some(Arc::new(move || handle.render()))
        } else {
            None
        };
    Ok(Application {
        cursor_secret,
        agents: parts.agents,
        sources: parts.sources,
        sites: parts.sites,
        uploads: parts.uploads,
        gaps: parts.gaps,
        conversations: parts.conversations,
        checks: parts.checks,
        idempotency: parts.idempotency,
        keys: parts.keys,
        spool: parts.spool,
        quotas: parts.quotas,
        audit: parts.audit,
        webhooks: parts.webhooks,
        widgets: parts.widgets,
        health: parts.storage,
        workers_running: Arc::new(move || failing.is_empty()),
        detect_upload_type: Arc::new(move |bytes| type_of(bytes, reads_pictures)),
        extra_models: configuration.extra_models(),
        public_url: configuration.public_url.clone(),
        metrics,
        join_trace: None,
        on_thread_start: cicerone_llm::connect_from_this_thread,
        clock: parts.clock,
        entropy: parts.entropy,
        settings,
    })
}

/// The type of an uploaded file, if this server reads it.
pub(crate) fn type_of(bytes: &[u8], reads_pictures: bool) -> Option<UploadType> {
    let picture = || UploadType::of_picture(bytes).filter(|_| reads_pictures);
    detect_upload_type(bytes).or_else(picture)
}

#[cfg(test)]
mod tests;
