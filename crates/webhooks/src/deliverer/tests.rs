//! Tests of deliveries that cannot be attempted.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::limits::DELIVERY_LEASE_MILLIS;
use cicerone_domain::ports::{DeliveryStore, WorkSignal};
use cicerone_domain::webhook::{
    Attempt, AttemptOutcome, ClaimedDelivery, DeliveryLease, DueEndpoint, EndpointUrl, PayloadStyle,
};
use cicerone_domain::{Error, Id, SystemClock, SystemEntropy, Timestamp, kind};
use cicerone_egress::{Egress, EgressSettings, SystemResolver};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::places::{AttemptPlace, Places};
use super::{BODIES, BODIES_RESERVE, Deliverer, PATIENCE};
use crate::send::BODY_PATIENCE;
use crate::settings::DeliverySettings;

/// What reading the payload of an event results in.
type Payload = fn() -> Result<Option<String>, Error>;

/// A store with one event, which records what happens to its delivery.
struct Script {
    payload: Payload,
    noted: Mutex<Vec<&'static str>>,
}

#[async_trait]
impl DeliveryStore for Script {
    async fn due_endpoints(&self, _: Timestamp) -> Result<Vec<DueEndpoint>, Error> {
        Ok(Vec::new())
    }

    async fn claim_deliveries(
        &self,
        _: Id<kind::WebhookEndpoint>,
        _: u32,
        _: u32,
        _: String,
        _: Timestamp,
        _: Timestamp,
    ) -> Result<Vec<ClaimedDelivery>, Error> {
        Ok(Vec::new())
    }

    async fn payload(&self, _: Id<kind::Event>) -> Result<Option<String>, Error> {
        (self.payload)()
    }

    async fn finish_attempt(
        &self,
        _: &DeliveryLease,
        _: Attempt,
        _: AttemptOutcome,
        _: Timestamp,
    ) -> Result<Option<String>, Error> {
        self.noted.lock().push("attempted");
        Ok(None)
    }

    async fn postpone_delivery(&self, _: &DeliveryLease, _: Timestamp) -> Result<(), Error> {
        self.noted.lock().push("postponed");
        Ok(())
    }

    async fn free_deliveries(&self, _: Timestamp) -> Result<u64, Error> {
        Ok(0)
    }
}

fn deliverer(payload: fn() -> Result<Option<String>, Error>) -> (Deliverer, Arc<Script>) {
    let script = Arc::new(Script { payload, noted: Mutex::default() });
    let deliverer = Deliverer::new(
        Arc::clone(&script) as _,
        Egress::new(EgressSettings::default(), Arc::new(SystemResolver)).unwrap(),
        WorkSignal::default(),
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
        DeliverySettings::default(),
    );
    (deliverer, script)
}

fn delivery() -> ClaimedDelivery {
    ClaimedDelivery {
        lease: DeliveryLease {
            delivery_id: Id::random(&SystemEntropy),
            endpoint_id: Id::random(&SystemEntropy),
            token: "token".to_owned(),
            url: EndpointUrl::parse("https://example.com/hook").unwrap(),
        },
        style: PayloadStyle::Full,
        secrets: Vec::new(),
        event_id: Id::random(&SystemEntropy),
        request_id: None,
        account_id: Id::random(&SystemEntropy),
        payload_bytes: 2,
        tries: 0,
    }
}

#[tokio::test(start_paused = true)]
async fn a_delivery_without_memory_takes_no_place_and_is_postponed() {
    let (deliverer, script) = deliverer(|| Ok(Some("{}".to_owned())));
    let places = Arc::new(Places::default());
    let all = deliverer.bodies.hold(Id::random(&SystemEntropy), BODIES + BODIES_RESERVE);
    let began = Instant::now();
    let waiting = {
        let (worker, place) = (deliverer.clone(), AttemptPlace::take(&places, true));
        tokio::spawn(async move { worker.deliver(delivery(), place).await })
    };
    tokio::task::yield_now().await;
    let taken = places.taken();
    assert_eq!((taken.in_all, taken.by_doubtful, places.waiting()), (0, 0, 1));
    waiting.await.unwrap();
    assert!(began.elapsed() < 2 * PATIENCE);
    assert_eq!(*script.noted.lock(), ["postponed"]);
    assert_eq!((places.taken().in_all, places.waiting()), (0, 0));
    drop(all);
}

#[tokio::test]
async fn only_an_event_that_cannot_be_read_now_is_tried_again() {
    let payloads: [(Payload, &[&str]); 3] = [
        (|| Ok(None), &[]),
        (|| Err(Error::unavailable("no database")), &["postponed"]),
        (|| Err(Error::internal("a fault")), &["attempted"]),
    ];
    for (payload, expected) in payloads {
        let (deliverer, script) = deliverer(payload);
        let places = Arc::new(Places::default());
        deliverer.deliver(delivery(), AttemptPlace::take(&places, false)).await;
        assert_eq!(*script.noted.lock(), expected);
        assert_eq!(places.taken().in_all, 0);
    }
}

#[test]
fn an_attempt_ends_before_its_lease_and_leaves_time_to_store_it() {
    let attempt = PATIENCE + DeliverySettings::default().timeout + BODY_PATIENCE;
    let lease = Duration::from_millis(DELIVERY_LEASE_MILLIS.unsigned_abs());
    assert!(attempt + Duration::from_secs(4) <= lease, "{attempt:?} of {lease:?}");
}
