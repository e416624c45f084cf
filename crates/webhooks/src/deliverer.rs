//! The worker that delivers events.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use cicerone_domain::ports::{DeliveryStore, WorkSignal};
use cicerone_domain::webhook::{Attempt, AttemptOutcome, ClaimedDelivery, Reception};
use cicerone_domain::{Clock, Entropy, Error, Id, kind, limits};
use cicerone_egress::Egress;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::fairness::{Share, Taken, Waiting, share};
use crate::send::send;
use crate::settings::DeliverySettings;

/// The pause after a failure of the database.
const OUTAGE_PAUSE: Duration = Duration::from_secs(1);
/// How long the last attempt at an endpoint is remembered.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Bytes of the bodies of attempts in progress, and further ones for accounts that use less than their share: 64 events of
/// large sources would take a gigabyte.
const BODIES: u64 = 16 * 1_024 * 1_024;
const BODIES_RESERVE: u64 = 8 * 1_024 * 1_024;
/// How long an attempt waits for memory for its body. Its delivery is then due again when the lease ends.
const PATIENCE: Duration = Duration::from_secs(15);
/// The gauge of attempts in progress.
const IN_FLIGHT: &str = "cicerone_webhook_attempts_in_flight";

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

/// A body, and the memory that is reserved for it.
type Body = (String, FairPermit<Id<kind::Account>>);

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
        if taken.in_all >= at_once {
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
                let attempt = async move {
                    let _place = place;
                    worker.attempt(delivery).await;
                };
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

    /// The body of a delivery; `None` if there is no memory for it.
    async fn body(&self, delivery: &ClaimedDelivery) -> Result<Option<Body>, Error> {
        let room =
            self.bodies.acquire(delivery.account_id, delivery.payload_bytes, Urgency::Learning);
        let Ok(mut room) = timeout(PATIENCE, room).await else { return Ok(None) };
        let no_payload =
            || Error::internal(format!("the event `{}` has no payload", delivery.event_id));
        let payload = self.store.payload(delivery.event_id).await?;
        let body = payload.and_then(|payload| delivery.style.body(payload));
        let body = body.ok_or_else(no_payload)?;
        room.shrink_to(u64::try_from(body.len()).unwrap_or(u64::MAX));
        Ok(Some((body, room)))
    }

    /// Makes one attempt. If there is no memory for its body, or its outcome cannot be stored, its lease expires and the
    /// delivery is attempted again.
    async fn attempt(&self, delivery: ClaimedDelivery) {
        let body = match self.body(&delivery).await {
            Ok(None) => {
                tracing::info!("a delivery waits: large events of its account are being sent");
                return;
            }
            Err(error) if error.is_transient() => {
                tracing::warn!(error = &error as &dyn std::error::Error, "an event cannot be read");
                return;
            }
            Ok(Some(body)) => Ok(body),
            Err(error) => Err(error),
        };
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

/// The places that attempts occupy.
#[derive(Default)]
struct Places {
    in_all: AtomicUsize,
    by_doubtful: AtomicUsize,
}

impl Places {
    fn taken(&self) -> Taken {
        Taken {
            in_all: self.in_all.load(Ordering::Relaxed),
            by_doubtful: self.by_doubtful.load(Ordering::Relaxed),
        }
    }
}

/// The place of one attempt, which is freed however the attempt ends.
struct AttemptPlace {
    places: Arc<Places>,
    is_doubtful: bool,
}

impl AttemptPlace {
    fn take(places: &Arc<Places>, is_doubtful: bool) -> Self {
        places.in_all.fetch_add(1, Ordering::Relaxed);
        places.by_doubtful.fetch_add(usize::from(is_doubtful), Ordering::Relaxed);
        metrics::gauge!(IN_FLIGHT).increment(1.0);
        Self { places: Arc::clone(places), is_doubtful }
    }
}

impl Drop for AttemptPlace {
    fn drop(&mut self) {
        self.places.in_all.fetch_sub(1, Ordering::Relaxed);
        self.places.by_doubtful.fetch_sub(usize::from(self.is_doubtful), Ordering::Relaxed);
        metrics::gauge!(IN_FLIGHT).decrement(1.0);
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
