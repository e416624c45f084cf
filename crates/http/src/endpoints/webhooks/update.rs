//! `PATCH /v1/webhook_endpoints/{endpoint_id}`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Subject;
use cicerone_domain::webhook::{
    EndpointDescription, EndpointPatch, EndpointUrl, Subscription, parse_payload, parse_status,
};
use cicerone_domain::{Error, WebhookEndpoint, every};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use super::{BAD_ENDPOINT, EndpointView, events, payload};
use crate::auth::Authorized;
use crate::auth::permission::WebhooksWrite;
use crate::body::{Body, Current, Given, not_null};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::{ManagedBody, TAKEN};
use crate::openapi::schema::name_of;
use crate::response::{Answer, StoredResponse, keep};

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}";
    Endpoint::new(Tag::Webhooks, Method::PATCH, path, handle)
        .named("updateWebhookEndpoint", "Update a webhook endpoint")
        .details(
            "Changes only the fields that are given. Nothing is sent to a disabled endpoint; its pending deliveries \
             continue when it is enabled again.",
        )
        .body::<UpdateWebhookEndpoint>()
        .keyed()
        .gives::<EndpointView<'_>>(200)
        .refuses(400, BAD_ENDPOINT)
        .refuses(409, TAKEN)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"status": "disabled"})))]
struct UpdateWebhookEndpoint {
    /// A public https URL without credentials. An http URL or a private address is accepted only if
    /// the server allows it.
    #[serde(default, deserialize_with = "not_null")]
    #[schema(
        nullable = false,
        max_length = 2048,
        format = "uri",
        pattern = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]"
    )]
    url: Option<String>,
    #[serde(default)]
    #[schema(schema_with = events)]
    events: Given<Vec<String>>,
    /// A human-readable description.
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 500, pattern = "^[^\\u0000]*$")]
    description: Given<String>,
    #[serde(default)]
    #[schema(schema_with = payload)]
    payload: Given<String>,
    #[serde(default, deserialize_with = "not_null")]
    #[schema(schema_with = status)]
    status: Option<String>,
    /// The entry of a declaration file that manages this object; null if none does.
    #[serde(default)]
    #[schema(value_type = Option<ManagedBody>)]
    managed: Given<ManagedBody>,
}

fn status() -> Object {
    name_of(["enabled", "disabled"], "Whether events are sent to the endpoint.")
}

impl Body for UpdateWebhookEndpoint {
    type Checked = EndpointPatch;

    fn check(self, _: &Current<'_>) -> Result<EndpointPatch, Error> {
        let (url, events, description, payload, is_enabled, managed) = every((
            self.url.map(EndpointUrl::parse).transpose(),
            self.events.or_default(|names| Subscription::parse(&names)),
            self.description.or_none(EndpointDescription::parse),
            self.payload.or_default(|name| parse_payload(&name)),
            self.status.as_deref().map(parse_status).transpose(),
            self.managed.or_none(ManagedBody::parse),
        ))?;
        Ok(EndpointPatch { url, events, description, payload, is_enabled, managed })
    }
}

async fn handle(caller: Authorized<WebhooksWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (patch, key) = incoming.keyed_body::<UpdateWebhookEndpoint>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .audited(AuditAction::WebhookEndpointUpdated, None)
        .answer(updated, move |app, caller, completion| async move {
            app.webhooks.update(&caller.scope, id?, patch, completion).await
        })
        .await
}

fn updated(endpoint: &WebhookEndpoint) -> StoredResponse {
    let subject = Subject::of_account(endpoint.id);
    keep(StatusCode::OK, &EndpointView::from(endpoint), Some(subject))
}

#[cfg(test)]
mod tests {
    use super::UpdateWebhookEndpoint;
    use crate::body::{Body as _, Current};
    use cicerone_domain::webhook::{EndpointPatch, PayloadStyle, Subscription};
    use cicerone_domain::{Error, Timestamp};

    fn patch(json: &str) -> Result<EndpointPatch, Error> {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        UpdateWebhookEndpoint::parse(json.as_bytes(), &current)
    }

    #[test]
    fn null_sets_a_field_with_a_default_to_it() {
        let patch = patch(r#"{"events": null, "description": null, "payload": null}"#).unwrap();
        assert_eq!(patch.events, Some(Subscription::default()));
        assert_eq!(patch.description, Some(None));
        assert_eq!(patch.payload, Some(PayloadStyle::Full));
        assert_eq!((patch.url, patch.is_enabled), (None, None));
    }

    #[test]
    fn an_address_and_a_status_have_no_default() {
        for json in [r#"{"url": null}"#, r#"{"status": null}"#, r#"{"status": "paused"}"#] {
            assert!(matches!(patch(json), Err(Error::Invalid(_))), "{json}");
        }
    }
}
