//! API keys: what their endpoints share.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod get;
pub(super) mod list;
pub(super) mod update;

use cicerone_domain::idempotency::Subject;
use cicerone_domain::{ApiKey, Id, Permission, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Array;

use crate::managed::{ManagedBody, ManagedView};
use crate::openapi::schema::names_of;

/// The condition under which a change of a key is refused because of a missing permission.
const LACKS_PERMISSION: &str = "The key that makes the request lacks the permission for this \
    operation, or a permission of the key that is created, changed or deleted.";
/// The condition under which the body of a key is refused.
const BAD_KEY: &str = "A required field is missing, a field has a bad value, or the key would have \
    fewer restrictions than the key that makes the request.";

/// An API key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKey)]
pub(super) struct KeyView<'a> {
    #[schema(value_type = String, pattern = "^key_[0-9A-Za-z]{10}$")]
    id: Id<kind::ApiKey>,
    /// A human-readable name.
    #[schema(max_length = 100)]
    name: &'a str,
    /// The permissions of the key; `*` grants all of them.
    #[schema(value_type = Vec<String>)]
    permissions: Vec<&'static str>,
    /// The agents that the key is restricted to; null for all agents of the account.
    #[schema(value_type = Option<Vec<String>>, required = true)]
    agent_ids: Option<&'a [Id<kind::Agent>]>,
    /// When it expires; null for never.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    expires_at: Option<Timestamp>,
    /// When the key was last used, accurate to a few seconds; null if it was never used.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    last_used_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// The first and last characters of its secret.
    hint: &'a str,
    /// The entry of a declaration file that manages this object; null if none does.
    #[schema(value_type = Option<ManagedBody>, required = true)]
    managed: Option<ManagedView<'a>>,
}

impl<'a> From<&'a ApiKey> for KeyView<'a> {
    fn from(key: &'a ApiKey) -> Self {
        Self {
            id: key.id,
            name: key.name.as_str(),
            permissions: key.permissions.names(),
            agent_ids: key.agent_ids.as_deref(),
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            created_at: key.created_at,
            hint: &key.hint,
            managed: key.managed.as_ref().map(ManagedView::from),
        }
    }
}

/// The contents of the stored response to a change of a key.
fn subject(key: &ApiKey) -> Subject {
    Subject::of_account(key.id).naming(key.agent_ids.clone())
}

/// The schema of `permissions` in a body.
fn permissions() -> Array {
    let names = Permission::ALL.map(Permission::name).into_iter().chain(["*"]);
    names_of(names, "The permissions of the key; `*` grants all of them.")
}
