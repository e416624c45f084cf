//! Use cases of webhook endpoints and their deliveries.

use std::sync::Arc;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::event::Event;
use crate::fairness::{FairPool, Urgency};
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::managed::{Managed, SetName};
use crate::page::{Page, PageRequest};
use crate::ports::{CheckTarget, WebhookStore, WorkSignal};
use crate::webhook::{
    Delivery, DeliveryStatus, EndpointDescription, EndpointPatch, EndpointUrl, IssuedEndpoint,
    PayloadStyle, Subscription, WebhookEndpoint, WebhookSecret,
};

/// An endpoint to create, already parsed.
#[derive(Debug, Clone)]
pub struct NewEndpoint {
    /// Where events are sent.
    pub url: EndpointUrl,
    /// The events that it receives.
    pub events: Subscription,
    /// A human-readable description.
    pub description: Option<EndpointDescription>,
    /// How much of a source its events contain.
    pub payload: PayloadStyle,
    /// Whether it begins enabled.
    pub is_enabled: bool,
    /// The entry of a declaration file that manages it.
    pub managed: Option<Managed>,
}

/// Addresses that are checked at once, and as many in reserve for accounts that have fewer than their
/// share; others wait.
const CHECKS: u64 = 8;

/// Manages webhook endpoints. They belong to the account and receive the events of all its agents, so a key that is
/// restricted to agents sees none.
#[derive(Clone)]
pub struct Webhooks {
    store: Arc<dyn WebhookStore>,
    targets: Arc<dyn CheckTarget>,
    /// The places of checks, which may wait for the resolver of names.
    checks: FairPool<Id<kind::Account>>,
    signal: WorkSignal,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Webhooks {
    /// The use cases over these ports; `signal` wakes the deliveries of this process.
    pub fn new(
        store: Arc<dyn WebhookStore>,
        targets: Arc<dyn CheckTarget>,
        signal: WorkSignal,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let checks = FairPool::new(CHECKS, CHECKS);
        Self { store, targets, checks, signal, clock, entropy }
    }

    /// Adds an endpoint.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] on `url` for an address that may not be requested, [`Error::InvalidOperation`] for a caller
    /// that is restricted to agents, and those of [`WebhookStore::insert_endpoint`].
    pub async fn create(
        &self,
        scope: &Scope,
        new: NewEndpoint,
        completion: Option<Completion<IssuedEndpoint>>,
    ) -> Result<IssuedEndpoint, Error> {
        if scope.agents.is_some() {
            let text = "this key is restricted to agents, and a webhook endpoint takes the events \
                of all agents of the account";
            return Err(Error::InvalidOperation(text.to_owned()));
        }
        self.check(scope.account, &new.url).await?;
        let now = self.clock.now();
        let mut endpoint = WebhookEndpoint {
            id: Id::random(self.entropy.as_ref()),
            account_id: scope.account,
            url: new.url,
            events: new.events,
            description: new.description,
            payload: new.payload,
            disabled: None,
            managed: new.managed,
            created_at: now,
            updated_at: now,
        };
        let is_enabled = Some(new.is_enabled);
        endpoint.apply(EndpointPatch { is_enabled, ..EndpointPatch::default() }, now);
        let secret = WebhookSecret::generate(self.entropy.as_ref());
        self.store.insert_endpoint(endpoint, secret, completion).await
    }

    /// The endpoint with this id.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if there is none in the scope.
    pub async fn find(
        &self,
        scope: &Scope,
        id: Id<kind::WebhookEndpoint>,
    ) -> Result<WebhookEndpoint, Error> {
        let account = owner(scope, id)?;
        self.store.find_endpoint(account, id).await?.ok_or_else(|| unknown(id))
    }

    /// The endpoints of the account, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](crate::ports).
    pub async fn list(
        &self,
        scope: &Scope,
        set: Option<SetName>,
        page: PageRequest,
    ) -> Result<Page<WebhookEndpoint>, Error> {
        if scope.agents.is_some() {
            return Ok(Page { items: Vec::new(), next: None });
        }
        self.store.list_endpoints(scope.account, set, page).await
    }

    /// Changes an endpoint.
    ///
    /// # Errors
    ///
    /// Those of [`Webhooks::create`] for its address, and [`Error::NotFound`].
    pub async fn update(
        &self,
        scope: &Scope,
        id: Id<kind::WebhookEndpoint>,
        patch: EndpointPatch,
        completion: Option<Completion<WebhookEndpoint>>,
    ) -> Result<WebhookEndpoint, Error> {
        let account = owner(scope, id)?;
        if let Some(url) = &patch.url {
            self.check(account, url).await?;
        }
        let now = self.clock.now();
        let endpoint = self.store.update_endpoint(account, id, patch, now, completion).await?;
        // Deliveries that waited while it was disabled continue.
        self.signal.notify();
        Ok(endpoint)
    }

    /// Gives an endpoint a new secret; the old one also signs for another 24 hours.
    ///
    /// # Errors
    ///
    /// Those of [`WebhookStore::rotate_secret`].
    pub async fn rotate_secret(
        &self,
        scope: &Scope,
        id: Id<kind::WebhookEndpoint>,
        completion: Option<Completion<IssuedEndpoint>>,
    ) -> Result<IssuedEndpoint, Error> {
        let account = owner(scope, id)?;
        let secret = WebhookSecret::generate(self.entropy.as_ref());
        self.store.rotate_secret(account, id, secret, self.clock.now(), completion).await
    }

    /// Deletes an endpoint.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn delete(
        &self,
        scope: &Scope,
        id: Id<kind::WebhookEndpoint>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.store.delete_endpoint(owner(scope, id)?, id, completion).await
    }

    /// Queues a `ping` for an endpoint, for a request that the logs name.
    ///
    /// # Errors
    ///
    /// Those of [`WebhookStore::send_event`].
    pub async fn test(
        &self,
        scope: &Scope,
        id: Id<kind::WebhookEndpoint>,
        request_id: Option<Id<kind::Request>>,
        completion: Option<Completion<Delivery>>,
    ) -> Result<Delivery, Error> {
        let account = owner(scope, id)?;
        let event_id = Id::random(self.entropy.as_ref());
        let event = Event::ping(id, account, event_id, request_id, self.clock.now());
        let delivery = self.store.send_event(id, event, completion).await?;
        self.signal.notify();
        Ok(delivery)
    }

    /// Sends a delivery again.
    ///
    /// # Errors
    ///
    /// Those of [`WebhookStore::redeliver`].
    pub async fn redeliver(
        &self,
        scope: &Scope,
        endpoint: Id<kind::WebhookEndpoint>,
        id: Id<kind::Delivery>,
        completion: Option<Completion<Delivery>>,
    ) -> Result<Delivery, Error> {
        let account = owner(scope, endpoint)?;
        let now = self.clock.now();
        let delivery = self.store.redeliver(account, endpoint, id, now, completion).await?;
        self.signal.notify();
        Ok(delivery)
    }

    /// An endpoint's deliveries, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn deliveries(
        &self,
        scope: &Scope,
        id: Id<kind::WebhookEndpoint>,
        status: Option<DeliveryStatus>,
        page: PageRequest,
    ) -> Result<Page<Delivery>, Error> {
        self.store.list_deliveries(owner(scope, id)?, id, status, page).await
    }

    async fn check(&self, account: Id<kind::Account>, url: &EndpointUrl) -> Result<(), Error> {
        let _place = self.checks.acquire(account, 1, Urgency::Question).await;
        let checked = self.targets.check_target(account, &url.to_url()?).await;
        checked.map_err(|refused| Error::invalid("url", refused.to_string()))
    }
}

/// The account in which an endpoint is searched for. A caller that is restricted to agents sees no endpoints.
fn owner(scope: &Scope, id: Id<kind::WebhookEndpoint>) -> Result<Id<kind::Account>, Error> {
    if scope.agents.is_some() { Err(unknown(id)) } else { Ok(scope.account) }
}

fn unknown(id: Id<kind::WebhookEndpoint>) -> Error {
    Error::not_found("webhook endpoint", id)
}
