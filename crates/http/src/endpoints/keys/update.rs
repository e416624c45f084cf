//! `PATCH /v1/api_keys/{key_id}`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::access::{KeyPatch, parse_agent_ids, parse_expiry, parse_permissions};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::{ApiKey, Error, KeyName, every};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{BAD_KEY, KeyView, LACKS_PERMISSION, permissions, subject};
use crate::auth::Authorized;
use crate::auth::permission::KeysWrite;
use crate::body::{Body, Current, Given, not_null};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::{ManagedBody, TAKEN};
use crate::response::{Answer, StoredResponse, keep};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Keys, Method::PATCH, "/v1/api_keys/{key_id}", handle)
        .named("updateApiKey", "Update an API key")
        .details(
            "Changes only the fields that are given. Both before and after the change, the key \
             must have no more permissions, no more agents and no later expiry than the key that \
             makes the request. The change takes effect at once on the server that makes it, and within a second on \
             the others.",
        )
        .body::<UpdateApiKey>()
        .keyed()
        .gives::<KeyView<'_>>(200)
        .refuses(400, BAD_KEY)
        .refuses(403, LACKS_PERMISSION)
        .refuses(409, TAKEN)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"expires_at": null})))]
struct UpdateApiKey {
    /// A human-readable name.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(
        nullable = false,
        min_length = 1,
        max_length = 100,
        pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$"
    )]
    name: Option<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(schema_with = permissions)]
    permissions: Option<Vec<String>>,
    /// The agents that the key is restricted to; null for all agents of the account.
    #[serde(default)]
    #[schema(value_type = Option<Vec<String>>, min_items = 1, max_items = 100, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_ids: Given<Vec<String>>,
    /// When it expires, in the future; null for never.
    #[serde(default)]
    #[schema(value_type = Option<String>, format = DateTime, pattern = "Z$")]
    expires_at: Given<String>,
    /// The entry of a declaration file that manages this object; null if none does.
    #[serde(default)]
    #[schema(value_type = Option<ManagedBody>)]
    managed: Given<ManagedBody>,
}

impl Body for UpdateApiKey {
    type Checked = KeyPatch;

    fn check(self, current: &Current<'_>) -> Result<KeyPatch, Error> {
        let (name, permissions, agent_ids, expires_at, managed) = every((
            self.name.map(KeyName::parse).transpose(),
            self.permissions.as_deref().map(parse_permissions).transpose(),
            self.agent_ids.or_none(|ids| parse_agent_ids(&ids)),
            self.expires_at.or_none(|text| parse_expiry(&text, current.now)),
            self.managed.or_none(ManagedBody::parse),
        ))?;
        Ok(KeyPatch { name, permissions, agent_ids, expires_at, managed })
    }
}

async fn handle(caller: Authorized<KeysWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (patch, key) = incoming.keyed_body::<UpdateApiKey>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .audited(AuditAction::ApiKeyUpdated, None)
        .answer(updated, move |app, caller, completion| async move {
            let key = app.keys.update(&caller.key, id?, patch, completion).await?;
            app.gate.forget(key.id);
            Ok(key)
        })
        .await
}

fn updated(key: &ApiKey) -> StoredResponse {
    keep(StatusCode::OK, &KeyView::from(key), Some(subject(key)))
}

#[cfg(test)]
mod tests {
    use super::UpdateApiKey;
    use crate::body::{Body as _, Current};
    use cicerone_domain::Timestamp;

    #[test]
    fn null_removes_a_restriction_and_an_absent_field_leaves_it() {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        let patch = |json: &str| UpdateApiKey::parse(json.as_bytes(), &current);
        let change = patch(r#"{"agent_ids": null}"#).unwrap();
        assert_eq!((change.agent_ids, change.expires_at), (Some(None), None));
        assert!(patch(r#"{"permissions": null}"#).is_err());
    }
}
