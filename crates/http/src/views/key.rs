//! API keys on the wire.

use cicerone_domain::services::Issued;
use cicerone_domain::{ApiKey, Id, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// An API key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
pub(crate) struct KeyView<'a> {
    #[schema(value_type = String, pattern = "^key_[0-9A-Za-z]{10}$")]
    id: Id<kind::ApiKey>,
    /// A name for people.
    #[schema(max_length = 100)]
    name: &'a str,
    /// What it may do; `*` is everything.
    #[schema(value_type = Vec<String>)]
    permissions: Vec<&'static str>,
    /// The only agents that exist for it; null for all of the account.
    #[schema(value_type = Option<Vec<String>>, required = true)]
    agent_ids: Option<&'a [Id<kind::Agent>]>,
    /// When it stops to work; null for never.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    expires_at: Option<Timestamp>,
    /// When a request last carried it, within some seconds; null for never.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    last_used_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The first and last characters of its secret.
    hint: &'a str,
}

/// An API key that was just made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IssuedApiKey)]
pub(crate) struct IssuedKeyView<'a> {
    #[serde(flatten)]
    resource: KeyView<'a>,
    /// The secret, to be sent as `Authorization: Bearer`. It is shown in this answer only, and left out
    /// where the answer is one of before.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^ck_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$")]
    key: Option<&'a str>,
}

impl<'a> From<&'a ApiKey> for KeyView<'a> {
    fn from(key: &'a ApiKey) -> Self {
        Self {
            id: key.id,
            name: &key.name,
            permissions: key.permissions.names(),
            agent_ids: key.agent_ids.as_deref(),
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            created_at: key.created_at,
            hint: &key.hint,
        }
    }
}

impl<'a> From<&'a Issued> for IssuedKeyView<'a> {
    fn from(issued: &'a Issued) -> Self {
        let key = issued.secret.as_ref().map(|secret| secret.reveal());
        Self { resource: KeyView::from(&issued.key), key }
    }
}
