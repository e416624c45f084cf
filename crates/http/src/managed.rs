//! The field `managed` of agents, sources, widgets, webhook endpoints and API keys.

use cicerone_domain::managed::{Managed, SetName};
use cicerone_domain::{Error, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::Object;

use crate::openapi::parameters::text;
use crate::openapi::schema::string;
use crate::query::Query;

/// The condition under which an identity is refused.
pub(crate) const TAKEN: &str = "Another object of this kind has the same `managed` set and key, or the same request is \
    still being carried out.";

/// Identifies the entry of a declaration file that manages an object. `cicerone apply` sets it. The set and key are
/// unique among objects of a kind; for widgets and sources, within their agent. Two sources may share them if their
/// hashes differ.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = Managed)]
pub(crate) struct ManagedBody {
    #[schema(schema_with = set, required = true)]
    set: String,
    #[schema(schema_with = key, required = true)]
    key: String,
    #[schema(schema_with = hash, required = true)]
    hash: String,
}

impl ManagedBody {
    pub(crate) fn parse(self) -> Result<Managed, Error> {
        Managed::parse(self.set, self.key, self.hash)
    }
}

/// The form in which an object shows it.
#[derive(Debug, Serialize)]
pub(crate) struct ManagedView<'a> {
    set: &'a str,
    key: &'a str,
    hash: &'a str,
}

impl<'a> From<&'a Managed> for ManagedView<'a> {
    fn from(managed: &'a Managed) -> Self {
        let Managed { set, key, hash } = managed;
        Self { set: set.as_str(), key: key.as_str(), hash: hash.as_str() }
    }
}

/// The characters of a name.
const NAME: &str = "^[A-Za-z0-9._/-]+$";

fn set() -> Object {
    string()
        .min_length(Some(1))
        .max_length(Some(limits::MANAGED_SET_CHARS))
        .pattern(Some(NAME))
        .description(Some("The set that the entry belongs to."))
        .build()
}

fn key() -> Object {
    string()
        .min_length(Some(1))
        .max_length(Some(limits::MANAGED_KEY_CHARS))
        .pattern(Some(NAME))
        .description(Some("The key of the entry in its set."))
        .build()
}

fn hash() -> Object {
    string()
        .pattern(Some("^[0-9a-f]{64}$"))
        .description(Some("SHA-256 of the entry's content. The server only stores it."))
        .build()
}

/// `set`
pub(crate) fn parameter() -> Parameter {
    text("set", "Return only objects that are managed in this set.", set())
}

/// The value of the parameter `set`.
pub(crate) fn filter(query: &Query) -> Result<Option<SetName>, Error> {
    query.parsed("set", |value| SetName::parse_field("set", value))
}
