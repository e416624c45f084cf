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
use cicerone_domain::{Clock, Entropy, Error, SystemClock, SystemEntropy};
use cicerone_egress::{Egress, EgressSettings, SystemResolver};
use cicerone_ingestion::{CrawlPorts, Crawler, EgressFetch, ReadPage, Readers};
use cicerone_llm::Models;
use cicerone_processing::{
    Checker, CheckerPorts, Housekeeper, Learner, LearnerPorts, Worker, WorkerPorts,
};
use cicerone_retrieval::{Index, IndexConfig, MeaningPorts, WordLikeness};
use cicerone_storage::{
    SpoolFolder, Storage, StorageOptions, UploadObjects, migrations, release_reserve,
};
use cicerone_webhooks::{Deliverer, Targets};

use crate::configuration::{Configuration, Environment, load};
use crate::data_directory;
use crate::database_file::DatabaseFile;
use crate::failure::Failure;

/// How many files are looked for in the object store at the start.
const LATEST_OBJECTS: u32 = 8;

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
    pub(crate) spool: Arc<SpoolFolder>,
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
        let adapters = Adapters::open(configuration, environment, own).await?;
        if own.is_some() {
            warn_of_own_folder(configuration);
            // A bucket that does not answer must not delay the start.
            tokio::spawn(check_objects(adapters.storage.clone(), adapters.objects.clone()));
        }
        let parts = adapters.connect(configuration);
        if configuration.is_embedded() {
            parts.take_back().await?;
        }
        Ok(parts)
    }

    /// Makes the unfinished work of the process that had the data directory before available again. It has ended, because
    /// the directory is locked.
    async fn take_back(&self) -> Result<(), Failure> {
        or_later(self.worker.reclaim(Reclaim::All).await)?;
        or_later(self.deliverer.take_back().await)?;
        or_later(self.storage.take_back_check_runs().await)?;
        if self.learner.is_some() {
            or_later(self.storage.take_back_vectors().await)?;
        }
        Ok(())
    }
}

/// A start goes on without this: on a full disk, the server must run so that something can be deleted. What is not taken
/// back now becomes available when its lease ends.
fn or_later(outcome: Result<(), Error>) -> Result<(), Failure> {
    match outcome {
        Err(error @ Error::Unavailable(_)) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "unfinished work of the previous run cannot continue until its leases end"
            );
            Ok(())
        }
        outcome => Ok(outcome?),
    }
}

/// The adapters, opened, and the signals between the services that use them.
struct Adapters {
    storage: Arc<Storage>,
    index: Index,
    objects: Arc<UploadObjects>,
    models: Arc<Models>,
    embedder: Option<Arc<dyn Embedder>>,
    /// The space of the vectors that the index searches.
    space: CurrentSpace,
    egress: Egress,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    /// A source was added or changed.
    source_changed: WorkSignal,
    /// An event was written that webhooks may want.
    event_written: WorkSignal,
    /// A run of checks was requested.
    run_queued: WorkSignal,
}

impl Adapters {
    async fn open(
        configuration: &Configuration,
        environment: &Environment,
        own: Option<SocketAddr>,
    ) -> Result<Self, Failure> {
        // Checks come first: a start with a bad setting does not touch the database.
        let models = Arc::new(configuration.models(environment)?);
        let embeddings = configuration.embeddings(environment)?;
        let objects = UploadObjects::open(&configuration.object_store_url)
            .map_err(|error| Failure::because("`CICERONE_OBJECT_STORE_URL`", &error))?;
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
        Ok(Self {
            storage,
            index,
            objects: Arc::new(objects),
            models,
            embedder,
            space,
            egress,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            source_changed: WorkSignal::default(),
            event_written: WorkSignal::default(),
            run_queued: WorkSignal::default(),
        })
    }

    /// The services over these adapters.
    fn connect(self, configuration: &Configuration) -> Parts {
        let quotas = configuration.settings.quotas();
        let quotas = Quotas::new(self.storage.clone(), quotas, self.clock.clone());
        let conversations = self.conversations(configuration, quotas.clone());
        let reader: Arc<dyn ReadPage> = Arc::new(Readers::new(configuration.settings.sandbox()));
        let crawler = Arc::new(self.crawler(configuration, reader.clone()));
        let worker = self.worker(configuration, &conversations, reader, crawler.clone());
        let (learner, checker) = (self.learner(configuration), self.checker(&conversations));
        let deliverer = Deliverer::new(
            self.storage.clone(),
            self.egress.clone(),
            self.event_written.clone(),
            self.clock.clone(),
            self.entropy.clone(),
            configuration.settings.deliveries(),
        );
        let Self { storage, index, objects, models, egress, clock, entropy, .. } = self;
        let passages: Arc<dyn PassageIndex> = Arc::new(index.clone());
        let (source_changed, event_written) = (self.source_changed, self.event_written);
        let spool = Arc::new(SpoolFolder::new(configuration.data_dir()));
        Parts {
            agents: Agents::new(
                storage.clone(),
                passages.clone(),
                models,
                clock.clone(),
                entropy.clone(),
            ),
            gaps: Gaps::new(GapPorts {
                store: storage.clone(),
                agents: storage.clone(),
                index: passages.clone(),
                likeness: Arc::new(WordLikeness::default()),
                signal: source_changed.clone(),
                clock: clock.clone(),
                entropy: entropy.clone(),
            }),
            sources: Sources::new(
                storage.clone(),
                storage.clone(),
                passages,
                source_changed,
                clock.clone(),
                entropy.clone(),
            ),
            sites: Sites::new(storage.clone(), crawler),
            uploads: Uploads::new(
                storage.clone(),
                objects.clone(),
                spool.clone(),
                clock.clone(),
                entropy.clone(),
            ),
            conversations,
            checks: Checks::new(storage.clone(), self.run_queued, clock.clone(), entropy.clone()),
            quotas,
            idempotency: Idempotency::new(storage.clone(), clock.clone(), entropy.clone()),
            keys: Keys::new(storage.clone(), clock.clone(), entropy.clone()),
            spool,
            audit: Audit::new(storage.clone(), storage.clone(), clock.clone(), entropy.clone()),
            webhooks: Webhooks::new(
                storage.clone(),
                Arc::new(Targets::new(egress)),
                event_written.clone(),
                clock.clone(),
                entropy.clone(),
            ),
            widgets: Widgets::new(storage.clone(), event_written, clock.clone(), entropy.clone()),
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
        }
    }

    fn conversations(&self, configuration: &Configuration, quotas: Quotas) -> Conversations {
        Conversations::new(
            self.storage.clone(),
            Arc::new(self.index.clone()),
            self.models.clone(),
            self.clock.clone(),
            self.entropy.clone(),
            quotas,
            configuration.settings.conversations(),
        )
        .at(configuration.public_url.clone())
        .signalling(self.event_written.clone())
    }

    fn crawler(&self, configuration: &Configuration, read: Arc<dyn ReadPage>) -> Crawler {
        let ports = CrawlPorts {
            fetch: Arc::new(EgressFetch::new(self.egress.clone())),
            read,
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
        };
        Crawler::new(ports, configuration.settings.crawls())
    }

    fn worker(
        &self,
        configuration: &Configuration,
        conversations: &Conversations,
        reader: Arc<dyn ReadPage>,
        crawler: Arc<Crawler>,
    ) -> Worker {
        let ports = WorkerPorts {
            jobs: self.storage.clone(),
            uploads: self.storage.clone(),
            objects: self.objects.clone(),
            reader,
            crawler,
            crawls: self.storage.clone(),
            answers: Arc::new(conversations.clone()),
            index: Arc::new(self.index.clone()),
            signal: self.source_changed.clone(),
            event_written: self.event_written.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
        };
        Worker::new(ports, configuration.settings.workers())
    }

    /// `None` if search is by words only.
    fn learner(&self, configuration: &Configuration) -> Option<Learner> {
        let ports = LearnerPorts {
            vectors: self.storage.clone(),
            embedder: self.embedder.clone()?,
            index: Arc::new(self.index.clone()),
            space: self.space.clone(),
            trained: self.event_written.clone(),
            clock: self.clock.clone(),
        };
        Some(Learner::new(ports, configuration.settings.embeddings.floor))
    }

    fn checker(&self, conversations: &Conversations) -> Checker {
        Checker::new(CheckerPorts {
            checks: self.storage.clone(),
            answers: Arc::new(conversations.clone()),
            signal: self.run_queued.clone(),
            event_written: self.event_written.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
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

/// Warns if uploads are in the data directory although other servers may share the database: the others answer requests for
/// these files with 503. There is no warning if the setting names the folder.
fn warn_of_own_folder(configuration: &Configuration) {
    if !configuration.is_embedded() && configuration.settings.object_store_url.is_none() {
        let folder = &configuration.object_store_url;
        tracing::warn!(
            folder,
            "uploads are in the data directory, where other servers on this database do not find them: set \
             `CICERONE_OBJECT_STORE_URL` to one place for all servers, or to this folder if this is the only one"
        );
    }
}

/// Warns if the object store has none of the files that were uploaded last: the folder may not be mounted, or the setting
/// may name another one.
async fn check_objects(storage: Arc<Storage>, objects: Arc<UploadObjects>) {
    let none_found = async || {
        let keys = storage.latest_objects(LATEST_OBJECTS).await?;
        for key in &keys {
            if objects.has(key).await? {
                return Ok(false);
            }
        }
        Ok::<_, Error>(!keys.is_empty())
    };
    match none_found().await {
        Ok(false) => {}
        Ok(true) => tracing::warn!(
            "the object store has none of the files that were uploaded last: check \
             `CICERONE_OBJECT_STORE_URL`, and whether its folder is mounted"
        ),
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "the object store could not be checked");
        }
    }
}

/// Opens and migrates only the database, and runs `work`, which manages accounts and keys.
pub(crate) fn with_accounts(
    environment: &Environment,
    work: impl AsyncFnOnce(Keys, Quotas) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let configuration = load(environment)?;
    check_exists(&configuration)?;
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

/// Returns an error if there is no SQLite database: with a typing mistake in a setting, a command would create another
/// one and change that. Also if a restore of it was interrupted.
pub(crate) fn check_exists(configuration: &Configuration) -> Result<(), Failure> {
    let Some(path) = configuration.database.sqlite_path().filter(|path| !path.exists()) else {
        return Ok(());
    };
    if configuration.data_dir().exists() {
        check_whole(configuration)?;
    }
    Err(Failure::new(format!(
        "there is no database at `{}` yet; the first start of the server or `cicerone migrate run` creates it",
        path.display()
    )))
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
    let account_agents = Some(configuration.settings.quotas.agents).filter(|most| *most > 0);
    let section = &configuration.settings.database;
    let options = StorageOptions {
        account_bytes,
        account_agents,
        read_timeout: Duration::from_secs(section.read_seconds),
        write_timeout: Duration::from_secs(section.write_seconds),
        reserve_bytes,
        ..StorageOptions::default()
    };
    let opened = tokio::task::spawn_blocking(move || {
        let open = || {
            let names = migrations::run(&database)?;
            if let Some(last) = names.last() {
                tracing::info!(migrations = names.len(), last, "changed the database's schema");
            }
            Storage::open(&database, &options)
        };
        match open() {
            Err(error)
                if error.may_lack_space()
                    && options.reserve_bytes > 0
                    && release_reserve(&database) =>
            {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "released the reserve on the disk to open the database");
                open()
            }
            opened => opened,
        }
    });
    let opened = opened.await.map_err(|error| Failure::because("opening the database", &error))?;
    Ok(opened?)
}

/// Threads for blocking work; name lookups have their own. Few are enough, because SQLite has one
/// writer and a machine has few processors.
const BLOCKING_THREADS: usize = 32;

/// A runtime with `threads` threads for tasks.
pub(crate) fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(BLOCKING_THREADS)
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
