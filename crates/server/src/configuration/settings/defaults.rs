//! The defaults of the settings, taken from the parts that use them.

use std::path::PathBuf;
use std::time::Duration;

use cicerone_domain::services::ConversationLimits;
use cicerone_http::{HttpSettings, McpSettings};
use cicerone_ingestion::{CrawlSettings, SandboxSettings};
use cicerone_llm::{EmbeddingsConfig, ModelsConfig};
use cicerone_processing::{Retention, WorkerSettings};
use cicerone_storage::StorageOptions;
use cicerone_webhooks::DeliverySettings;

use super::{
    CrawlSection, DAY_SECONDS, DatabaseSection, HttpSection, IndexSection, McpSection, OcrSection,
    QuotasSection, RetentionSection, Settings, WebhooksSection, WorkersSection,
};

/// 16 MiB.
const RESERVE_BYTES: u64 = 16 * 1_024 * 1_024;

impl Default for Settings {
    fn default() -> Self {
        Self {
            bind: "127.0.0.1:8080".to_owned(),
            data_dir: PathBuf::from("./data"),
            database_url: None,
            object_store_url: None,
            root_key: None,
            egress_allow: Vec::new(),
            public_url: None,
            rate_limit_per_minute: HttpSettings::default().rate_limit_per_minute,
            account_rate_limit_per_minute: None,
            log: "info".to_owned(),
            log_format: None,
            http: HttpSection::default(),
            mcp: McpSection::default(),
            database: DatabaseSection::default(),
            workers: WorkersSection::default(),
            ocr: OcrSection::default(),
            crawl: CrawlSection::default(),
            webhooks: WebhooksSection::default(),
            index: IndexSection::default(),
            retention: RetentionSection::default(),
            quotas: QuotasSection::default(),
            models: ModelsConfig::default(),
            embeddings: EmbeddingsConfig::default(),
        }
    }
}

impl Default for HttpSection {
    fn default() -> Self {
        let (http, conversations) = (HttpSettings::default(), ConversationLimits::default());
        Self {
            threads: None,
            replies_at_once: conversations.replies,
            longest_wait_ms: u64::try_from(conversations.longest_wait.as_millis())
                .unwrap_or(u64::MAX),
            uploads_at_once: http.uploads_at_once,
            connections_at_once: http.connections_at_once,
            failed_authentications_per_minute: http.failed_authentications_per_minute,
            public_requests_per_minute: http.public_requests_per_minute,
            trusted_proxies: http.trusted_proxies,
            head_seconds: http.head_deadline.as_secs(),
            body_seconds: http.body_deadline.as_secs(),
            upload_seconds: http.upload_deadline.as_secs(),
            keep_alive_seconds: http.keep_alive.as_secs(),
            stall_seconds: http.stall_deadline.as_secs(),
            console: http.console.is_enabled,
            console_folder: None,
            widgets: http.widgets,
            book_widget: http.book_widget,
            metrics: true,
            server_timing: http.server_timing,
        }
    }
}

impl Default for McpSection {
    fn default() -> Self {
        Self { enabled: McpSettings::default().is_enabled, hosts: Vec::new() }
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
            document_seconds: sandbox.processor.as_secs(),
        }
    }
}

impl Default for OcrSection {
    fn default() -> Self {
        Self { command: None, languages: "eng".to_owned(), pages: 100, folders: Vec::new() }
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

impl Default for QuotasSection {
    fn default() -> Self {
        Self { agents: 10_000, messages_per_month: None, tokens_per_month: None, bytes: None }
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
        Self { open_agents: 256, memory_bytes: 64 * 1_024 * 1_024 }
    }
}
