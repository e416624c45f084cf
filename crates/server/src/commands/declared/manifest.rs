//! The format of a declaration file.

mod parse;
mod values;
mod widget;

use std::collections::BTreeMap;

use serde::Deserialize;

pub(super) use parse::{Format, read};
use values::entries;
pub(super) use values::{Field, Pair, Pairs, PairsFrom, TextFrom};
pub(super) use widget::{AppearanceEntry, LimitsEntry, WidgetEntry};

/// A file. Unknown fields are refused, and only fields that are written are managed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// The JSON Schema that editors use. JSON has no comments in which to name it.
    #[serde(default, rename = "$schema")]
    _schema: Option<String>,
    /// The version of the format.
    pub(super) version: u32,
    /// The name under which the server records what the file manages.
    pub(super) set: String,
    /// Agents by their keys.
    #[serde(default, deserialize_with = "entries")]
    pub(super) agents: Option<BTreeMap<String, AgentEntry>>,
    /// Webhook endpoints by their keys. Without it, none are managed.
    #[serde(default, deserialize_with = "entries")]
    pub(super) webhooks: Option<BTreeMap<String, WebhookEntry>>,
    /// API keys by their keys. Without it, none are managed.
    #[serde(default, deserialize_with = "entries")]
    pub(super) keys: Option<BTreeMap<String, KeyEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentEntry {
    pub(super) name: String,
    #[serde(default)]
    pub(super) model: Field<String>,
    #[serde(default)]
    pub(super) system_prompt: Field<TextFrom>,
    #[serde(default)]
    pub(super) temperature: Field<f64>,
    #[serde(default)]
    pub(super) max_tokens: Field<i64>,
    #[serde(default)]
    pub(super) retention_days: Field<i64>,
    #[serde(default)]
    pub(super) answer_floor: Field<String>,
    #[serde(default)]
    pub(super) public_sources: Field<bool>,
    #[serde(default)]
    pub(super) receipts: Field<bool>,
    #[serde(default)]
    pub(super) source_list: Field<bool>,
    #[serde(default)]
    pub(super) status: Option<String>,
    /// Sources by their keys. Without it, the agent's sources are not managed.
    #[serde(default, deserialize_with = "entries")]
    pub(super) sources: Option<BTreeMap<String, SourceEntry>>,
    /// Widgets by their keys. Without it, the agent's widgets are not managed.
    #[serde(default, deserialize_with = "entries")]
    pub(super) widgets: Option<BTreeMap<String, WidgetEntry>>,
}

/// A source: one of `website`, `upload`, `text` and `qa`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceEntry {
    #[serde(default)]
    pub(super) website: Option<String>,
    #[serde(default)]
    pub(super) crawl_subpages: Option<bool>,
    #[serde(default)]
    pub(super) guarded: Option<bool>,
    /// The path of a file to upload.
    #[serde(default)]
    pub(super) upload: Option<String>,
    /// The name of the uploaded file, if it is not that of the path.
    #[serde(default)]
    pub(super) filename: Option<String>,
    #[serde(default)]
    pub(super) text: Option<TextFrom>,
    #[serde(default)]
    pub(super) qa: Option<PairsFrom>,
}

/// A webhook endpoint.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookEntry {
    pub(super) url: String,
    #[serde(default)]
    pub(super) events: Field<Vec<String>>,
    #[serde(default)]
    pub(super) description: Field<String>,
    #[serde(default)]
    pub(super) payload: Field<String>,
    #[serde(default)]
    pub(super) status: Option<String>,
    /// Where the secret is written when the endpoint is created.
    #[serde(default)]
    pub(super) write_to: Option<String>,
}

/// An API key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyEntry {
    /// The name; by default the key of the entry.
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) permissions: Vec<String>,
    /// Keys of agents of the same file.
    #[serde(default)]
    pub(super) agents: Field<Vec<String>>,
    #[serde(default)]
    pub(super) expires_at: Field<String>,
    /// Where the key is written when it is created. It cannot be read later.
    pub(super) write_to: String,
}
