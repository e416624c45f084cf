//! Webhook endpoints and deliveries: what their endpoints share.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod deliveries;
pub(super) mod get;
pub(super) mod list;
pub(super) mod redeliver;
pub(super) mod rotate_secret;
pub(super) mod test;
pub(super) mod update;

use actix_web::http::StatusCode;
use cicerone_domain::idempotency::Subject;
use cicerone_domain::webhook::{Attempt, EventName, IssuedEndpoint, PayloadStyle};
use cicerone_domain::{Delivery, Id, Timestamp, WebhookEndpoint, kind};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, Object};

use crate::managed::{ManagedBody, ManagedView};
use crate::openapi::schema::{name_of_or_null, names_of_or_null};
use crate::response::{StoredResponse, keep};

/// The condition under which the body of an endpoint is refused.
const BAD_ENDPOINT: &str = "A required field is missing, or a field has a bad value, such as an address that \
    the server may not contact.";

/// A webhook endpoint, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpoint)]
pub(super) struct EndpointView<'a> {
    #[schema(value_type = String, pattern = "^whep_[0-9A-Za-z]{10}$")]
    id: Id<kind::WebhookEndpoint>,
    /// The URL that events are sent to, as it was given.
    url: &'a str,
    /// The events that it receives.
    #[schema(value_type = Vec<String>)]
    events: Vec<&'static str>,
    /// A human-readable description.
    #[schema(value_type = Option<String>, required = true)]
    description: Option<&'a str>,
    /// `full`, or `thin`: without `data.content`.
    #[schema(value_type = String)]
    payload: &'static str,
    /// `enabled` or `disabled`.
    #[schema(value_type = String)]
    status: &'static str,
    /// Why the endpoint is disabled; null while it is enabled.
    #[schema(value_type = Option<String>, required = true)]
    disabled_reason: Option<&'a str>,
    /// The entry of a declaration file that manages this object; null if none does.
    #[schema(value_type = Option<ManagedBody>, required = true)]
    managed: Option<ManagedView<'a>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A webhook endpoint with its new secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IssuedWebhookEndpoint)]
struct IssuedEndpointView<'a> {
    #[serde(flatten)]
    resource: EndpointView<'a>,
    /// The secret for verifying signatures: `whsec_` followed by the key in base64.
    #[schema(pattern = "^whsec_[0-9A-Za-z+/]{32}$")]
    secret: &'a str,
}

/// The delivery of one event to one endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Delivery)]
pub(super) struct DeliveryView<'a> {
    #[schema(value_type = String, pattern = "^dlv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Delivery>,
    /// The `webhook-id` of every attempt.
    #[schema(value_type = String, pattern = "^evt_[0-9A-Za-z]{10}$")]
    event_id: Id<kind::Event>,
    /// The name of the event.
    #[schema(value_type = String)]
    event: &'static str,
    /// `pending`, `succeeded` or `failed`.
    #[schema(value_type = String)]
    status: &'static str,
    /// The latest attempts, oldest first.
    attempts: Vec<AttemptView<'a>>,
    /// When the next attempt is due; null if there is none, or if it is in progress.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    next_attempt_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// One attempt at a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeliveryAttempt)]
struct AttemptView<'a> {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The HTTP status of the endpoint's response; null if there was none.
    #[schema(required = true)]
    http_status: Option<u16>,
    /// What went wrong; null if the attempt succeeded.
    #[schema(value_type = Option<String>, required = true)]
    error: Option<&'a str>,
    duration_ms: u64,
}

impl<'a> From<&'a WebhookEndpoint> for EndpointView<'a> {
    fn from(endpoint: &'a WebhookEndpoint) -> Self {
        Self {
            id: endpoint.id,
            url: endpoint.url.as_str(),
            events: endpoint.events.names(),
            description: endpoint.description.as_deref(),
            payload: endpoint.payload.name(),
            status: if endpoint.disabled.is_none() { "enabled" } else { "disabled" },
            disabled_reason: endpoint.disabled.as_deref(),
            managed: endpoint.managed.as_ref().map(ManagedView::from),
            created_at: endpoint.created_at,
            updated_at: endpoint.updated_at,
        }
    }
}

impl<'a> From<&'a IssuedEndpoint> for IssuedEndpointView<'a> {
    fn from(issued: &'a IssuedEndpoint) -> Self {
        Self { resource: EndpointView::from(&issued.endpoint), secret: issued.secret.reveal() }
    }
}

impl<'a> From<&'a Delivery> for DeliveryView<'a> {
    fn from(delivery: &'a Delivery) -> Self {
        Self {
            id: delivery.id,
            event_id: delivery.event_id,
            event: delivery.event.name(),
            status: delivery.status.name(),
            attempts: delivery.attempts.iter().map(AttemptView::from).collect(),
            next_attempt_at: delivery.next_attempt_at,
            created_at: delivery.created_at,
        }
    }
}

impl<'a> From<&'a Attempt> for AttemptView<'a> {
    fn from(attempt: &'a Attempt) -> Self {
        Self {
            at: attempt.at,
            http_status: attempt.http_status,
            error: attempt.error.as_deref(),
            duration_ms: attempt.duration_ms,
        }
    }
}

/// The answer to a change that made a secret.
fn kept_with_secret(status: StatusCode, issued: &IssuedEndpoint) -> StoredResponse {
    let subject = Subject::of_account(issued.endpoint.id).with_secret();
    keep(status, &IssuedEndpointView::from(issued), Some(subject))
}

/// The answer to a request that queued a delivery.
fn queued(delivery: &Delivery) -> StoredResponse {
    let subject = Subject::of_account(delivery.endpoint_id);
    keep(StatusCode::ACCEPTED, &DeliveryView::from(delivery), Some(subject))
}

/// The schema of `events` in a body.
fn events() -> Array {
    let names = EventName::CHOICES.map(EventName::name);
    names_of_or_null(names, "The events that it receives; null for all.")
}

/// The schema of `payload` in a body.
fn payload() -> Object {
    let names = PayloadStyle::ALL.map(PayloadStyle::name);
    name_of_or_null(names, "`thin` omits `data.content`; null for the default, `full`.")
}
