//! `POST /v1/webhook_endpoints`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::audit::AuditAction;
use cicerone_domain::services::NewEndpoint;
use cicerone_domain::webhook::{
    EndpointDescription, EndpointUrl, Subscription, parse_payload, parse_status,
};
use cicerone_domain::{Error, every};
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::Object;

use super::{BAD_ENDPOINT, IssuedEndpointView, events, kept_with_secret, payload};
use crate::auth::Authorized;
use crate::auth::permission::WebhooksWrite;
use crate::body::{Body, Current};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::ManagedBody;
use crate::openapi::schema::name_of_or_null;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Webhooks, Method::POST, "/v1/webhook_endpoints", handle)
        .named("createWebhookEndpoint", "Create a webhook endpoint")
        .details(
            "The endpoint receives the events of all agents of the account. Requests follow \
             Standard Webhooks: they have `webhook-id`, `webhook-timestamp` and a \
             `webhook-signature` over `id.timestamp.body`. The response contains the `secret` for \
             verifying signatures.",
        )
        .body::<CreateWebhookEndpoint>()
        .keyed()
        .gives::<IssuedEndpointView<'_>>(201)
        .refuses(400, BAD_ENDPOINT)
        .refuses(
            409,
            "The account has 10 endpoints or one with the same `managed` set and key, or the same request is still \
             being carried out.",
        )
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"url": "https://example.com/hook"})))]
struct CreateWebhookEndpoint {
    /// A public https URL without credentials. An http URL or a private address is accepted only if
    /// the server allows it.
    #[schema(max_length = 2048, format = "uri", pattern = "^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#]")]
    url: String,
    #[schema(schema_with = events)]
    events: Option<Vec<String>>,
    /// A human-readable description.
    #[schema(max_length = 500, pattern = "^[^\\u0000]*$")]
    description: Option<String>,
    #[schema(schema_with = payload)]
    payload: Option<String>,
    #[schema(schema_with = status)]
    status: Option<String>,
    /// The entry of a declaration file that manages this object; null if none does.
    managed: Option<ManagedBody>,
}

fn status() -> Object {
    let about = "Whether events are sent to the endpoint; null for the default, `enabled`.";
    name_of_or_null(["enabled", "disabled"], about)
}

impl Body for CreateWebhookEndpoint {
    type Checked = NewEndpoint;

    fn check(self, _: &Current<'_>) -> Result<NewEndpoint, Error> {
        let (url, events, description, payload, is_enabled, managed) = every((
            EndpointUrl::parse(self.url),
            self.events.as_deref().map(Subscription::parse).transpose(),
            self.description.map(EndpointDescription::parse).transpose(),
            self.payload.as_deref().map(parse_payload).transpose(),
            self.status.as_deref().map(parse_status).transpose(),
            self.managed.map(ManagedBody::parse).transpose(),
        ))?;
        Ok(NewEndpoint {
            url,
            events: events.unwrap_or_default(),
            description,
            payload: payload.unwrap_or_default(),
            is_enabled: is_enabled.unwrap_or(true),
            managed,
        })
    }
}

async fn handle(caller: Authorized<WebhooksWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (new, key) = incoming.keyed_body::<CreateWebhookEndpoint>(&app).await?;
    Change::new(&app, &caller, key)
        .audited(AuditAction::WebhookEndpointCreated, None)
        .answer(
            |issued| kept_with_secret(StatusCode::CREATED, issued),
            |app, caller, completion| async move {
                app.webhooks.create(&caller.scope, new, completion).await
            },
        )
        .await
}

#[cfg(test)]
mod tests {
    use super::CreateWebhookEndpoint;
    use crate::body::{Body as _, Current};
    use cicerone_domain::webhook::{EventName, PayloadStyle};
    use cicerone_domain::{Error, Timestamp};

    #[test]
    fn an_endpoint_receives_all_events_in_full_by_default() {
        let current = Current { now: Timestamp::from_millis(0), knows_model: &|_| true };
        let read = |json: &str| CreateWebhookEndpoint::parse(json.as_bytes(), &current);
        let new = read(r#"{"url": "https://example.com/"}"#).unwrap();
        assert_eq!(new.events.events(), EventName::CHOICES);
        assert_eq!((new.payload, new.is_enabled), (PayloadStyle::Full, true));
        let error = read(r#"{"events": 5}"#).unwrap_err();
        assert!(matches!(error, Error::Missing(bad) if bad.first().param == "url"));
    }
}
