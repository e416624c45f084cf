//! Connects the ports with their adapters. This is the only module that knows all of them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::job::Reclaim;
use cicerone_domain::meaning::CurrentSpace;
use cicerone_domain::ports::{Embedder, PassageIndex, VectorStore as _, WorkSignal};
use cicerone_domain::services::{
    Agents, Audit, Checks, Conversations, GapPorts, Gaps, Idempotency, Keys, Quotas, Sites,
    Sources, Uploads, Webhooks, Widgets,
};
use cicerone_domain::{Clock, Entropy, SystemClock, SystemEntropy};
use cicerone_egress::{Egress, EgressSettings, LOOKUPS_AT_ONCE, SystemResolver};
use cicerone_ingestion::{CrawlPorts, Crawler, EgressFetch, ReadPage, Readers};
use cicerone_processing::{
    Checker, CheckerPorts, Housekeeper, Learner, LearnerPorts, Worker, WorkerPorts,
};
use cicerone_retrieval::{Index, IndexConfig, MeaningPorts, WordLikeness};
use cicerone_storage::{SpoolFolder, Storage, StorageOptions, UploadObjects, migrations};
use cicerone_webhooks::{Deliverer, Targets};

use crate::configuration::{Configuration, Environment, load};
use crate::data_directory;
use crate::database_file::DatabaseFile;
use crate::failure::Failure;

/// The parts of the program, connected.
pub(crate) struct Parts {
    pub(crate) storage: Arc<Storage>,
    pub(crate) index: Index,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) agents: Agents,
    pub(crate) sources: Sources,
    pub(crate) sites: Sites,
    pub(crate) uploads: Uploads,
    pub(crate) gaps: Gaps,
    pub(crate) conversations: Conversations,
    pub(crate) checks: Checks,
    pub(crate) idempotency: Idempotency,
    pub(crate) keys: Keys,
    pub(crate) quotas: Quotas,
    pub(crate) audit: Audit,
    pub(crate) webhooks: Webhooks,
    pub(crate) widgets: Widgets,
    pub(crate) worker: Worker,
    /// `None` if search is by words only.
    pub(crate) learner: Option<Learner>,
    pub(crate) checker: Checker,
    pub(crate) deliverer: Deliverer,
    pub(crate) housekeeper: Housekeeper,
}

impl Parts {
    /// Opens everything that the configuration names, and migrates the database to the current
    /// schema. The caller holds the lock of the data directory. `own` is the address that the
    /// caller listens on, if any.
    pub(crate) async fn open(
        configuration: &Configuration,
        environment: &Environment,
        own: Option<SocketAddr>,
    ) -> Result<Self, Failure> {
        // Checks come first: a start with a bad setting does not touch the database.
        let models = Arc::new(configuration.models(environment)?);
        let embeddings = configuration.embeddings(environment)?;
        let objects = UploadObjects::open(&configuration.object_store_url)
            .map_err(|error| Failure::because("`CICERONE_OBJECT_STORE_URL`", &error))?;
        let objects = Arc::new(objects);
        let egress = egress(configuration, own)?;
        // Only a server reserves space: commands run beside one, or only once.
        let reserve = own.map_or(0, |_| configuration.settings.database.reserve_bytes);
        let storage = Arc::new(open_storage(configuration, reserve).await?);
        let index_config = IndexConfig {
            directory: configuration.index_dir(),
            open_agents: configuration.settings.index.open_agents,
            memory_bytes: configuration.settings.index.memory_bytes,
        };
        let space = CurrentSpace::default();
        let embedder = embeddings.map(|embeddings| Arc::new(embeddings) as Arc<dyn Embedder>);
        let meaning = embedder.clone().map(|embedder| {
            let ports = MeaningPorts { embedder, feed: storage.clone(), space: space.clone() };
            (ports, configuration.settings.meaning())
        });
        let index = Index::open_with(index_config, storage.clone(), meaning)
            .map_err(|error| Failure::because("cannot open the index", &error))?;
        let passages: Arc<dyn PassageIndex> = Arc::new(index.clone());
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let entropy: Arc<dyn Entropy> = Arc::new(SystemEntropy);
        let (signal, event_written) = (WorkSignal::default(), WorkSignal::default());
        let limits = configuration.settings.conversations();

        let quotas = configuration.settings.quotas();
        let quotas = Quotas::new(storage.clone(), quotas, clock.clone());

        let conversations = Conversations::new(
            storage.clone(),
            passages.clone(),
            models.clone(),
            clock.clone(),
            entropy.clone(),
            quotas.clone(),
            limits,
        )
        .at(configuration.public_url.clone())
        .signalling(event_written.clone());
        let reader: Arc<dyn ReadPage> = Arc::new(Readers::new(configuration.settings.sandbox()));
        let crawl_ports = CrawlPorts {
            fetch: Arc::new(EgressFetch::new(egress.clone())),
            read: reader.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
        };
        let crawler = Arc::new(Crawler::new(crawl_ports, configuration.settings.crawls()));
        let worker = Worker::new(
            WorkerPorts {
                jobs: storage.clone(),
                uploads: storage.clone(),
                objects: objects.clone(),
                reader,
                crawler: crawler.clone(),
                crawls: storage.clone(),
                answers: Arc::new(conversations.clone()),
                index: passages.clone(),
                signal: signal.clone(),
                event_written: event_written.clone(),
                clock: clock.clone(),
                entropy: entropy.clone(),
            },
            configuration.settings.workers(),
        );
        let learner = embedder.map(|embedder| {
            let ports = LearnerPorts {
                vectors: storage.clone(),
                embedder,
                index: passages.clone(),
                space,
                trained: event_written.clone(),
                clock: clock.clone(),
            };
            Learner::new(ports, configuration.settings.embeddings.floor)
        });
        let deliverer = Deliverer::new(
            storage.clone(),
            egress.clone(),
            event_written.clone(),
            clock.clone(),
            entropy.clone(),
            configuration.settings.deliveries(),
        );
        if configuration.is_embedded() {
            // The data directory is locked, so the process that had these jobs has ended.
            worker.reclaim(Reclaim::All).await?;
            deliverer.take_back().await?;
            storage.take_back_check_runs().await?;
            if learner.is_some() {
                storage.take_back_vectors().await?;
            }
        }
        let widgets =
            Widgets::new(storage.clone(), event_written.clone(), clock.clone(), entropy.clone());
        let queued = WorkSignal::default();
        let checker = Checker::new(CheckerPorts {
            checks: storage.clone(),
            answers: Arc::new(conversations.clone()),
            signal: queued.clone(),
            event_written: event_written.clone(),
            clock: clock.clone(),
            entropy: entropy.clone(),
        });
        Ok(Self {
            agents: Agents::new(
                storage.clone(),
                passages.clone(),
                models.clone(),
                clock.clone(),
                entropy.clone(),
            ),
            gaps: Gaps::new(GapPorts {
                store: storage.clone(),
                agents: storage.clone(),
                index: passages.clone(),
                likeness: Arc::new(WordLikeness::default()),
                signal: signal.clone(),
                clock: clock.clone(),
                entropy: entropy.clone(),
            }),
            sources: Sources::new(
                storage.clone(),
                storage.clone(),
                passages.clone(),
                signal,
                clock.clone(),
                entropy.clone(),
            ),
            sites: Sites::new(storage.clone(), crawler),
            uploads: Uploads::new(
                storage.clone(),
                objects.clone(),
                Arc::new(SpoolFolder::new(configuration.data_dir())),
                clock.clone(),
                entropy.clone(),
            ),
            conversations,
            checks: Checks::new(storage.clone(), queued, clock.clone(), entropy.clone()),
            quotas,
            idempotency: Idempotency::new(storage.clone(), clock.clone(), entropy.clone()),
            keys: Keys::new(storage.clone(), clock.clone(), entropy.clone()),
            audit: Audit::new(storage.clone(), storage.clone(), clock.clone(), entropy.clone()),
            webhooks: Webhooks::new(
                storage.clone(),
                Arc::new(Targets::new(egress)),
                event_written,
                clock.clone(),
                entropy.clone(),
            ),
            widgets,
            housekeeper: Housekeeper::new(
                storage.clone(),
                objects,
                clock.clone(),
                configuration.settings.retention(),
            ),
            storage,
            index,
            clock,
            entropy,
            worker,
            learner,
            checker,
            deliverer,
        })
    }
}

/// The client for untrusted addresses.
pub(crate) fn egress(
    configuration: &Configuration,
    own: Option<SocketAddr>,
) -> Result<Egress, Failure> {
    let settings = EgressSettings {
        allow: configuration.egress_allow.clone(),
        own: own.into_iter().collect(),
        ..EgressSettings::default()
    };
    Egress::new(settings, Arc::new(SystemResolver))
        .map_err(|error| Failure::because("cannot set up the client for websites", &error))
}

/// Opens and migrates only the database, and runs `work`, which manages accounts and keys.
pub(crate) fn with_accounts(
    environment: &Environment,
    work: impl AsyncFnOnce(Keys, Quotas) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let configuration = load(environment)?;
    data_directory::create(configuration.data_dir())?;
    runtime(1)?.block_on(async {
        let storage = open_storage(&configuration, 0).await?;
        let (store, clock) = (Arc::new(storage.clone()), Arc::new(SystemClock));
        let keys = Keys::new(store.clone(), clock.clone(), Arc::new(SystemEntropy));
        let quotas = Quotas::new(store, configuration.settings.quotas(), clock);
        let outcome = work(keys, quotas).await;
        storage.close().await;
        outcome
    })
}

/// Returns an error if a restore of the SQLite database was interrupted.
pub(crate) fn check_whole(configuration: &Configuration) -> Result<(), Failure> {
    match configuration.database.sqlite_path() {
        Some(path) => DatabaseFile::find(path)?.check_whole(),
        None => Ok(()),
    }
}

async fn open_storage(
    configuration: &Configuration,
    reserve_bytes: u64,
) -> Result<Storage, Failure> {
    check_whole(configuration)?;
    let database = configuration.database.clone();
    let account_bytes = configuration.settings.quotas().bytes;
    let section = &configuration.settings.database;
    let options = StorageOptions {
        account_bytes,
        read_timeout: Duration::from_secs(section.read_seconds),
        write_timeout: Duration::from_secs(section.write_seconds),
        reserve_bytes,
        ..StorageOptions::default()
    };
    let opened = tokio::task::spawn_blocking(move || {
        for name in migrations::run(&database)? {
            tracing::info!(migration = name, "changed the database's schema");
        }
        Storage::open(&database, &options)
    });
    let opened = opened.await.map_err(|error| Failure::because("opening the database", &error))?;
    Ok(opened?)
}

/// Blocking threads in addition to those for name lookups. Few are enough, because SQLite has one
/// writer and a machine has few processors.
const BLOCKING_THREADS: usize = 32;

/// A runtime with `threads` threads for tasks.
pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(BLOCKING_THREADS + LOOKUPS_AT_ONCE)
        .enable_all()
        .build()
        .map_err(|error| Failure::because("cannot start the runtime", &error))
}

/// Chooses the implementation of TLS, which every client of an upstream needs.
pub(crate) fn install_tls() -> Result<(), Failure> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| Failure::new("another implementation of TLS is in place"))
}
