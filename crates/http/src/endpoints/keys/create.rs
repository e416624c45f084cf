//! `POST /v1/api_keys`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::access::{parse_agent_ids, parse_expiry, parse_permissions};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::services::{Issued, NewKey};
use cicerone_domain::{Error, KeyName, every};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{BAD_KEY, KeyView, LACKS_PERMISSION, permissions, subject};
use crate::auth::Authorized;
use crate::auth::permission::KeysWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::ManagedBody;
use crate::response::{Answer, StoredResponse, keep};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Keys, Method::POST, "/v1/api_keys", handle)
        .named("createApiKey", "Create an API key")
        .details(
            "Only this response contains `key`; the response to a repeated request with the same \
             idempotency key does not. A key cannot create a key with more permissions, more \
             agents or a later expiry than its own. An account has at most 1,000 keys; expired \
             keys are removed to make room for new ones.",
        )
        .body::<CreateApiKey>()
        .keyed()
        .gives::<IssuedKeyView<'_>>(201)
        .refuses(400, BAD_KEY)
        .refuses(403, LACKS_PERMISSION)
        .refuses(
            409,
            "The account has 1,000 keys or one with the same `managed` set and key, or the same request is still being \
             carried out.",
        )
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"name": "Website", "permissions": ["conversations:write"]})))]
struct CreateApiKey {
    /// A human-readable name.
    #[schema(min_length = 1, max_length = 100, pattern = "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$")]
    name: String,
    #[schema(schema_with = permissions)]
    permissions: Vec<String>,
    /// The agents that the key is restricted to; null for all agents of the account.
    #[schema(min_items = 1, max_items = 100, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_ids: Option<Vec<String>>,
    /// When it expires, in the future; null for never.
    #[schema(format = DateTime, pattern = "Z$")]
    expires_at: Option<String>,
    /// The entry of a declaration file that manages this object; null if none does.
    managed: Option<ManagedBody>,
}

impl Body for CreateApiKey {
    type Checked = NewKey;

    fn check(self, current: &Current<'_>) -> Result<NewKey, Error> {
        let expiry = |text: String| parse_expiry(&text, current.now);
        let (name, permissions, agent_ids, expires_at, managed) = every((
            KeyName::parse(self.name),
            parse_permissions(&self.permissions),
            self.agent_ids.as_deref().map(parse_agent_ids).transpose(),
            self.expires_at.map(expiry).transpose(),
            self.managed.map(ManagedBody::parse).transpose(),
        ))?;
        Ok(NewKey { name, permissions, agent_ids, expires_at, managed })
    }
}

/// A newly created API key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IssuedApiKey)]
struct IssuedKeyView<'a> {
    #[serde(flatten)]
    resource: KeyView<'a>,
    /// The secret, to be sent as `Authorization: Bearer`. Only the first response contains it; the
    /// response to a repeated request does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, pattern = "^ck_[0-9A-Za-z]{10}_[0-9A-Za-z]{38}$")]
    key: Option<&'a str>,
}

async fn handle(caller: Authorized<KeysWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (new, key) = incoming.keyed_body::<CreateApiKey>(&app).await?;
    Change::new(&app, &caller, key)
        .audited(AuditAction::ApiKeyCreated, None)
        .answer(created, |app, caller, completion| async move {
            app.keys.issue(&caller.key, new, completion).await
        })
        .await
}

fn created(issued: &Issued) -> StoredResponse {
    let secret = issued.secret.as_ref().map(|secret| secret.reveal());
    let view = IssuedKeyView { resource: KeyView::from(&issued.key), key: secret };
    keep(StatusCode::CREATED, &view, Some(subject(&issued.key)))
}

#[cfg(test)]
mod tests {
    use super::CreateApiKey;
    use crate::body::{Body as _, Current};
    use cicerone_domain::{Error, Timestamp};

    #[test]
    fn missing_fields_come_before_bad_values() {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        let refusal = |json: &str| CreateApiKey::parse(json.as_bytes(), &current).err();
        let missing = refusal(r#"{"name": 5, "permissions": null}"#);
        assert!(matches!(missing, Some(Error::Missing(bad)) if bad.first().param == "permissions"));
        let invalid = refusal(r#"{"name": " ", "permissions": ["*"]}"#);
        assert!(matches!(invalid, Some(Error::Invalid(bad)) if bad.first().param == "name"));
    }
}
