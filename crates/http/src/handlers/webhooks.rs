//! `/v1/webhook_endpoints`.

use actix_web::http::StatusCode;
use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::{StoredResponse, Subject};
use cicerone_domain::services::{IssuedEndpoint, NewEndpoint};
use cicerone_domain::webhook::{
    DeliveryStatus, EndpointDescription, EndpointPatch, EndpointUrl, EventName, PayloadStyle,
    parse_events, parse_payload, parse_status,
};
use cicerone_domain::{Delivery, Error, Id, WebhookEndpoint, kind};

use crate::auth::Authorized;
use crate::auth::permission::{WebhooksRead, WebhooksWrite};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::cursor::ListName;
use crate::fields::{Fields, Given};
use crate::response::{Answer, keep, keep_nothing, ok};
use crate::views::{DeliveryView, EndpointView, IssuedEndpointView};

/// `POST /v1/webhook_endpoints`
pub(crate) async fn create(
    caller: Authorized<WebhooksWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let new = new_endpoint(body.fields)?;
    let change = Change::new(&app, &caller, incoming.keyed(&[&body.bytes])?)
        .audited(AuditAction::WebhookEndpointCreated, None);
    change
        .answer(created, |app, caller, completion| async move {
            app.webhooks.create(&caller.scope, new, completion).await
        })
        .await
}

/// `GET /v1/webhook_endpoints`
pub(crate) async fn list(caller: Authorized<WebhooksRead>, app: App, incoming: Incoming) -> Answer {
    let query = incoming.query()?;
    let list = ListName { name: "webhook_endpoints", account: caller.scope().account, parent: "" };
    let page = app.page(&caller, list, &query).await?;
    let endpoints = app.webhooks.list(caller.scope(), page).await?;
    Ok(app.envelope(list, &endpoints, EndpointView::from))
}

/// `GET /v1/webhook_endpoints/{endpoint_id}`
pub(crate) async fn find(caller: Authorized<WebhooksRead>, app: App, incoming: Incoming) -> Answer {
    let endpoint = app.webhooks.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&EndpointView::from(&endpoint)))
}

/// `PATCH /v1/webhook_endpoints/{endpoint_id}`
pub(crate) async fn update(
    caller: Authorized<WebhooksWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let body = incoming.json(&app).await?;
    let patch = patch(body.fields)?;
    let keyed = incoming.keyed(&[&body.bytes])?;
    let id = incoming.path_id();
    let change =
        Change::new(&app, &caller, keyed).audited(AuditAction::WebhookEndpointUpdated, None);
    change
        .answer(updated, move |app, caller, completion| async move {
            app.webhooks.update(&caller.scope, id?, patch, completion).await
        })
        .await
}

/// `DELETE /v1/webhook_endpoints/{endpoint_id}`
pub(crate) async fn delete(
    caller: Authorized<WebhooksWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::WebhookEndpointDeleted, Some(incoming.path_text().to_owned()));
    change
        .answer(keep_nothing, move |app, caller, completion| async move {
            app.webhooks.delete(&caller.scope, id?, completion).await
        })
        .await
}

/// `POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret`
pub(crate) async fn rotate_secret(
    caller: Authorized<WebhooksWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let change = Change::of_path(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::WebhookSecretRotated, None);
    change
        .answer(rotated, move |app, caller, completion| async move {
            app.webhooks.rotate_secret(&caller.scope, id?, completion).await
        })
        .await
}

/// `POST /v1/webhook_endpoints/{endpoint_id}/test`
pub(crate) async fn test(
    caller: Authorized<WebhooksWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let request_id = Some(caller.request_id());
    let change = Change::of_path(&app, &caller, &mut incoming).await?;
    change
        .answer(queued, move |app, caller, completion| async move {
            app.webhooks.test(&caller.scope, id?, request_id, completion).await
        })
        .await
}

/// `GET /v1/webhook_endpoints/{endpoint_id}/deliveries`
pub(crate) async fn deliveries(
    caller: Authorized<WebhooksRead>,
    app: App,
    incoming: Incoming,
) -> Answer {
    let query = incoming.query()?;
    let account = caller.scope().account;
    let list = ListName { name: "deliveries", account, parent: incoming.path_text() };
    let page = app.page(&caller, list, &query).await?;
    let status = query.one_of("status", DeliveryStatus::from_name, "pending, succeeded, failed")?;
    let id: Id<kind::WebhookEndpoint> = incoming.path_id()?;
    let deliveries = app.webhooks.deliveries(caller.scope(), id, status, page).await?;
    Ok(app.envelope(list, &deliveries, DeliveryView::from))
}

/// `POST /v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver`
pub(crate) async fn redeliver(
    caller: Authorized<WebhooksWrite>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let endpoint = incoming.path_id();
    let delivery = incoming.second_path_id();
    let change = Change::of_path(&app, &caller, &mut incoming).await?;
    change
        .answer(queued, move |app, caller, completion| async move {
            app.webhooks.redeliver(&caller.scope, endpoint?, delivery?, completion).await
        })
        .await
}

fn created(issued: &IssuedEndpoint) -> StoredResponse {
    let subject = subject(issued.endpoint.id).with_secret();
    keep(StatusCode::CREATED, &IssuedEndpointView::from(issued), Some(subject))
}

fn rotated(issued: &IssuedEndpoint) -> StoredResponse {
    let subject = subject(issued.endpoint.id).with_secret();
    keep(StatusCode::OK, &IssuedEndpointView::from(issued), Some(subject))
}

fn updated(endpoint: &WebhookEndpoint) -> StoredResponse {
    keep(StatusCode::OK, &EndpointView::from(endpoint), Some(subject(endpoint.id)))
}

fn queued(delivery: &Delivery) -> StoredResponse {
    let subject = subject(delivery.endpoint_id);
    keep(StatusCode::ACCEPTED, &DeliveryView::from(delivery), Some(subject))
}

fn subject(endpoint: Id<kind::WebhookEndpoint>) -> Subject {
    Subject::of_account(endpoint)
}

fn new_endpoint(mut fields: Fields) -> Result<NewEndpoint, Error> {
    fields.require(&["url"])?;
    let url = fields.required_text("url")?;
    let events = fields.texts("events")?.value();
    let description = fields.text("description")?.value();
    let payload = fields.text("payload")?.value();
    let status = fields.text("status")?.value();
    Ok(NewEndpoint {
        url: EndpointUrl::parse(url)?,
        events: match events {
            Some(names) => parse_events(&names)?,
            None => EventName::CHOICES.to_vec(),
        },
        description: description.map(EndpointDescription::parse).transpose()?,
        payload: payload.as_deref().map(parse_payload).transpose()?.unwrap_or_default(),
        is_enabled: status.as_deref().map(parse_status).transpose()?.unwrap_or(true),
    })
}

/// A change. Null is the default of a field that has one.
fn patch(mut fields: Fields) -> Result<EndpointPatch, Error> {
    let url = fields.text("url")?.not_null("url")?;
    let events = fields.texts("events")?;
    let description = fields.text("description")?;
    let payload = fields.text("payload")?;
    let status = fields.text("status")?.not_null("status")?;
    Ok(EndpointPatch {
        url: url.map(EndpointUrl::parse).transpose()?,
        events: match events {
            Given::Value(names) => Some(parse_events(&names)?),
            Given::Null => Some(EventName::CHOICES.to_vec()),
            Given::Absent => None,
        },
        description: match description {
            Given::Value(text) => Some(Some(EndpointDescription::parse(text)?)),
            Given::Null => Some(None),
            Given::Absent => None,
        },
        payload: match payload {
            Given::Value(name) => Some(parse_payload(&name)?),
            Given::Null => Some(PayloadStyle::default()),
            Given::Absent => None,
        },
        is_enabled: status.as_deref().map(parse_status).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use cicerone_domain::Error;
    use cicerone_domain::webhook::{EventName, PayloadStyle};

    use super::{new_endpoint, patch};
    use crate::fields::Fields;

    fn fields(json: &str) -> Fields {
        Fields::parse(json.as_bytes()).unwrap()
    }

    #[test]
    fn an_endpoint_takes_all_events_whole_unless_it_says_otherwise() {
        let new = new_endpoint(fields(r#"{"url": "https://example.com/"}"#)).unwrap();
        assert_eq!(new.events, EventName::CHOICES);
        assert_eq!((new.payload, new.is_enabled), (PayloadStyle::Full, true));
        let error = new_endpoint(fields(r#"{"events": 5}"#)).unwrap_err();
        assert!(matches!(error, Error::Missing { param } if param == "url"));
    }

    #[test]
    fn null_in_a_change_is_the_default_of_what_has_one() {
        let change = patch(fields(r#"{"events": null, "description": null, "payload": null}"#));
        let change = change.unwrap();
        assert_eq!(change.events.as_deref(), Some(EventName::CHOICES.as_slice()));
        assert_eq!(change.description, Some(None));
        assert_eq!(change.payload, Some(PayloadStyle::Full));
        assert_eq!((change.url, change.is_enabled), (None, None));
        for json in [r#"{"url": null}"#, r#"{"status": null}"#, r#"{"status": "paused"}"#] {
            assert!(matches!(patch(fields(json)), Err(Error::Invalid(_))), "{json}");
        }
    }
}
