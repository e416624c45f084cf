//! The parts that the interface is built from, and its settings.

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::ports::{Health, Spool};
use cicerone_domain::services::{
    Agents, Audit, Checks, Conversations, Gaps, Idempotency, Keys, Quotas, Sites, Sources, Uploads,
    Webhooks, Widgets,
};
use cicerone_domain::widget::WidgetToken;
use cicerone_domain::{Clock, Entropy, PublicUrl, UploadType, limits};
use ipnet::IpNet;

use crate::console::ConsoleSettings;
use crate::mcp::McpSettings;

/// Detects the type of a file by its content.
pub type DetectUploadType = Arc<dyn Fn(&[u8]) -> Option<UploadType> + Send + Sync>;

/// Makes a request's span part of the caller's trace: the span, and the values of the headers `traceparent` and
/// `tracestate` ([W3C Trace Context](https://www.w3.org/TR/trace-context/)). A value that is not valid is ignored.
pub type JoinTrace = fn(&tracing::Span, &str, &str);

/// Everything that the interface serves.
#[derive(Clone)]
pub struct Application {
    /// Agents and their settings.
    pub agents: Agents,
    /// Sources, and search.
    pub sources: Sources,
    /// Websites before they are sources.
    pub sites: Sites,
    /// Uploaded files.
    pub uploads: Uploads,
    /// Questions that were not answered.
    pub gaps: Gaps,
    /// Conversations, and replies.
    pub conversations: Conversations,
    /// Use cases of checks.
    pub checks: Checks,
    /// Quotas, and usage.
    pub quotas: Quotas,
    /// The audit log.
    pub audit: Audit,
    /// Webhook endpoints and deliveries.
    pub webhooks: Webhooks,
    /// Widgets, and what their visitors may do.
    pub widgets: Widgets,
    /// Admits requests that carry an idempotency key.
    pub idempotency: Idempotency,
    /// API keys: authentication and administration.
    pub keys: Keys,
    /// Keeps answers outside of memory while their clients read them slowly.
    pub spool: Arc<dyn Spool>,
    /// Whether the database can serve, for `/readyz`.
    pub health: Arc<dyn Health>,
    /// Whether the workers of this process run, for `/readyz`.
    pub workers_running: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Takes milliseconds, so it is called on a blocking thread.
    pub detect_upload_type: DetectUploadType,
    /// The model names that the configuration adds to the built-in ones, for the OpenAPI document.
    pub extra_models: Vec<String>,
    /// Renders the text of `/metrics`; `None` if metrics are turned off.
    pub metrics: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    /// How requests join the traces of their callers; `None` if there are no traces.
    pub join_trace: Option<JoinTrace>,
    /// The address at which everybody reaches the server; `None` if it has none, and nothing is public.
    pub public_url: Option<PublicUrl>,
    /// Called once on each thread that serves connections, within its runtime.
    pub on_thread_start: fn(),
    /// For expiries, and for what depends on the time of a request.
    pub clock: Arc<dyn Clock>,
    /// For request ids.
    pub entropy: Arc<dyn Entropy>,
    /// The secret of the installation with which cursors are signed.
    pub cursor_secret: [u8; 32],
    /// Limits and deadlines.
    pub settings: HttpSettings,
}

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
    /// Requests without a key per client address and minute, for public pages; 0 for no limit.
    pub public_requests_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` header is trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Connections at once; further ones wait to be accepted until others end.
    pub connections_at_once: usize,
    /// How long the head of a request may take to arrive.
    pub head_deadline: Duration,
    /// How long a JSON body may take to arrive, how long the arrival of a file may pause, and the time before
    /// the file's minimum rate is enforced.
    pub body_deadline: Duration,
    /// The time limit for receiving a file.
    pub upload_deadline: Duration,
    /// Files that may arrive at once; further ones get 503. Half as many again are reserved for accounts that
    /// have fewer than their share. Each file takes up to 10 MiB of disk space while it arrives.
    pub uploads_at_once: usize,
    /// How long a stream is silent before it sends a comment.
    pub keep_alive: Duration,
    /// How long a client may go without reading any of its answer.
    pub stall_deadline: Duration,
    /// After how much silence a stream sends a comment.
    pub heartbeat: Duration,
    /// How long a graceful stop waits for requests in progress.
    pub stop_grace: Duration,
    /// Whether replies carry the header `Server-Timing`, with how long each stage of them took.
    pub server_timing: bool,
    /// The MCP interface.
    pub mcp: McpSettings,
    /// Whether and from where `/console` is served.
    pub console: ConsoleSettings,
    /// Whether widgets are served: their public routes, their script, and the hosted pages.
    pub widgets: bool,
    /// The widget that answers on the pages of the book.
    pub book_widget: Option<WidgetToken>,
    /// Replies to visitors in progress at once, of the widgets of one account; fewer than the account may have in all. As
    /// many again are kept for accounts that have fewer than their share of them.
    pub visitor_replies: usize,
}

impl HttpSettings {
    /// Requests of all keys of an account together per minute; 0 for no limit.
    pub(crate) fn account_rate_limit(&self) -> u32 {
        let default = self.rate_limit_per_minute.saturating_mul(limits::ACCOUNT_RATE_FACTOR);
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
            public_requests_per_minute: 120,
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
            server_timing: false,
            mcp: McpSettings::default(),
            console: ConsoleSettings::default(),
            widgets: true,
            book_widget: None,
            visitor_replies: 256,
        }
    }
}
