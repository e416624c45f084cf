//! Widgets of an agent, as written in the file.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Field;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct WidgetEntry {
    /// The name; by default the key of the entry.
    pub(in super::super) name: Option<String>,
    pub(in super::super) is_active: Field<bool>,
    pub(in super::super) origins: Field<Vec<String>>,
    pub(in super::super) hosted_page: Field<bool>,
    pub(in super::super) identity: Field<String>,
    pub(in super::super) title: Field<String>,
    pub(in super::super) greeting: Field<String>,
    pub(in super::super) starters: Field<Vec<String>>,
    pub(in super::super) language: Field<String>,
    pub(in super::super) appearance: Field<AppearanceEntry>,
    pub(in super::super) texts: Field<BTreeMap<String, String>>,
    pub(in super::super) show_sources: Field<bool>,
    pub(in super::super) handoff: Field<bool>,
    pub(in super::super) lead: Field<bool>,
    pub(in super::super) limits: Field<LimitsEntry>,
    /// Where the secret that signs identities is written when the widget is created.
    pub(in super::super) write_to: Option<String>,
}

/// Colours and place of a widget.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct AppearanceEntry {
    pub(in super::super) accent: Field<String>,
    pub(in super::super) scheme: Field<String>,
    pub(in super::super) position: Field<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in super::super) struct LimitsEntry {
    pub(in super::super) messages_per_day: Field<i64>,
    pub(in super::super) messages_per_visitor_per_hour: Field<i64>,
    pub(in super::super) messages_per_address_per_minute: Field<i64>,
    pub(in super::super) replies_at_once: Field<i64>,
}
