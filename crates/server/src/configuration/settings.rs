//! The settings, as the configuration file writes them.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use cicerone_domain::services::ConversationLimits;
use cicerone_domain::usage::DefaultQuotas;
use cicerone_http::HttpSettings;
use cicerone_ingestion::{CrawlSettings, SandboxSettings};
use cicerone_llm::{ModelsConfig, Secret};
use cicerone_processing::{Retention, WorkerSettings};
use cicerone_storage::StorageOptions;
use cicerone_webhooks::DeliverySettings;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// All settings. Every one has a default, and `cicerone config check` prints those in effect.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The address to listen on.
    pub(crate) bind: String,
    /// The folder of everything that the embedded default keeps.
    pub(crate) data_dir: PathBuf,
    /// `sqlite:PATH` or `postgres://…`; a SQLite file in the data directory by default.
    pub(crate) database_url: Option<String>,
    /// `file:PATH` or `s3://BUCKET/PREFIX`; a folder in the data directory by default.
    pub(crate) object_store_url: Option<String>,
    /// The full-permission key of the account `default`.
    pub(crate) root_key: Option<Secret>,
    /// Address ranges that crawls and webhooks may reach although they are private.
    pub(crate) egress_allow: Vec<String>,
    /// Requests per API key and minute; 0 for no limit.
    pub(crate) rate_limit_per_minute: u32,
    /// Requests of all keys of an account together per minute, 0 for no limit; ten times the limit of
    /// a key by default.
    pub(crate) account_rate_limit_per_minute: Option<u32>,
    /// The log filter, as `RUST_LOG` has it.
    pub(crate) log: String,
    /// How log lines are written; as text on a terminal and as JSON elsewhere by default.
    pub(crate) log_format: Option<LogFormat>,
    /// The HTTP interface.
    pub(crate) http: HttpSection,
    /// The database.
    pub(crate) database: DatabaseSection,
    /// The processing of sources.
    pub(crate) workers: WorkersSection,
    /// The crawling of websites.
    pub(crate) crawl: CrawlSection,
    /// The deliveries of events.
    pub(crate) webhooks: WebhooksSection,
    /// The search index.
    pub(crate) index: IndexSection,
    /// How long what tells of the past is kept.
    pub(crate) retention: RetentionSection,
    /// What an account may use in a month, and keep.
    pub(crate) quotas: QuotasSection,
    /// Which models reply.
    pub(crate) models: ModelsConfig,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The section `http`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HttpSection {
    /// Threads that serve connections; one per processor by default.
    pub(crate) threads: Option<usize>,
    /// Replies in progress at once; beyond, callers are asked to come back.
    pub(crate) replies_at_once: usize,
    /// Files that may be on their way in at once.
    pub(crate) uploads_at_once: usize,
    /// Connections at once; further ones wait to be taken until others end.
    pub(crate) connections_at_once: usize,
    /// Failed authentications per client address and minute; 0 for no limit.
    pub(crate) failed_authentications_per_minute: u32,
    /// Address ranges of proxies that are believed when `X-Forwarded-For` says whom a request is from.
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// How long a request's head may take to arrive.
    pub(crate) head_seconds: u64,
    /// How long a JSON body may take to arrive.
    pub(crate) body_seconds: u64,
    /// How long a file may take to arrive.
    pub(crate) upload_seconds: u64,
    /// How long an idle connection is kept.
    pub(crate) keep_alive_seconds: u64,
    /// How long a client may take nothing of an answer before it is cut off.
    pub(crate) stall_seconds: u64,
    /// Whether `/metrics` answers.
    pub(crate) metrics: bool,
}

/// The section `database`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DatabaseSection {
    /// The longest that a read may take, and that a change waits for a row that another holds.
    pub(crate) read_seconds: u64,
    /// The longest that a change may take.
    pub(crate) write_seconds: u64,
    /// Bytes held back on the disk of a SQLite file, for deletions when it is full; 0 for none.
    pub(crate) reserve_bytes: u64,
}

/// The section `workers`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkersSection {
    /// Sources processed at once.
    pub(crate) parallel: usize,
    /// The longest that one attempt at a source may take.
    pub(crate) deadline_seconds: u64,
    /// Processes that read documents at once.
    pub(crate) readers: usize,
    /// The longest that reading one document may take.
    pub(crate) document_seconds: u64,
}

/// The section `crawl`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CrawlSection {
    /// Websites crawled at once.
    pub(crate) parallel: usize,
    /// Most pages of one website.
    pub(crate) pages: usize,
    /// The longest that one crawl may take.
    pub(crate) seconds: u64,
    /// Requests at a time to one host.
    pub(crate) requests_per_host: usize,
    /// Largest page, in bytes.
    pub(crate) page_bytes: usize,
}

/// The section `webhooks`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WebhooksSection {
    /// Attempts at once.
    pub(crate) parallel: usize,
    /// Attempts at one endpoint at once.
    pub(crate) per_endpoint: u32,
    /// How long an endpoint may take to answer.
    pub(crate) timeout_seconds: u64,
    /// Pauses before the attempts after the first; each varies by a fifth.
    pub(crate) pauses_seconds: Vec<u64>,
}

/// The section `retention`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RetentionSection {
    /// Days that deliveries of events are kept.
    pub(crate) deliveries_days: u64,
    /// Days that records of the audit log are kept.
    pub(crate) audit_days: u64,
}

/// The section `quotas`: of accounts without quotas of their own.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct QuotasSection {
    /// Messages that are answered in a calendar month of UTC; any number by default.
    pub(crate) messages_per_month: Option<u64>,
    /// Tokens of models in a calendar month of UTC; any number by default.
    pub(crate) tokens_per_month: Option<u64>,
    /// Bytes of sources, with what was extracted from them, and of files; any number by default.
    pub(crate) bytes: Option<u64>,
}

/// The section `index`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IndexSection {
    /// Agents whose index is kept open.
    pub(crate) open_agents: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bind: "127.0.0.1:8080".to_owned(),
            data_dir: PathBuf::from("./data"),
            database_url: None,
            object_store_url: None,
            root_key: None,
            egress_allow: Vec::new(),
            rate_limit_per_minute: HttpSettings::default().rate_limit_per_minute,
            account_rate_limit_per_minute: None,
            log: "info".to_owned(),
            log_format: None,
            http: HttpSection::default(),
            database: DatabaseSection::default(),
            workers: WorkersSection::default(),
            crawl: CrawlSection::default(),
            webhooks: WebhooksSection::default(),
            index: IndexSection::default(),
            retention: RetentionSection::default(),
            quotas: QuotasSection::default(),
            models: ModelsConfig::default(),
        }
    }
}

impl Default for HttpSection {
    fn default() -> Self {
        let http = HttpSettings::default();
        Self {
            threads: None,
            replies_at_once: ConversationLimits::default().replies,
            uploads_at_once: http.uploads_at_once,
            connections_at_once: http.connections_at_once,
            failed_authentications_per_minute: http.failed_authentications_per_minute,
            trusted_proxies: http.trusted_proxies,
            head_seconds: http.head_deadline.as_secs(),
            body_seconds: http.body_deadline.as_secs(),
            upload_seconds: http.upload_deadline.as_secs(),
            keep_alive_seconds: http.keep_alive.as_secs(),
            stall_seconds: http.stall_deadline.as_secs(),
            metrics: true,
        }
    }
}

impl Default for DatabaseSection {
    fn default() -> Self {
        let options = StorageOptions::default();
        Self {
            read_seconds: options.read_timeout.as_secs(),
            write_seconds: options.write_timeout.as_secs(),
            reserve_bytes: RESERVE_BYTES,
        }
    }
}

impl Default for CrawlSection {
    fn default() -> Self {
        let crawls = CrawlSettings::default();
        Self {
            parallel: WorkerSettings::default().crawls,
            pages: crawls.pages,
            seconds: crawls.time.as_secs(),
            requests_per_host: crawls.parallel,
            page_bytes: crawls.page_bytes,
        }
    }
}

impl Default for WorkersSection {
    fn default() -> Self {
        let workers = WorkerSettings::default();
        let sandbox = SandboxSettings::default();
        Self {
            parallel: workers.parallel,
            deadline_seconds: workers.deadline.as_secs(),
            readers: sandbox.processes,
            document_seconds: sandbox.wall.as_secs(),
        }
    }
}

impl Default for WebhooksSection {
    fn default() -> Self {
        let deliveries = DeliverySettings::default();
        Self {
            parallel: deliveries.at_once,
            per_endpoint: deliveries.per_endpoint,
            timeout_seconds: deliveries.timeout.as_secs(),
            pauses_seconds: deliveries.schedule.iter().map(Duration::as_secs).collect(),
        }
    }
}

impl Default for RetentionSection {
    fn default() -> Self {
        let retention = Retention::default();
        let days = |kept: Duration| kept.as_secs() / DAY_SECONDS;
        Self { deliveries_days: days(retention.deliveries), audit_days: days(retention.audit) }
    }
}

impl Default for IndexSection {
    fn default() -> Self {
        Self { open_agents: 256 }
    }
}

/// Most of anything that may go on at once: beyond lies a slip of the hand.
const MOST_AT_ONCE: usize = 100_000;
/// Held back on the disk if the settings say nothing else (16 MiB).
const RESERVE_BYTES: u64 = 16 * 1_024 * 1_024;
const DAY_SECONDS: u64 = 24 * 60 * 60;
/// The longest that an attempt at a delivery may take: the client waits no longer for an answer.
const LONGEST_ATTEMPT_SECONDS: u64 = 15;

impl Settings {
    /// Checks what must be at least one.
    pub(super) fn check_numbers(&self) -> Result<(), (&'static str, String)> {
        let (http, workers) = (&self.http, &self.workers);
        let positive = [
            ("http.threads", http.threads.is_none_or(|threads| threads > 0)),
            ("http.replies_at_once", http.replies_at_once > 0),
            ("http.uploads_at_once", http.uploads_at_once > 0),
            ("http.connections_at_once", http.connections_at_once > 0),
            ("http.head_seconds", http.head_seconds > 0),
            ("http.body_seconds", http.body_seconds > 0),
            ("http.upload_seconds", http.upload_seconds > 0),
            ("http.stall_seconds", http.stall_seconds > 0),
            ("database.read_seconds", self.database.read_seconds > 0),
            ("database.write_seconds", self.database.write_seconds > 0),
            ("workers.parallel", workers.parallel > 0),
            ("workers.deadline_seconds", workers.deadline_seconds > 0),
            ("workers.readers", workers.readers > 0),
            ("workers.document_seconds", workers.document_seconds > 0),
            ("crawl.parallel", self.crawl.parallel > 0),
            ("crawl.pages", self.crawl.pages > 0),
            ("crawl.seconds", self.crawl.seconds > 0),
            ("crawl.requests_per_host", self.crawl.requests_per_host > 0),
            ("crawl.page_bytes", self.crawl.page_bytes > 0),
            ("webhooks.parallel", self.webhooks.parallel > 0),
            ("webhooks.per_endpoint", self.webhooks.per_endpoint > 0),
            ("webhooks.timeout_seconds", self.webhooks.timeout_seconds > 0),
            ("index.open_agents", self.index.open_agents > 0),
            ("retention.deliveries_days", self.retention.deliveries_days > 0),
            ("retention.audit_days", self.retention.audit_days > 0),
        ];
        if let Some((key, _)) = positive.into_iter().find(|(_, holds)| !holds) {
            return Err((key, "must be at least 1".to_owned()));
        }
        let bounded = [
            ("http.threads", http.threads.unwrap_or_default()),
            ("http.replies_at_once", http.replies_at_once),
            ("http.uploads_at_once", http.uploads_at_once),
            ("http.connections_at_once", http.connections_at_once),
            ("workers.parallel", workers.parallel),
            ("workers.readers", workers.readers),
            ("crawl.parallel", self.crawl.parallel),
            ("crawl.requests_per_host", self.crawl.requests_per_host),
            ("webhooks.parallel", self.webhooks.parallel),
        ];
        if let Some((key, _)) = bounded.into_iter().find(|(_, number)| *number > MOST_AT_ONCE) {
            return Err((key, format!("must be at most {MOST_AT_ONCE}")));
        }
        if self.webhooks.timeout_seconds > LONGEST_ATTEMPT_SECONDS {
            let message = format!("must be at most {LONGEST_ATTEMPT_SECONDS}");
            return Err(("webhooks.timeout_seconds", message));
        }
        if self.crawl.seconds >= workers.deadline_seconds {
            let deadline = workers.deadline_seconds;
            let message = format!(
                "must be less than `workers.deadline_seconds` (`{deadline}`), which ends any processing"
            );
            return Err(("crawl.seconds", message));
        }
        Ok(())
    }

    /// How log lines are written: as set, else for whoever reads them.
    pub(crate) fn log_format(&self) -> LogFormat {
        let default =
            if std::io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
        self.log_format.unwrap_or(default)
    }

    /// The settings of the HTTP interface.
    pub(crate) fn http(&self) -> HttpSettings {
        let default = HttpSettings::default();
        HttpSettings {
            threads: self.http.threads.unwrap_or(default.threads),
            rate_limit_per_minute: self.rate_limit_per_minute,
            account_rate_limit_per_minute: self.account_rate_limit_per_minute,
            failed_authentications_per_minute: self.http.failed_authentications_per_minute,
            trusted_proxies: self.http.trusted_proxies.clone(),
            head_deadline: Duration::from_secs(self.http.head_seconds),
            body_deadline: Duration::from_secs(self.http.body_seconds),
            upload_deadline: Duration::from_secs(self.http.upload_seconds),
            uploads_at_once: self.http.uploads_at_once,
            connections_at_once: self.http.connections_at_once,
            keep_alive: Duration::from_secs(self.http.keep_alive_seconds),
            stall_deadline: Duration::from_secs(self.http.stall_seconds),
            ..default
        }
    }

    /// The settings of crawls.
    pub(crate) fn crawls(&self) -> CrawlSettings {
        CrawlSettings {
            pages: self.crawl.pages,
            time: Duration::from_secs(self.crawl.seconds),
            parallel: self.crawl.requests_per_host,
            page_bytes: self.crawl.page_bytes,
            ..CrawlSettings::default()
        }
    }

    /// The settings of the deliveries of events.
    pub(crate) fn deliveries(&self) -> DeliverySettings {
        DeliverySettings {
            per_endpoint: self.webhooks.per_endpoint,
            at_once: self.webhooks.parallel,
            timeout: Duration::from_secs(self.webhooks.timeout_seconds),
            schedule: self
                .webhooks
                .pauses_seconds
                .iter()
                .copied()
                .map(Duration::from_secs)
                .collect(),
            ..DeliverySettings::default()
        }
    }

    /// What an account without quotas of its own may use.
    pub(crate) const fn quotas(&self) -> DefaultQuotas {
        DefaultQuotas {
            messages: self.quotas.messages_per_month,
            tokens: self.quotas.tokens_per_month,
            bytes: self.quotas.bytes,
        }
    }

    /// How long what tells of the past is kept.
    pub(crate) fn retention(&self) -> Retention {
        let days = |days: u64| Duration::from_secs(days.saturating_mul(DAY_SECONDS));
        Retention {
            deliveries: days(self.retention.deliveries_days),
            audit: days(self.retention.audit_days),
        }
    }

    /// The settings of the processes that read documents.
    pub(crate) fn sandbox(&self) -> SandboxSettings {
        let limit = Duration::from_secs(self.workers.document_seconds);
        SandboxSettings {
            processes: self.workers.readers,
            wall: limit,
            processor: limit,
            ..SandboxSettings::default()
        }
    }

    /// The settings of the workers.
    pub(crate) fn workers(&self) -> WorkerSettings {
        WorkerSettings {
            parallel: self.workers.parallel,
            crawls: self.crawl.parallel,
            deadline: Duration::from_secs(self.workers.deadline_seconds),
            ..WorkerSettings::default()
        }
    }
}
