//! One event on its way to one endpoint.

use serde::{Deserialize, Serialize};

use super::{EndpointHealth, EndpointUrl, EventName, PayloadStyle, WebhookSecret};
use crate::id::{Id, kind};
use crate::timestamp::Timestamp;

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// It will be attempted, at once or again.
    Pending,
    /// The endpoint took it.
    Succeeded,
    /// It is given up.
    Failed,
}

impl DeliveryStatus {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Succeeded, Self::Failed];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// One try to deliver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// The status of the endpoint's answer; none where there was none.
    pub http_status: Option<u16>,
    /// What went wrong, for a person; none where it went well.
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: Id<kind::Delivery>,
    /// The endpoint.
    pub endpoint_id: Id<kind::WebhookEndpoint>,
    /// The event, whose id is the same on every attempt.
    pub event_id: Id<kind::Event>,
    /// What the event tells of.
    pub event: EventName,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// The latest attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it is attempted next; none where it is not, or is being attempted now.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was queued first.
    pub created_at: Timestamp,
}

/// The right to attempt a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLease {
    /// The delivery.
    pub delivery_id: Id<kind::Delivery>,
    /// Its endpoint.
    pub endpoint_id: Id<kind::WebhookEndpoint>,
    /// Names this claim: 10 random characters.
    pub token: String,
    /// Where it is sent. The outcome says nothing about an endpoint whose address has changed since.
    pub url: EndpointUrl,
}

/// A delivery to attempt now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The right to do so.
    pub lease: DeliveryLease,
    /// How much is told.
    pub style: PayloadStyle,
    /// The secrets to sign with, the current one first.
    pub secrets: Vec<WebhookSecret>,
    /// The event.
    pub event_id: Id<kind::Event>,
    /// The request that led to the event, for the logs.
    pub request_id: Option<Id<kind::Request>>,
    /// The event's whole payload.
    pub payload: String,
    /// Attempts that were made since it was queued, or last sent again by hand.
    pub tries: u32,
}

/// What becomes of a delivery after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The endpoint took it.
    Delivered,
    /// It is tried again at a moment.
    Retry(Timestamp),
    /// It is given up.
    GivenUp,
    /// It is given up, and the endpoint says that it is no more.
    Gone,
}

/// An enabled endpoint that something is due for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEndpoint {
    /// The endpoint.
    pub id: Id<kind::WebhookEndpoint>,
    /// Since when its oldest is due.
    pub since: Timestamp,
    /// Attempts that are under way, of all servers.
    pub in_flight: u32,
    /// How it took what it was sent.
    pub health: EndpointHealth,
}
