//! The format of the written file, with its fields in reading order.

use std::collections::BTreeMap;
use std::path::Path;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::Format;
use crate::api_client::text;
use crate::failure::Failure;

/// The whole file.
#[derive(Debug, Serialize)]
pub(super) struct Written {
    pub(super) version: u32,
    pub(super) set: String,
    pub(super) agents: BTreeMap<String, Agent>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) webhooks: BTreeMap<String, Webhook>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) keys: BTreeMap<String, Key>,
}

impl Written {
    /// The text in a notation.
    pub(super) fn text(&self, format: Format) -> Result<String, Failure> {
        let failed = |error: &(dyn std::error::Error + 'static)| {
            Failure::because("cannot write the file", error)
        };
        match format {
            Format::Yaml => serde_saphyr::to_string(self).map_err(|error| failed(&error)),
            Format::Toml => toml::to_string_pretty(self).map_err(|error| failed(&error)),
            Format::Json => serde_json::to_string_pretty(self)
                .map(|text| text + "\n")
                .map_err(|error| failed(&error)),
        }
    }
}

/// The file that contains a value.
#[derive(Debug, Serialize)]
pub(super) struct FileOf {
    pub(super) file: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Agent {
    name: String,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<FileOf>,
    temperature: f64,
    max_tokens: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retention_days: Option<i64>,
    answer_floor: String,
    public_sources: bool,
    receipts: bool,
    source_list: bool,
    status: String,
    sources: BTreeMap<String, Source>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    widgets: BTreeMap<String, Widget>,
}

impl Agent {
    pub(super) fn of(
        agent: &Value,
        system_prompt: Option<FileOf>,
        sources: BTreeMap<String, Source>,
        widgets: BTreeMap<String, Widget>,
    ) -> Self {
        Self {
            name: text(agent, "name").to_owned(),
            model: text(agent, "model").to_owned(),
            system_prompt,
            temperature: agent["temperature"].as_f64().unwrap_or_default(),
            max_tokens: agent["max_tokens"].as_i64().unwrap_or_default(),
            retention_days: agent["retention_days"].as_i64(),
            answer_floor: text(agent, "answer_floor").to_owned(),
            public_sources: agent["public_sources"] == true,
            receipts: agent["receipts"] == true,
            source_list: agent["source_list"] == true,
            status: text(agent, "status").to_owned(),
            sources,
            widgets,
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Source {
    #[serde(skip_serializing_if = "Option::is_none")]
    website: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    crawl_subpages: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<FileOf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qa: Option<FileOf>,
}

impl Source {
    pub(super) fn website(url: &str, crawl_subpages: bool, guarded: bool) -> Self {
        let (crawl_subpages, guarded) = (crawl_subpages.then_some(true), guarded.then_some(true));
        Self { website: Some(url.to_owned()), crawl_subpages, guarded, ..Self::default() }
    }

    pub(super) fn text(file: String) -> Self {
        Self { text: Some(FileOf { file }), ..Self::default() }
    }

    pub(super) fn qa(file: String) -> Self {
        Self { qa: Some(FileOf { file }), ..Self::default() }
    }

    pub(super) fn upload(path: String, filename: &str) -> Self {
        let own = Path::new(&path).file_name().and_then(|name| name.to_str());
        let filename = (own != Some(filename)).then(|| filename.to_owned());
        Self { upload: Some(path), filename, ..Self::default() }
    }
}

/// A widget, without its token and its secret.
#[derive(Debug)]
pub(super) struct Widget {
    fields: Map<String, Value>,
    write_to: String,
}

/// The fields of a widget, in the order in which they are written.
const WIDGET_FIELDS: [&str; 15] = [
    "name",
    "is_active",
    "origins",
    "hosted_page",
    "identity",
    "title",
    "greeting",
    "starters",
    "language",
    "appearance",
    "texts",
    "show_sources",
    "handoff",
    "lead",
    "limits",
];

impl Widget {
    pub(super) fn of(widget: &Value, write_to: String) -> Self {
        Self { fields: widget.as_object().cloned().unwrap_or_default(), write_to }
    }
}

impl Serialize for Widget {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let fields = WIDGET_FIELDS.iter().filter_map(|name| self.fields.get_key_value(*name));
        let mut map = to.serialize_map(None)?;
        // Null means the default, and TOML has no null.
        for (name, value) in fields.filter(|(_, value)| !value.is_null()) {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("write_to", &self.write_to)?;
        map.end()
    }
}

/// A webhook endpoint.
#[derive(Debug, Serialize)]
pub(super) struct Webhook {
    url: String,
    events: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    payload: String,
    status: String,
    write_to: String,
}

impl Webhook {
    pub(super) fn of(endpoint: &Value, write_to: String) -> Self {
        Self {
            url: text(endpoint, "url").to_owned(),
            events: endpoint["events"].clone(),
            description: endpoint["description"].as_str().map(str::to_owned),
            payload: text(endpoint, "payload").to_owned(),
            status: text(endpoint, "status").to_owned(),
            write_to,
        }
    }
}

/// An API key, without its secret.
#[derive(Debug, Serialize)]
pub(super) struct Key {
    name: String,
    permissions: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    write_to: String,
}

impl Key {
    pub(super) fn of(key: &Value, agents: Option<Vec<String>>, write_to: String) -> Self {
        Self {
            name: text(key, "name").to_owned(),
            permissions: key["permissions"].clone(),
            agents,
            expires_at: key["expires_at"].as_str().map(str::to_owned),
            write_to,
        }
    }
}
