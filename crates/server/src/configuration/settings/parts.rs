//! Converts the settings of the file to those of each part of the service.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use cicerone_domain::services::ConversationLimits;
use cicerone_domain::usage::DefaultQuotas;
use cicerone_http::{ConsoleSettings, HttpSettings};
use cicerone_ingestion::{CrawlSettings, OcrSettings, SandboxSettings};
use cicerone_processing::{Retention, WorkerSettings};
use cicerone_retrieval::MeaningConfig;
use cicerone_webhooks::DeliverySettings;

use super::{DAY_SECONDS, LogFormat, Settings};

/// A reader's limit of wall time is this many times its limit of processor time: on a busy machine
/// a process waits more than it runs.
const WALL_FACTOR: u32 = 3;

impl Settings {
    /// How log lines are written: the setting, or its default, which depends on whether standard
    /// error is a terminal.
    pub(crate) fn log_format(&self) -> LogFormat {
        let default =
            if std::io::stderr().is_terminal() { LogFormat::Text } else { LogFormat::Json };
        self.log_format.unwrap_or(default)
    }

    pub(crate) fn http(&self) -> HttpSettings {
        let default = HttpSettings::default();
        HttpSettings {
            threads: self.http.threads.unwrap_or(default.threads),
            rate_limit_per_minute: self.rate_limit_per_minute,
            account_rate_limit_per_minute: self.account_rate_limit_per_minute,
            failed_authentications_per_minute: self.http.failed_authentications_per_minute,
            public_requests_per_minute: self.http.public_requests_per_minute,
            trusted_proxies: self.http.trusted_proxies.clone(),
            head_deadline: Duration::from_secs(self.http.head_seconds),
            body_deadline: Duration::from_secs(self.http.body_seconds),
            upload_deadline: Duration::from_secs(self.http.upload_seconds),
            uploads_at_once: self.http.uploads_at_once,
            connections_at_once: self.http.connections_at_once,
            keep_alive: Duration::from_secs(self.http.keep_alive_seconds),
            stall_deadline: Duration::from_secs(self.http.stall_seconds),
            server_timing: self.http.server_timing,
            console: ConsoleSettings {
                is_enabled: self.http.console,
                folder: self.http.console_folder.clone(),
            },
            widgets: self.http.widgets,
            book_widget: self.http.book_widget,
            // The other half is left to the keys of the account.
            visitor_replies: self.http.replies_at_once.div_ceil(2),
            ..default
        }
    }

    pub(crate) fn conversations(&self) -> ConversationLimits {
        ConversationLimits {
            replies: self.http.replies_at_once,
            longest_wait: Duration::from_millis(self.http.longest_wait_ms),
            threads: self.http().threads,
        }
    }

    pub(crate) fn crawls(&self) -> CrawlSettings {
        CrawlSettings {
            pages: self.crawl.pages,
            time: Duration::from_secs(self.crawl.seconds),
            parallel: self.crawl.requests_per_host,
            page_bytes: self.crawl.page_bytes,
            ..CrawlSettings::default()
        }
    }

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

    /// The quotas of accounts without their own quotas.
    pub(crate) const fn quotas(&self) -> DefaultQuotas {
        DefaultQuotas {
            messages: self.quotas.messages_per_month,
            tokens: self.quotas.tokens_per_month,
            bytes: self.quotas.bytes,
        }
    }

    /// How long old records are kept.
    pub(crate) fn retention(&self) -> Retention {
        let days = |days: u64| Duration::from_secs(days.saturating_mul(DAY_SECONDS));
        Retention {
            deliveries: days(self.retention.deliveries_days),
            audit: days(self.retention.audit_days),
        }
    }

    /// The settings of searches by meaning.
    pub(crate) fn meaning(&self) -> MeaningConfig {
        let embeddings = &self.embeddings;
        MeaningConfig {
            weight: embeddings.weight as f32,
            patience: Duration::from_secs_f64(embeddings.question_seconds),
            kept: Duration::from_secs(embeddings.cache_seconds),
        }
    }

    /// The settings of the processes that read documents.
    pub(crate) fn sandbox(&self) -> SandboxSettings {
        let processor = Duration::from_secs(self.workers.document_seconds);
        SandboxSettings {
            processes: self.workers.readers,
            wall: processor.saturating_mul(WALL_FACTOR),
            processor,
            ocr: self.ocr(),
            ..SandboxSettings::default()
        }
    }

    /// The program that recognises the text of pictures, if there is one.
    pub(crate) fn ocr(&self) -> Option<OcrSettings> {
        let ocr = &self.ocr;
        let program = ocr.command.as_deref()?;
        Some(OcrSettings {
            pictures: ocr.pages,
            folders: ocr.folders.iter().map(PathBuf::from).collect(),
            ..OcrSettings::like_tesseract(program, &ocr.languages)
        })
    }

    pub(crate) fn workers(&self) -> WorkerSettings {
        WorkerSettings {
            parallel: self.workers.parallel,
            crawls: self.crawl.parallel,
            deadline: Duration::from_secs(self.workers.deadline_seconds),
            ..WorkerSettings::default()
        }
    }
}
