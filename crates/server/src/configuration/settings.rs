//! The settings, as the configuration file writes them.
//!
//! These comments are the text of `docs/configuration.md`, which `cicerone config reference` prints: they are written
//! for operators. Units are part of a setting's name, defaults are added by the reference, and the comment of a setting
//! that is unset by default explains what that means.

mod checks;
mod defaults;
mod parts;

use std::path::PathBuf;

use cicerone_domain::widget::WidgetToken;
use cicerone_llm::{EmbeddingsConfig, ModelsConfig, Secret};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// All settings.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct Settings {
    /// The address and port to listen on.
    pub(crate) bind: String,
    /// The folder of the database, the uploads and the search index. It is created with access for
    /// its owner only.
    #[schema(value_type = String)]
    pub(crate) data_dir: PathBuf,
    /// The database: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`, with libpq's parameters such as
    /// `?sslmode=require&connect_timeout=10`. Unset: the file `cicerone.db` in the data directory.
    pub(crate) database_url: Option<String>,
    /// Where uploads are kept: `file:PATH` or `s3://BUCKET/PREFIX`. Unset: the folder `objects` in the
    /// data directory.
    pub(crate) object_store_url: Option<String>,
    /// The key of the account `default` with all permissions: 32 visible characters or more. Unset:
    /// the first start generates a key and prints it once.
    #[schema(value_type = Option<String>)]
    pub(crate) root_key: Option<Secret>,
    /// Private address ranges, such as `10.0.0.0/8`, that crawls and webhooks may reach. All other
    /// addresses that are not public are refused.
    pub(crate) egress_allow: Vec<String>,
    /// The server's public address, such as `https://docs.example`, possibly with a path. If it is set, the texts of
    /// agents that publish their sources can be read at `/s/…` without a key, and replies link to them. Unset: nothing
    /// is public.
    pub(crate) public_url: Option<String>,
    /// Requests per minute of one API key; `0` for no limit.
    pub(crate) rate_limit_per_minute: u32,
    /// Requests per minute of all keys of an account together; `0` for no limit. Unset: ten times
    /// the limit of one key.
    pub(crate) account_rate_limit_per_minute: Option<u32>,
    /// Which log lines are written: a level (`error`, `warn`, `info`, `debug`, `trace`), or a filter
    /// by module such as `warn,cicerone_http=debug`.
    pub(crate) log: String,
    /// How log lines are written: `text` for people, or `json` with one object on each line. Unset:
    /// `text` if standard error is a terminal, `json` otherwise.
    #[schema(inline)]
    pub(crate) log_format: Option<LogFormat>,
    /// The HTTP interface.
    #[schema(inline)]
    pub(crate) http: HttpSection,
    /// The interface for programs that speak the Model Context Protocol, at `/mcp/agents/{agent_id}`.
    #[schema(inline)]
    pub(crate) mcp: McpSection,
    /// The database.
    #[schema(inline)]
    pub(crate) database: DatabaseSection,
    /// How sources are processed.
    #[schema(inline)]
    pub(crate) workers: WorkersSection,
    /// How text in pictures is recognised (OCR): in scanned pages of PDF files, and in uploaded PNG, JPEG, TIFF and
    /// WebP files.
    #[schema(inline)]
    pub(crate) ocr: OcrSection,
    /// How websites are crawled.
    #[schema(inline)]
    pub(crate) crawl: CrawlSection,
    /// How events are delivered to webhook endpoints.
    #[schema(inline)]
    pub(crate) webhooks: WebhooksSection,
    /// The search index.
    #[schema(inline)]
    pub(crate) index: IndexSection,
    /// How long old records are kept.
    #[schema(inline)]
    pub(crate) retention: RetentionSection,
    /// What each account may use and store. `cicerone account limit` sets different quotas for one account.
    #[schema(inline)]
    pub(crate) quotas: QuotasSection,
    /// Which models write replies. Without any of these settings, the embedded answerer replies.
    #[schema(inline)]
    pub(crate) models: ModelsConfig,
    /// Search by meaning in addition to words: the model that creates vectors of passages and questions. Without it,
    /// search is by words only.
    #[schema(inline)]
    pub(crate) embeddings: EmbeddingsConfig,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct HttpSection {
    /// Threads that serve connections. Unset: one per processor.
    pub(crate) threads: Option<usize>,
    /// Replies in progress for one account; further requests are answered with 503 and
    /// `Retry-After`. Other accounts have a reserve beyond this number.
    pub(crate) replies_at_once: usize,
    /// The longest time in milliseconds that a reply is expected to take, not counting the time spent waiting for an
    /// upstream. If an account's replies in progress would take longer at the pace of the latest ones, further requests
    /// are answered with 503 and `Retry-After`; 64 replies may always be in progress. While an account sends more than
    /// the server can answer, fewer of its replies are in progress, and its refusals are answered up to a second later.
    pub(crate) longest_wait_ms: u64,
    /// Files that one account may upload at once; further uploads are answered with 503 and
    /// `Retry-After`. Other accounts have a reserve beyond this number. Each upload takes up to 10
    /// MiB of disk space.
    pub(crate) uploads_at_once: usize,
    /// Open connections. The server lowers this number if the limit of open files does not allow as
    /// many.
    pub(crate) connections_at_once: usize,
    /// Failed authentications per minute of one client address; `0` for no limit.
    pub(crate) failed_authentications_per_minute: u32,
    /// Requests per minute that one client address may send without a key, to public pages, widgets and `/metrics`. A
    /// widget sends one request when its page is opened and a few during a conversation. Raise it if many visitors share
    /// an address; `0` for no limit.
    pub(crate) public_requests_per_minute: u32,
    /// Address ranges of proxies in front of the server. For a request from one of them,
    /// `X-Forwarded-For` gives the address of the client.
    #[schema(value_type = Vec<String>)]
    pub(crate) trusted_proxies: Vec<IpNet>,
    /// The time limit for receiving the head of a request.
    pub(crate) head_seconds: u64,
    /// The time limit for receiving a JSON body.
    pub(crate) body_seconds: u64,
    /// The time limit for receiving a file.
    pub(crate) upload_seconds: u64,
    /// How long an idle connection is kept open.
    pub(crate) keep_alive_seconds: u64,
    /// A client that reads nothing of its response for this long is disconnected.
    pub(crate) stall_seconds: u64,
    /// Whether the console is served at `/console`: a web page for people, which uses the API with the key that
    /// they enter.
    pub(crate) console: bool,
    /// The folder from which the files of the console are read at every request, for developing the console. Unset: the
    /// files in the program are served.
    #[schema(value_type = Option<String>)]
    pub(crate) console_folder: Option<PathBuf>,
    /// Whether widgets are served: the routes below `/w/` and their script, which pages of other sites use, and the pages
    /// `/chat/{token}`. `false` turns off everything that visitors can reach; widgets can still be managed.
    pub(crate) widgets: bool,
    /// The token of a widget of this server that answers on the pages of the book at `/docs`. The widget must have its hosted
    /// page. Unset: the book has no chat.
    #[schema(value_type = Option<String>)]
    pub(crate) book_widget: Option<WidgetToken>,
    /// Whether `/metrics` is served.
    pub(crate) metrics: bool,
    /// Whether replies have the header `Server-Timing`, which gives the milliseconds that each
    /// stage of the reply took. For a streamed reply, it gives the stages before the first token.
    pub(crate) server_timing: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct McpSection {
    /// Whether it is served.
    pub(crate) enabled: bool,
    /// Host names and addresses at which clients reach the server, such as `docs.example.com`, without a port.
    /// A request that names another host in `Host` or `Origin` is answered with 403; `localhost`,
    /// `127.0.0.1` and `[::1]` are always allowed. `*` allows all hosts.
    pub(crate) hosts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct DatabaseSection {
    /// The time limit of a read, and of a change that waits for a locked row. A request that
    /// exceeds it is answered with 503.
    pub(crate) read_seconds: u64,
    /// The time limit of a change. A request that exceeds it is answered with 503.
    pub(crate) write_seconds: u64,
    /// Disk space reserved next to a SQLite file, so that deletions still work on a full disk; `0` for none.
    pub(crate) reserve_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct WorkersSection {
    /// The number of texts processed at once, and also of files. Accounts with none in progress have a reserve of the
    /// same size.
    pub(crate) parallel: usize,
    /// The time limit of one attempt to process a source. Must be more than `crawl.seconds`.
    pub(crate) deadline_seconds: u64,
    /// The number of child processes that read pages at once, and also of those that read files. Accounts below their
    /// share have a reserve of the same size. Each may take up to 1 GiB of address space.
    #[schema(default = "one per processor, at most 4")]
    pub(crate) readers: usize,
    /// The limit of processor time for reading one document. The limit of wall time is three times
    /// as long.
    pub(crate) document_seconds: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct OcrSection {
    /// The program that recognises text: `tesseract`, or a program with the same arguments
    /// (`PROGRAM stdin stdout -l eng`, the picture on standard input). A path, or a name in `/usr/local/bin`, `/usr/bin`
    /// or `/bin`. Each reader runs it for one picture at a time, with the memory and time limits of a document for each
    /// picture. It can read only the files of the system's programs and has no network access. This requires Linux with
    /// Landlock (5.13 or later). Unset: pictures are refused, and scanned pages are not read.
    pub(crate) command: Option<String>,
    /// The languages of the texts, by the program's names, separated by `+`: `eng+deu`.
    pub(crate) languages: String,
    /// The maximum number of pages recognised in one document. Together they may take ten minutes.
    pub(crate) pages: u32,
    /// Folders that the program may read besides `/usr`, `/bin` and `/lib`.
    pub(crate) folders: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct CrawlSection {
    /// Websites crawled at once. Accounts with no crawl in progress have a reserve of the same size.
    pub(crate) parallel: usize,
    /// The maximum number of pages of one website.
    pub(crate) pages: usize,
    /// The time limit of one crawl. The pages that were read before it are kept.
    pub(crate) seconds: u64,
    /// Requests to one host at once, across all crawls.
    pub(crate) requests_per_host: usize,
    /// The largest page that is read.
    pub(crate) page_bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct WebhooksSection {
    /// Attempts in progress at once, across all endpoints.
    pub(crate) parallel: usize,
    /// Attempts in progress at once to one endpoint.
    pub(crate) per_endpoint: u32,
    /// How long an endpoint may take to answer, at most 15 seconds.
    pub(crate) timeout_seconds: u64,
    /// The pauses before further attempts. Each varies by up to 20 %.
    pub(crate) pauses_seconds: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct RetentionSection {
    /// How long deliveries of events are kept.
    pub(crate) deliveries_days: u64,
    /// How long records of the audit log are kept.
    pub(crate) audit_days: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct QuotasSection {
    /// Agents that an account may have; `0` for no limit.
    pub(crate) agents: u64,
    /// Messages answered in a calendar month (UTC). Unset: no limit.
    pub(crate) messages_per_month: Option<u64>,
    /// Model tokens in a calendar month (UTC). Unset: no limit.
    pub(crate) tokens_per_month: Option<u64>,
    /// Bytes that an account may store: uploaded files, sources, and twice the text extracted from them. Unset: no
    /// limit.
    pub(crate) bytes: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(default)]
pub(crate) struct IndexSection {
    /// The number of agents whose index on disk is kept open. The index of any other agent is opened when the agent is
    /// asked.
    pub(crate) open_agents: u64,
    /// Memory for the indexes of agents with little content (up to 64 KiB). They are built when the agent is first
    /// asked, and are not stored on disk; `0` keeps all indexes on disk.
    pub(crate) memory_bytes: u64,
}
