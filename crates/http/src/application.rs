//! What the interface is made from, and its settings.

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::Health;
use cicerone_domain::services::{
    Agents, Audit, Conversations, Idempotency, Keys, Quotas, Sources, Uploads, Webhooks,
};
use cicerone_domain::{Clock, Entropy, UploadType};
use ipnet::IpNet;

/// Tells a file's type by its content.
pub type DetectUploadType = Arc<dyn Fn(&[u8]) -> Option<UploadType> + Send + Sync>;

/// Everything that the interface serves.
#[derive(Clone)]
pub struct Application {
    /// Use cases of agents.
    pub agents: Agents,
    /// Use cases of sources, and search.
    pub sources: Sources,
    /// Use cases of uploaded files.
    pub uploads: Uploads,
    /// Use cases of conversations.
    pub conversations: Conversations,
    /// Usage and quotas.
    pub quotas: Quotas,
    /// The audit log.
    pub audit: Audit,
    /// Use cases of webhook endpoints.
    pub webhooks: Webhooks,
    /// Admits requests with an idempotency key.
    pub idempotency: Idempotency,
    /// Tells who a request is from.
    pub keys: Keys,
    /// Whether the database can serve, for `/readyz`.
    pub health: Arc<dyn Health>,
    /// Whether the workers of this process run, for `/readyz`.
    pub workers_running: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Tells an upload's type; may take milliseconds and is called on a blocking thread.
    pub detect_upload_type: DetectUploadType,
    /// Model names beyond the specification's that this server's configuration defines, for the
    /// OpenAPI document.
    pub extra_models: Vec<String>,
    /// The text of `/metrics`; none where metrics are off.
    pub metrics: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness for request ids.
    pub entropy: Arc<dyn Entropy>,
    /// The installation's secret that cursors are signed with.
    pub cursor_secret: [u8; 32],
    /// The settings.
    pub settings: HttpSettings,
}

/// How many times a key's limit of requests all keys of an account have together by default.
const KEYS_PER_ACCOUNT_LIMIT: u32 = 10;

/// Settings of the interface.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Threads that serve connections.
    pub threads: usize,
    /// Requests per API key and minute; 0 for no limit.
    pub rate_limit_per_minute: u32,
    /// Requests of all keys of an account together per minute; 0 for no limit. `None` is ten times the
    /// limit of a key.
    pub account_rate_limit_per_minute: Option<u32>,
    /// Failed authentications per client address and minute; 0 for no limit.
    pub failed_authentications_per_minute: u32,
    /// Proxies that are believed when they say whom a request is from.
    pub trusted_proxies: Vec<IpNet>,
    /// Connections at once; further ones wait to be taken until others end.
    pub connections_at_once: usize,
    /// How long the head of a request may take to arrive.
    pub head_deadline: Duration,
    /// How long a JSON body may take to arrive, and a file between two pieces and before its least
    /// rate counts.
    pub body_deadline: Duration,
    /// How long a file may take to arrive as a whole.
    pub upload_deadline: Duration,
    /// Files that may be on their way at once; beyond, 503. Half as many again are kept for accounts
    /// that have fewer than their share. Each takes up to 10 MiB of disk space while it arrives.
    pub uploads_at_once: usize,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// How long a client may take nothing of an answer.
    pub stall_deadline: Duration,
    /// How long a stream may stay silent before a comment is sent.
    pub heartbeat: Duration,
    /// How long a graceful stop waits for what is in flight.
    pub stop_grace: Duration,
}

impl HttpSettings {
    /// Requests of all keys of an account together per minute; 0 for no limit.
    pub(crate) fn account_rate_limit(&self) -> u32 {
        let default = self.rate_limit_per_minute.saturating_mul(KEYS_PER_ACCOUNT_LIMIT);
        self.account_rate_limit_per_minute.unwrap_or(default)
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            rate_limit_per_minute: 6_000,
            account_rate_limit_per_minute: None,
            failed_authentications_per_minute: 300,
            trusted_proxies: Vec::new(),
            connections_at_once: 16_384,
            head_deadline: Duration::from_secs(10),
            body_deadline: Duration::from_secs(30),
            upload_deadline: Duration::from_secs(600),
            uploads_at_once: 64,
            keep_alive: Duration::from_secs(75),
            stall_deadline: Duration::from_secs(30),
            heartbeat: Duration::from_secs(10),
            stop_grace: Duration::from_secs(30),
        }
    }
}
