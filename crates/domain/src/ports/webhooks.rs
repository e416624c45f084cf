//! The ports of webhooks: endpoints, deliveries, and the check of addresses.

use async_trait::async_trait;

use crate::error::Error;
use crate::event::Event;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::managed::SetName;
use crate::page::{Page, PageRequest};
use crate::timestamp::Timestamp;
use crate::webhook::{
    Attempt, AttemptOutcome, ClaimedDelivery, Delivery, DeliveryLease, DeliveryStatus, DueEndpoint,
    EndpointPatch, IssuedEndpoint, WebhookEndpoint, WebhookSecret,
};

/// The webhook endpoints of accounts, and their deliveries as their owners see them.
///
/// When the work on a source ends, the store that writes the event also queues it for the endpoints that receive it, in
/// the same transaction.
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// Adds an endpoint with its secret. Fails with [`Error::Conflict`] if the account has
    /// [`WEBHOOK_ENDPOINTS`](crate::limits::WEBHOOK_ENDPOINTS), or another one with the same managed identity.
    async fn insert_endpoint(
        &self,
        endpoint: WebhookEndpoint,
        secret: WebhookSecret,
        completion: Option<Completion<IssuedEndpoint>>,
    ) -> Result<IssuedEndpoint, Error>;
    /// `None` if the account has no such endpoint.
    async fn find_endpoint(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
    ) -> Result<Option<WebhookEndpoint>, Error>;
    /// The account's endpoints, newest first; only those that are managed in `set`, if it is given.
    async fn list_endpoints(
        &self,
        account: Id<kind::Account>,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<WebhookEndpoint>, Error>;
    /// Applies a change. Deliveries that were pending when the endpoint was disabled continue when it is enabled again.
    /// Fails with [`Error::NotFound`].
    async fn update_endpoint(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
        patch: EndpointPatch,
        now: Timestamp,
        completion: Option<Completion<WebhookEndpoint>>,
    ) -> Result<WebhookEndpoint, Error>;
    /// Replaces the current secret with `secret`; the old one signs for another 24 hours. Fails with
    /// [`Error::NotFound`], and with [`Error::Conflict`] as
    /// [`EndpointSecrets::rotate`](crate::webhook::EndpointSecrets::rotate) does.
    async fn rotate_secret(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
        secret: WebhookSecret,
        now: Timestamp,
        completion: Option<Completion<IssuedEndpoint>>,
    ) -> Result<IssuedEndpoint, Error>;
    /// Removes an endpoint with its deliveries and the stored answers that contain it. Fails with
    /// [`Error::NotFound`].
    async fn delete_endpoint(
        &self,
        account: Id<kind::Account>,
        id: Id<kind::WebhookEndpoint>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error>;
    /// Adds an event that is for this endpoint alone, and queues it. Fails with [`Error::NotFound`],
    /// and with [`Error::Conflict`] if the endpoint is disabled.
    async fn send_event(
        &self,
        endpoint: Id<kind::WebhookEndpoint>,
        event: Event,
        completion: Option<Completion<Delivery>>,
    ) -> Result<Delivery, Error>;
    /// Queues a delivery again, with the whole schedule before it; one that is pending is attempted
    /// now. Fails with [`Error::NotFound`], and with [`Error::Conflict`] if the endpoint is
    /// disabled.
    async fn redeliver(
        &self,
        account: Id<kind::Account>,
        endpoint: Id<kind::WebhookEndpoint>,
        id: Id<kind::Delivery>,
        now: Timestamp,
        completion: Option<Completion<Delivery>>,
    ) -> Result<Delivery, Error>;
    /// An endpoint's deliveries, newest first. Fails with [`Error::NotFound`] for the endpoint.
    async fn list_deliveries(
        &self,
        account: Id<kind::Account>,
        endpoint: Id<kind::WebhookEndpoint>,
        status: Option<DeliveryStatus>,
        page: PageRequest,
    ) -> Result<Page<Delivery>, Error>;
}

/// Deliveries as work: rows with leases.
#[async_trait]
pub trait DeliveryStore: Send + Sync {
    /// The enabled endpoints for which a delivery is due at `now`.
    async fn due_endpoints(&self, now: Timestamp) -> Result<Vec<DueEndpoint>, Error>;
    /// Claims at most `count` deliveries that are due, the oldest first, until `until`; fewer if more than `in_flight`
    /// attempts at the endpoint would be in progress, on all servers together. `token` names the leases.
    async fn claim_deliveries(
        &self,
        endpoint: Id<kind::WebhookEndpoint>,
        count: u32,
        in_flight: u32,
        token: String,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ClaimedDelivery>, Error>;
    /// The whole payload of an event; `None` if it was removed.
    async fn payload(&self, event: Id<kind::Event>) -> Result<Option<String>, Error>;
    /// Stores an attempt, the outcome for the delivery, and the health of the endpoint, in one
    /// transaction. Returns the reason if it disables the endpoint. Changes nothing if the lease
    /// was lost.
    async fn finish_attempt(
        &self,
        lease: &DeliveryLease,
        attempt: Attempt,
        outcome: AttemptOutcome,
        now: Timestamp,
    ) -> Result<Option<String>, Error>;
    /// Gives back the lease of a delivery that could not be attempted, which is then due at `until`. It does not count as an
    /// attempt. Changes nothing if the lease was lost.
    async fn postpone_delivery(&self, lease: &DeliveryLease, until: Timestamp)
    -> Result<(), Error>;
    /// Frees all leases. Called when the only process of an embedded database starts, when no other process can hold
    /// any. Returns their number.
    async fn free_deliveries(&self, now: Timestamp) -> Result<u64, Error>;
}

/// The address of an endpoint may not be requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetRefused(pub String);

/// Checks the addresses of endpoints when they are given.
#[async_trait]
pub trait CheckTarget: Send + Sync {
    /// Refuses an address that may not be requested for an account; the error is the requirement, in lower case and without a final
    /// period. An address whose name cannot currently be resolved passes: it is checked again at every attempt.
    async fn check_target(
        &self,
        account: Id<kind::Account>,
        url: &url::Url,
    ) -> Result<(), TargetRefused>;
}
