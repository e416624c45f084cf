//! `/v1/api_keys`.

use actix_web::http::StatusCode;
use cicerone_domain::access::{
    KeyName, KeyPatch, parse_agent_ids, parse_expiry, parse_permissions,
};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::services::{Issued, NewKey};
use cicerone_domain::{ApiKey, Error, Timestamp};

use crate::auth::Authorized;
use crate::auth::permission::{KeysRead, KeysWrite};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::fields::{Fields, Given};
use crate::response::{Answer, keep, keep_nothing, ok};
use crate::views::{IssuedKeyView, KeyView};

/// `POST /v1/api_keys`
pub(crate) async fn create(
    caller: Authorized<KeysWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let new = new_key(body.fields, app.clock.now())?;
    let change = Change::new(&app, &caller, incoming.keyed(&[&body.bytes])?)
        .audited(AuditAction::ApiKeyCreated, None);
    change
        .answer(issued, |app, caller, completion| async move {
            app.keys.issue(&caller.key, new, completion).await
        })
        .await
}

/// `GET /v1/api_keys`
pub(crate) async fn list(caller: Authorized<KeysRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let list = ListName { name: "api_keys", account: caller.scope().account, parent: "" };
    let page = app.page(&caller, list, &query).await?;
    let keys = app.keys.list(caller.key(), page).await?;
    Ok(app.envelope(list, &keys, KeyView::from))
}

/// `GET /v1/api_keys/{key_id}`
pub(crate) async fn find(caller: Authorized<KeysRead>, app: App, incoming: Incoming) -> Answer {
    let key = app.keys.find(caller.key(), incoming.path_id()?).await?;
    Ok(ok(&KeyView::from(&key)))
}

/// `PATCH /v1/api_keys/{key_id}`
pub(crate) async fn update(
    caller: Authorized<KeysWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let patch = patch(body.fields, app.clock.now())?;
    let keyed = incoming.keyed(&[&body.bytes])?;
    let id = incoming.path_id();
    let change = Change::new(&app, &caller, keyed).audited(AuditAction::ApiKeyUpdated, None);
    change
        .answer(updated, move |app, caller, completion| async move {
            app.keys.update(&caller.key, id?, patch, completion).await
        })
        .await
}

/// `DELETE /v1/api_keys/{key_id}`
pub(crate) async fn delete(
    caller: Authorized<KeysWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::ApiKeyDeleted, Some(incoming.path_text().to_owned()));
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.keys.delete(&caller.key, id?, completion).await
        })
        .await
}

fn issued(issued: &Issued) -> StoredResponse {
    keep(StatusCode::CREATED, &IssuedKeyView::from(issued), Some(subject(&issued.key)))
}

fn updated(key: &ApiKey) -> StoredResponse {
    keep(StatusCode::OK, &KeyView::from(key), Some(subject(key)))
}

fn subject(key: &ApiKey) -> Subject {
    Subject::of_account(key.id).naming(key.agent_ids.clone())
}

fn new_key(mut fields: Fields, now: Timestamp) -> Result<NewKey, Error> {
    fields.require(&["name", "permissions"])?;
    let name = KeyName::parse(fields.required_text("name")?)?;
    let permissions = fields.texts("permissions")?.value().unwrap_or_default();
    let agents = fields.texts("agent_ids")?.value();
    let expiry = fields.text("expires_at")?.value();
    Ok(NewKey {
        name,
        permissions: parse_permissions(&permissions)?,
        agent_ids: agents.as_deref().map(parse_agent_ids).transpose()?,
        expires_at: expiry.map(|text| parse_expiry(&text, now)).transpose()?,
    })
}

/// A change. Null takes a restriction away.
fn patch(mut fields: Fields, now: Timestamp) -> Result<KeyPatch, Error> {
    let name = fields.text("name")?.not_null("name")?;
    let permissions = fields.texts("permissions")?.not_null("permissions")?;
    let agents = fields.texts("agent_ids")?;
    let expiry = fields.text("expires_at")?;
    Ok(KeyPatch {
        name: name.map(KeyName::parse).transpose()?,
        permissions: permissions.as_deref().map(parse_permissions).transpose()?,
        agent_ids: restriction(agents, |ids| parse_agent_ids(&ids))?,
        expires_at: restriction(expiry, |text| parse_expiry(&text, now))?,
    })
}

/// What a change says of a restriction: nothing, that there is none, or what it is.
fn restriction<T, R>(
    given: Given<T>,
    read: impl FnOnce(T) -> Result<R, Error>,
) -> Result<Option<Option<R>>, Error> {
    match given {
        Given::Absent => Ok(None),
        Given::Null => Ok(Some(None)),
        Given::Value(value) => read(value).map(|value| Some(Some(value))),
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::{Error, Timestamp};

    use super::{new_key, patch};
    use crate::fields::Fields;

    fn fields(json: &str) -> Fields {
        Fields::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn what_is_missing_comes_before_bad_values() {
        let now = Timestamp::from_millis(0);
        let error = new_key(fields(r#"{"name": 5, "permissions": null}"#), now).unwrap_err();
        assert!(matches!(error, Error::Missing { param } if param == "permissions"));
        let error = new_key(fields(r#"{"name": " ", "permissions": ["*"]}"#), now).unwrap_err();
        assert!(matches!(error, Error::Invalid(field) if field.param == "name"));
    }

    #[test]
    fn null_takes_a_restriction_away_and_no_value_leaves_it() {
        let now = Timestamp::from_millis(0);
        let change = patch(fields(r#"{"agent_ids": null}"#), now).unwrap();
        assert_eq!((change.agent_ids, change.expires_at), (Some(None), None));
        assert!(patch(fields(r#"{"permissions": null}"#), now).is_err());
    }
}
