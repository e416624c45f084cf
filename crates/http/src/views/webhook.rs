//! Webhook endpoints and deliveries on the wire.

use cicerone_domain::services::IssuedEndpoint;
use cicerone_domain::webhook::Attempt;
use cicerone_domain::{Delivery, Id, Timestamp, WebhookEndpoint, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// A webhook endpoint, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookEndpoint)]
pub(crate) struct EndpointView<'a> {
    #[schema(value_type = String, pattern = "^whep_[0-9A-Za-z]{10}$")]
    id: Id<kind::WebhookEndpoint>,
    /// Where events are sent, as it was given.
    url: &'a str,
    /// The events that it takes.
    #[schema(value_type = Vec<String>)]
    events: Vec<&'static str>,
    /// For people.
    #[schema(value_type = Option<String>, required = true)]
    description: Option<&'a str>,
    /// `full`, or `thin`: without `data.content`.
    #[schema(value_type = String)]
    payload: &'static str,
    /// `enabled` or `disabled`.
    #[schema(value_type = String)]
    status: &'static str,
    /// Why nothing is sent; null while it is enabled.
    #[schema(value_type = Option<String>, required = true)]
    disabled_reason: Option<&'a str>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// A webhook endpoint with the secret that was just made for it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IssuedWebhookEndpoint)]
pub(crate) struct IssuedEndpointView<'a> {
    #[serde(flatten)]
    resource: EndpointView<'a>,
    /// The secret of the signatures: `whsec_` and base64 of the key.
    #[schema(pattern = "^whsec_[0-9A-Za-z+/]{32}$")]
    secret: &'a str,
}

/// One event on its way to one endpoint.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Delivery)]
pub(crate) struct DeliveryView<'a> {
    #[schema(value_type = String, pattern = "^dlv_[0-9A-Za-z]{10}$")]
    id: Id<kind::Delivery>,
    /// The `webhook-id` of every attempt.
    #[schema(value_type = String, pattern = "^evt_[0-9A-Za-z]{10}$")]
    event_id: Id<kind::Event>,
    /// The event's name.
    #[schema(value_type = String)]
    event: &'static str,
    /// `pending`, `succeeded` or `failed`.
    #[schema(value_type = String)]
    status: &'static str,
    /// The latest attempts, oldest first.
    attempts: Vec<AttemptView<'a>>,
    /// When it is attempted next; null where it is not, or is being attempted now.
    #[schema(value_type = Option<String>, format = DateTime, required = true)]
    next_attempt_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// One attempt at a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeliveryAttempt)]
pub(crate) struct AttemptView<'a> {
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The status of the endpoint's answer; null where there was none.
    #[schema(required = true)]
    http_status: Option<u16>,
    /// What went wrong; null where nothing did.
    #[schema(value_type = Option<String>, required = true)]
    error: Option<&'a str>,
    /// How long it took.
    duration_ms: u64,
}

impl<'a> From<&'a WebhookEndpoint> for EndpointView<'a> {
    fn from(endpoint: &'a WebhookEndpoint) -> Self {
        Self {
            id: endpoint.id,
            url: &endpoint.url,
            events: endpoint.events.iter().map(|event| event.name()).collect(),
            description: endpoint.description.as_deref(),
            payload: endpoint.payload.name(),
            status: if endpoint.disabled.is_none() { "enabled" } else { "disabled" },
            disabled_reason: endpoint.disabled.as_deref(),
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
