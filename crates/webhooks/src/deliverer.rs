//! The worker that delivers events.

mod places;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use cicerone_domain::ports::{DeliveryStore, WorkSignal};
use cicerone_domain::webhook::{
    Attempt, AttemptOutcome, ClaimedDelivery, DeliveryLease, Reception,
};
use cicerone_domain::{Clock, Entropy, Error, Id, kind, limits};
use cicerone_egress::Egress;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::fairness::{Share, Waiting, share};
use crate::send::send;
use crate::settings::DeliverySettings;
use places::{AttemptPlace, Places, WaitingPlace};

/// The pause after a failure of the database.
const OUTAGE_PAUSE: Duration = Duration::from_secs(1);
/// How long the last attempt at an endpoint is remembered.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Bytes of the bodies of attempts in progress, and further ones for accounts that use less than their share: 64 events of
/// large sources would take a gigabyte.
const BODIES: u64 = 16 * 1_024 * 1_024;
const BODIES_RESERVE: u64 = 8 * 1_024 * 1_024;
/// How long a delivery waits for memory for its body.
const PATIENCE: Duration = Duration::from_secs(5);
/// When a delivery that could not be attempted is due again.
const POSTPONED_MILLIS: i64 = 5_000;
/// While this many deliveries wait for memory, no other is claimed.
const WAITING: usize = 1_024;

/// Delivers events. Clones share one worker.
#[derive(Clone)]
pub struct Deliverer {
    store: Arc<dyn DeliveryStore>,
    egress: Egress,
    signal: WorkSignal,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    settings: Arc<DeliverySettings>,
    bodies: FairPool<Id<kind::Account>>,
}

/// Memory for a body.
type Room = FairPermit<Id<kind::Account>>;
/// A body, and the memory that is reserved for it.
type Body = (String, Room);

/// When each endpoint was last sent something.
type Served = HashMap<Id<kind::WebhookEndpoint>, Instant>;

impl Deliverer {
    /// A worker over these ports; `signal` is set when this process queues something.
    pub fn new(
        store: Arc<dyn DeliveryStore>,
        egress: Egress,
        signal: WorkSignal,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: DeliverySettings,
    ) -> Self {
        let bodies = FairPool::new(BODIES, BODIES_RESERVE);
        Self { store, egress, signal, clock, entropy, settings: Arc::new(settings), bodies }
    }

    /// Takes back the attempts that were in progress when the only process of a database ended.
    pub async fn take_back(&self) -> Result<(), Error> {
        let count = self.store.free_deliveries(self.clock.now()).await?;
        if count > 0 {
            tracing::info!(
                count,
                "released deliveries that were in progress when the server last stopped"
            );
        }
        Ok(())
    }

    /// Delivers until `stop`, and then finishes the attempts in progress.
    pub async fn run(&self, stop: CancellationToken) {
        let mut attempts = JoinSet::new();
        let places = Arc::new(Places::default());
        let mut served = HashMap::new();
        let mut signal = self.signal.listen();
        while !stop.is_cancelled() {
            let wait = match self.start_some(&mut attempts, &places, &mut served).await {
                Ok(()) => self.settings.poll,
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "deliveries could not be claimed; the next attempt will try again"
                    );
                    OUTAGE_PAUSE
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = signal.wait() => {}
                // The panic hook has logged an attempt that panicked.
                Some(_) = attempts.join_next(), if !attempts.is_empty() => {}
                () = tokio::time::sleep(wait) => {}
            }
            while attempts.try_join_next().is_some() {}
        }
        while attempts.join_next().await.is_some() {}
    }

    /// Starts as many attempts as there are free places.
    async fn start_some(
        &self,
        attempts: &mut JoinSet<()>,
        places: &Arc<Places>,
        served: &mut Served,
    ) -> Result<(), Error> {
        let DeliverySettings { at_once, per_endpoint, .. } = *self.settings;
        let taken = places.taken();
        if taken.in_all >= at_once || places.waiting() >= WAITING {
            return Ok(());
        }
        let due = self.store.due_endpoints(self.clock.now()).await?;
        // An endpoint without due deliveries is forgotten after a while, and then counts as new.
        let are_due: HashSet<Id<_>> = due.iter().map(|endpoint| endpoint.id).collect();
        served.retain(|id, at| at.elapsed() < REMEMBERED || are_due.contains(id));
        let waiting = due
            .into_iter()
            .map(|due| Waiting { served: served.get(&due.id).copied(), due })
            .collect();
        for share in share(waiting, taken, at_once, per_endpoint) {
            served.insert(share.endpoint, Instant::now());
            let claimed = match self.claim(share).await {
                Ok(claimed) => claimed,
                Err(error) => {
                    tracing::error!(
                        endpoint_id = %share.endpoint,
                        error = &error as &dyn std::error::Error,
                        "the deliveries of an endpoint could not be claimed"
                    );
                    continue;
                }
            };
            for delivery in claimed {
                let place = AttemptPlace::take(places, share.is_doubtful);
                let worker = self.clone();
                let span = tracing::info_span!(
                    "delivery",
                    delivery_id = %delivery.lease.delivery_id,
                    endpoint_id = %delivery.lease.endpoint_id,
                    event_id = %delivery.event_id,
                    request_id = delivery.request_id.map(tracing::field::display),
                );
                let attempt = async move { worker.deliver(delivery, place).await };
                attempts.spawn(attempt.instrument(span));
            }
        }
        Ok(())
    }

    async fn claim(&self, share: Share) -> Result<Vec<ClaimedDelivery>, Error> {
        let token = Id::<kind::Delivery>::random(self.entropy.as_ref()).suffix().to_owned();
        let now = self.clock.now();
        let until = now.plus_millis(limits::DELIVERY_LEASE_MILLIS);
        let most = if share.is_doubtful { 1 } else { self.settings.per_endpoint };
        self.store.claim_deliveries(share.endpoint, share.count, most, token, now, until).await
    }

    /// Attempts a delivery once there is memory for its body. If it cannot be attempted, it is due again a few seconds later.
    async fn deliver(&self, delivery: ClaimedDelivery, place: AttemptPlace) {
        let Some((room, _place)) = self.room(&delivery, place).await else {
            tracing::info!(
                "there is no memory for the body of a delivery; it is attempted again in a few seconds"
            );
            self.postpone(&delivery.lease).await;
            return;
        };
        match self.body(&delivery, room).await {
            Ok(Some(body)) => self.attempt(delivery, Ok(body)).await,
            Ok(None) => tracing::debug!("the event of a delivery was deleted before it was sent"),
            Err(error) if error.is_transient() => {
                tracing::warn!(error = &error as &dyn std::error::Error, "an event cannot be read");
                self.postpone(&delivery.lease).await;
            }
            Err(error) => self.attempt(delivery, Err(error)).await,
        }
    }

    /// Memory for the body of a delivery, and the place of its attempt; `None` if there is no memory.
    async fn room(
        &self,
        delivery: &ClaimedDelivery,
        place: AttemptPlace,
    ) -> Option<(Room, AttemptPlace)> {
        let (account, bytes) = (delivery.account_id, delivery.payload_bytes);
        if let Some(room) = self.bodies.try_acquire(account, bytes) {
            return Some((room, place));
        }
        // While it waits, its place is free for deliveries for which there is memory.
        let waiting = WaitingPlace::instead_of(place);
        let room = self.bodies.acquire(account, bytes, Urgency::Learning);
        let room = timeout(PATIENCE, room).await.ok()?;
        Some((room, waiting.over()))
    }

    async fn postpone(&self, lease: &DeliveryLease) {
        let until = self.clock.now().plus_millis(POSTPONED_MILLIS);
        if let Err(error) = self.store.postpone_delivery(lease, until).await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "a delivery could not be released; it is attempted again when its lease ends"
            );
        }
    }

    /// The body of a delivery; `None` if its event was deleted.
    async fn body(
        &self,
        delivery: &ClaimedDelivery,
        mut room: Room,
    ) -> Result<Option<Body>, Error> {
        let Some(payload) = self.store.payload(delivery.event_id).await? else { return Ok(None) };
        let damaged =
            || Error::internal(format!("the payload of `{}` is damaged", delivery.event_id));
        let body = delivery.style.body(payload).ok_or_else(damaged)?;
        room.shrink_to(u64::try_from(body.len()).unwrap_or(u64::MAX));
        Ok(Some((body, room)))
    }

    /// Makes one attempt. If its outcome cannot be stored, its lease expires and the delivery is attempted again.
    async fn attempt(&self, delivery: ClaimedDelivery, body: Result<Body, Error>) {
        let at = self.clock.now();
        let began = Instant::now();
        let received = match body {
            Ok((body, _room)) => {
                send(&self.egress, &delivery, body, self.settings.timeout, at).await
            }
            Err(error) => Err(error),
        };
        let duration = began.elapsed();
        let received = received.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn std::error::Error, "a delivery cannot be made");
            Reception::failed("internal error")
        });
        let outcome = received.outcome(
            &self.settings.schedule,
            delivery.tries,
            self.clock.now(),
            self.entropy.as_ref(),
        );
        count(outcome, duration);
        let attempt = Attempt {
            at,
            http_status: received.status,
            error: received.error,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
        };
        tracing::info!(
            attempt = delivery.tries.saturating_add(1),
            http_status = attempt.http_status,
            error = attempt.error.as_deref(),
            duration_ms = attempt.duration_ms,
            "attempted a delivery"
        );
        let noted =
            self.store.finish_attempt(&delivery.lease, attempt, outcome, self.clock.now()).await;
        match noted {
            Ok(None) => {}
            Ok(Some(reason)) => {
                tracing::warn!(reason, "disabled a webhook endpoint");
            }
            Err(error) => tracing::error!(
                error = &error as &dyn std::error::Error,
                "an attempt could not be recorded; the delivery will be sent again"
            ),
        }
    }
}

fn count(outcome: AttemptOutcome, duration: Duration) {
    let outcome = match outcome {
        AttemptOutcome::Delivered => "delivered",
        AttemptOutcome::Retry(_) => "failed",
        AttemptOutcome::GivenUp => "given_up",
        AttemptOutcome::Gone => "gone",
    };
    metrics::counter!("cicerone_webhook_attempts_total", "outcome" => outcome).increment(1);
    metrics::histogram!("cicerone_webhook_attempt_duration_seconds").record(duration.as_secs_f64());
}
