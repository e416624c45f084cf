//! Webhook endpoints and deliveries: the outbox, leases, and the health of an endpoint.

use std::collections::HashSet;

use cicerone_domain::limits::{DELIVERY_LEASE_MILLIS, ENDPOINT_FAILING_MILLIS};
use cicerone_domain::ports::{
    DeliveryStore as _, Housekeeping as _, SourceStore as _, WebhookStore as _,
};
use cicerone_domain::webhook::{
    Attempt, AttemptOutcome, ClaimedDelivery, DeliveryStatus, EndpointDescription, EndpointPatch,
    EndpointUrl, EventName, PayloadStyle, Subscription, WebhookSecret,
};
use cicerone_domain::{Delivery, Id, SystemEntropy, Timestamp, WebhookEndpoint, kind};

use super::fixture::{
    World, all_pages, assert_conflict, assert_not_found, extracted, first, new_account, new_id,
    on_each, website,
};

impl World {
    pub(super) async fn endpoint(&self, events: &[EventName]) -> WebhookEndpoint {
        let now = self.now();
        let endpoint = WebhookEndpoint {
            id: new_id(),
            account_id: self.account,
            url: EndpointUrl::parse("https://example.com/hook").unwrap(),
            events: Subscription::from_stored(events.to_vec()),
            description: Some(EndpointDescription::parse("Öffnungszeiten").unwrap()),
            payload: PayloadStyle::Thin,
            disabled: None,
            managed: None,
            created_at: now,
            updated_at: now,
        };
        let secret = WebhookSecret::generate(&SystemEntropy);
        let issued = self.storage.insert_endpoint(endpoint.clone(), secret, None).await.unwrap();
        assert_eq!(issued.endpoint, endpoint);
        endpoint
    }

    async fn ping(&self, endpoint: &WebhookEndpoint) -> Delivery {
        let event = cicerone_domain::event::Event::ping(
            endpoint.id,
            endpoint.account_id,
            new_id(),
            None,
            self.now(),
        );
        self.storage.send_event(endpoint.id, event, None).await.unwrap()
    }

    async fn claim_deliveries(
        &self,
        endpoint: &WebhookEndpoint,
        count: u32,
        now: Timestamp,
    ) -> Vec<ClaimedDelivery> {
        let until = now.plus_millis(DELIVERY_LEASE_MILLIS);
        let token = new_id::<kind::Request>().suffix().to_owned();
        self.storage.claim_deliveries(endpoint.id, count, 4, token, now, until).await.unwrap()
    }

    async fn finish_attempt(
        &self,
        claimed: &ClaimedDelivery,
        outcome: AttemptOutcome,
        now: Timestamp,
    ) -> Option<String> {
        let attempt = Attempt {
            at: now,
            http_status: Some(500),
            error: Some("answered 500".to_owned()),
            duration_ms: 7,
        };
        self.storage.finish_attempt(&claimed.lease, attempt, outcome, now).await.unwrap()
    }

    async fn deliveries(&self, endpoint: &WebhookEndpoint) -> Vec<Delivery> {
        let list = |page| self.storage.list_deliveries(self.account, endpoint.id, None, page);
        all_pages(2, list).await
    }

    async fn stored_endpoint(&self, endpoint: &WebhookEndpoint) -> WebhookEndpoint {
        self.storage.find_endpoint(self.account, endpoint.id).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn an_event_is_queued_with_what_makes_it_true_for_those_that_take_it() {
    on_each(async |world| {
        let all = world.endpoint(&EventName::CHOICES).await;
        let failures = world.endpoint(&[EventName::SourceFailed]).await;
        let disabled = world.endpoint(&EventName::CHOICES).await;
        let patch = EndpointPatch { is_enabled: Some(false), ..EndpointPatch::default() };
        let now = world.now();
        world.storage.update_endpoint(world.account, disabled.id, patch, now, None).await.unwrap();
        let agent = world.agent().await;
        let source = world.trained(&agent, website(false), "one").await;

        let queued = world.deliveries(&all).await;
        assert_eq!(queued.len(), 1);
        assert_eq!(queued[0].event, EventName::SourceTrained);
        assert_eq!(queued[0].status, DeliveryStatus::Pending);
        assert_eq!(queued[0].next_attempt_at, Some(queued[0].created_at));
        assert!(world.deliveries(&failures).await.is_empty());
        assert!(world.deliveries(&disabled).await.is_empty());
        // Each account has its own events.
        let name = format!("theirs at {}", world.now());
        assert!(
            world
                .storage
                .list_endpoints(new_account(&world.storage, &name).await, None, first(10))
                .await
                .unwrap()
                .items
                .is_empty()
        );

        let now = world.now();
        let due = world.storage.due_endpoints(now).await.unwrap();
        assert_eq!(due.len(), 1);
        assert_eq!((due[0].id, due[0].since, due[0].in_flight), (all.id, queued[0].created_at, 0));
        let claimed = world.claim_deliveries(&all, 4, now).await;
        assert_eq!(claimed.len(), 1);
        let one = &claimed[0];
        assert_eq!(
            (one.lease.url.as_str(), one.style, one.tries),
            (all.url.as_str(), all.payload, 0)
        );
        assert_eq!(one.event_id, queued[0].event_id);
        let payload = world.storage.payload(one.event_id).await.unwrap().unwrap();
        assert!(payload.contains(&source.id.to_string()), "{payload}");
        assert_eq!((one.account_id, one.payload_bytes), (world.account, payload.len() as u64));
        assert!(world.claim_deliveries(&all, 4, world.now()).await.is_empty());
        // Deleted sources have no further events.
        world.storage.delete_source(&world.scope(), source.id, now, None).await.unwrap();
        world.storage.free_deliveries(world.now()).await.unwrap();
        let again = world.claim_deliveries(&all, 4, world.now()).await;
        let payload = world.storage.payload(again[0].event_id).await.unwrap().unwrap();
        assert!(!payload.contains("content"), "{payload}");
    })
    .await;
}

#[tokio::test]
async fn a_lease_that_was_lost_changes_nothing() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        world.ping(&endpoint).await;
        let now = world.now();
        let first_claim = world.claim_deliveries(&endpoint, 4, now).await.remove(0);
        let late = now.plus_millis(DELIVERY_LEASE_MILLIS);
        assert!(world.storage.due_endpoints(late.plus_millis(-1)).await.unwrap().is_empty());
        let second_claim = world.claim_deliveries(&endpoint, 4, late).await.remove(0);
        world.finish_attempt(&first_claim, AttemptOutcome::Delivered, late).await;
        assert_eq!(world.deliveries(&endpoint).await[0].status, DeliveryStatus::Pending);
        world.finish_attempt(&second_claim, AttemptOutcome::Delivered, late).await;
        let done = world.deliveries(&endpoint).await.remove(0);
        assert_eq!((done.status, done.attempts.len()), (DeliveryStatus::Succeeded, 1));
        assert_eq!(done.next_attempt_at, None);
    })
    .await;
}

#[tokio::test]
async fn no_delivery_is_claimed_twice_and_four_at_most_are_in_flight() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        for _ in 0..20 {
            world.ping(&endpoint).await;
        }
        let other = world.reopen();
        let now = world.now();
        let until = now.plus_millis(DELIVERY_LEASE_MILLIS);
        let claims = (0..8).map(|number| {
            let storage = if number % 2 == 0 { &world.storage } else { &other };
            let endpoint = endpoint.id;
            async move {
                let token = format!("token {number}");
                storage.claim_deliveries(endpoint, 3, 4, token, now, until).await.unwrap()
            }
        });
        let claimed: Vec<_> =
            futures_util::future::join_all(claims).await.into_iter().flatten().collect();
        let distinct: HashSet<_> = claimed.iter().map(|one| one.lease.delivery_id).collect();
        assert_eq!((claimed.len(), distinct.len()), (4, 4));
        assert_eq!(world.storage.due_endpoints(now).await.unwrap()[0].in_flight, 4);
        assert_eq!(world.storage.free_deliveries(now).await.unwrap(), 4);
        assert_eq!(world.storage.delivery_counts(now).await.unwrap(), (20, 20));
    })
    .await;
}

#[tokio::test]
async fn attempts_are_noted_and_repeated_when_they_are_due() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        world.ping(&endpoint).await;
        let now = world.now();
        let claimed = world.claim_deliveries(&endpoint, 4, now).await.remove(0);
        let later = now.plus_millis(5_000);
        assert_eq!(world.finish_attempt(&claimed, AttemptOutcome::Retry(later), now).await, None);
        let waiting = world.deliveries(&endpoint).await.remove(0);
        assert_eq!(waiting.next_attempt_at, Some(later));
        assert_eq!(waiting.attempts[0].http_status, Some(500));
        assert!(world.claim_deliveries(&endpoint, 4, later.plus_millis(-1)).await.is_empty());
        let claimed = world.claim_deliveries(&endpoint, 4, later).await.remove(0);
        assert_eq!(claimed.tries, 1);
        world.finish_attempt(&claimed, AttemptOutcome::GivenUp, later).await;
        let failed = world.deliveries(&endpoint).await.remove(0);
        assert_eq!((failed.status, failed.attempts.len()), (DeliveryStatus::Failed, 2));

        let account = world.account;
        let redeliver = |id| world.storage.redeliver(account, endpoint.id, id, later, None);
        assert_not_found(redeliver(new_id()).await, "delivery");
        let again = redeliver(failed.id).await.unwrap();
        assert_eq!((again.status, again.next_attempt_at), (DeliveryStatus::Pending, Some(later)));
        let claimed = world.claim_deliveries(&endpoint, 4, later).await.remove(0);
        assert_eq!((claimed.tries, claimed.event_id), (0, failed.event_id));
        // A request to redeliver during an attempt causes another attempt.
        assert_eq!(redeliver(failed.id).await.unwrap().next_attempt_at, Some(later));
        world.finish_attempt(&claimed, AttemptOutcome::GivenUp, later).await;
        assert_eq!(world.deliveries(&endpoint).await[0].status, DeliveryStatus::Pending);
        let claimed = world.claim_deliveries(&endpoint, 4, later).await.remove(0);
        world.finish_attempt(&claimed, AttemptOutcome::Delivered, later).await;
        assert_eq!(world.deliveries(&endpoint).await[0].status, DeliveryStatus::Succeeded);
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_cannot_be_attempted_gives_its_lease_back_without_an_attempt() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        world.ping(&endpoint).await;
        let now = world.now();
        let later = now.plus_millis(5_000);
        let claimed = world.claim_deliveries(&endpoint, 4, now).await.remove(0);
        world.storage.postpone_delivery(&claimed.lease, later).await.unwrap();
        let waiting = world.deliveries(&endpoint).await.remove(0);
        assert_eq!(
            (waiting.status, waiting.next_attempt_at, waiting.attempts.len()),
            (DeliveryStatus::Pending, Some(later), 0)
        );
        assert!(world.storage.due_endpoints(later.plus_millis(-1)).await.unwrap().is_empty());
        assert_eq!(world.storage.due_endpoints(later).await.unwrap()[0].in_flight, 0);
        let again = world.claim_deliveries(&endpoint, 4, later).await.remove(0);
        assert_eq!(again.tries, 0);
        // A lease that was lost changes nothing.
        world.storage.postpone_delivery(&claimed.lease, now).await.unwrap();
        assert_eq!(world.storage.due_endpoints(later).await.unwrap().len(), 0);
        world.finish_attempt(&again, AttemptOutcome::Delivered, later).await;
        assert_eq!(world.deliveries(&endpoint).await[0].status, DeliveryStatus::Succeeded);
    })
    .await;
}

#[tokio::test]
async fn an_endpoint_that_fails_for_five_days_is_disabled_with_its_reason() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        world.ping(&endpoint).await;
        let start = world.now();
        let end = start.plus_millis(ENDPOINT_FAILING_MILLIS);
        for number in 0..10 {
            let now = if number < 9 { start.plus_millis(number) } else { end };
            let due = world.storage.due_endpoints(now).await.unwrap();
            assert_eq!(due[0].health.failures, number.unsigned_abs());
            let claimed = world.claim_deliveries(&endpoint, 1, now).await.remove(0);
            let reason = world.finish_attempt(&claimed, AttemptOutcome::Retry(now), now).await;
            assert_eq!(reason.is_some(), number == 9, "{number}: {reason:?}");
        }
        let disabled = world.stored_endpoint(&endpoint).await;
        assert!(disabled.disabled.is_some());
        assert_eq!(disabled.updated_at, end);
        assert!(world.storage.due_endpoints(end).await.unwrap().is_empty());
        assert!(world.claim_deliveries(&endpoint, 1, end).await.is_empty());
        assert_eq!(world.deliveries(&endpoint).await[0].next_attempt_at, None);
        // After it is enabled again, deliveries continue, and earlier failures no longer count.
        let patch = EndpointPatch { is_enabled: Some(true), ..EndpointPatch::default() };
        world.storage.update_endpoint(world.account, endpoint.id, patch, end, None).await.unwrap();
        assert_eq!(world.storage.due_endpoints(end).await.unwrap()[0].health.failures, 0);
        let claimed = world.claim_deliveries(&endpoint, 1, end).await.remove(0);
        assert!(world.finish_attempt(&claimed, AttemptOutcome::Gone, end).await.is_some());
        assert!(world.stored_endpoint(&endpoint).await.disabled.unwrap().contains("410"));
    })
    .await;
}

#[tokio::test]
async fn what_comes_of_an_address_of_before_says_nothing_of_the_endpoint() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        for _ in 0..2 {
            world.ping(&endpoint).await;
        }
        let now = world.now();
        let claimed = world.claim_deliveries(&endpoint, 4, now).await;
        let url = Some(EndpointUrl::parse("https://example.com/new").unwrap());
        let patch = EndpointPatch { url, ..EndpointPatch::default() };
        world.storage.update_endpoint(world.account, endpoint.id, patch, now, None).await.unwrap();
        let gone = world.finish_attempt(&claimed[0], AttemptOutcome::Gone, now).await;
        assert_eq!(gone, None);
        world.finish_attempt(&claimed[1], AttemptOutcome::Delivered, now).await;
        assert_eq!(world.stored_endpoint(&endpoint).await.disabled, None);
        let due = world.storage.due_endpoints(now).await.unwrap().remove(0);
        assert!(due.health.is_doubtful(), "the new address is untested");
        let again = world.claim_deliveries(&endpoint, 4, now).await;
        assert_eq!(again.len(), 1, "sent again at once, to the new one");
        assert_eq!(again[0].lease.url.as_str(), "https://example.com/new");
    })
    .await;
}

#[tokio::test]
async fn an_event_that_nobody_takes_is_kept_without_its_content() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        assert_eq!(world.count_where("events", "payload LIKE '%content%'"), 0);
        world.endpoint(&EventName::CHOICES).await;
        world.trained(&agent, website(false), "two").await;
        assert_eq!(world.count_where("events", "payload LIKE '%content%'"), 1);
    })
    .await;
}

#[tokio::test]
async fn a_rotated_secret_signs_for_a_day() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        let secret = || WebhookSecret::generate(&SystemEntropy);
        let (second, third) = (secret(), secret());
        for new in [&second, &third] {
            let now = world.now();
            let rotated = world
                .storage
                .rotate_secret(world.account, endpoint.id, new.clone(), now, None)
                .await
                .unwrap();
            assert_eq!((&rotated.secret, rotated.endpoint.updated_at), (new, now));
        }
        world.ping(&endpoint).await;
        let now = world.now();
        let claimed = world.claim_deliveries(&endpoint, 1, now).await.remove(0);
        assert_eq!(claimed.secrets.len(), 3);
        assert_eq!(claimed.secrets[..2], [third.clone(), second]);
        world.finish_attempt(&claimed, AttemptOutcome::Retry(now), now).await;
        let day_later = now.plus_millis(24 * 60 * 60 * 1_000);
        let claimed = world.claim_deliveries(&endpoint, 1, day_later).await.remove(0);
        assert_eq!(claimed.secrets, [third]);
    })
    .await;
}

#[tokio::test]
async fn an_account_has_ten_endpoints_at_most() {
    on_each(async |world| {
        let mut all = Vec::new();
        for _ in 0..9 {
            all.insert(0, world.endpoint(&EventName::CHOICES).await.id);
        }
        let race = |_| async {
            let now = world.now();
            let endpoint = WebhookEndpoint {
                id: new_id(),
                account_id: world.account,
                url: EndpointUrl::parse("https://example.com/").unwrap(),
                events: Subscription::from_stored(vec![EventName::SourceFailed]),
                description: None,
                payload: PayloadStyle::Full,
                disabled: None,
                managed: None,
                created_at: now,
                updated_at: now,
            };
            let secret = WebhookSecret::generate(&SystemEntropy);
            world.storage.insert_endpoint(endpoint, secret, None).await
        };
        let outcomes = futures_util::future::join_all((0..6).map(race)).await;
        let (made, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        assert_eq!((made.len(), refused.len()), (1, 5));
        refused.into_iter().for_each(assert_conflict);
        let list = |page| world.storage.list_endpoints(world.account, None, page);
        let listed: Vec<Id<_>> = all_pages(3, list).await.iter().map(|one| one.id).collect();
        assert_eq!(listed[1..], all);
    })
    .await;
}

#[tokio::test]
async fn what_belongs_to_another_account_is_not_found() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        let delivery = world.ping(&endpoint).await;
        let name = format!("theirs at {}", world.now());
        let theirs = new_account(&world.storage, &name).await;
        let (storage, id, now) = (&world.storage, endpoint.id, world.now());
        assert_eq!(storage.find_endpoint(theirs, id).await.unwrap(), None);
        let what = "webhook endpoint";
        let patch = EndpointPatch::default();
        assert_not_found(storage.update_endpoint(theirs, id, patch, now, None).await, what);
        let secret = WebhookSecret::generate(&SystemEntropy);
        assert_not_found(storage.rotate_secret(theirs, id, secret, now, None).await, what);
        assert_not_found(storage.list_deliveries(theirs, id, None, first(5)).await, what);
        assert_not_found(storage.redeliver(theirs, id, delivery.id, now, None).await, what);
        let event = cicerone_domain::event::Event::ping(id, theirs, new_id(), None, now);
        assert_not_found(storage.send_event(id, event, None).await, what);
        assert_not_found(storage.delete_endpoint(theirs, id, None).await, what);
        storage.delete_endpoint(world.account, id, None).await.unwrap();
        assert_eq!(world.count("deliveries"), 0);
    })
    .await;
}

#[tokio::test]
async fn deliveries_are_kept_for_their_time_and_events_with_them() {
    on_each(async |world| {
        let endpoint = world.endpoint(&EventName::CHOICES).await;
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        let (done, pending) = (world.ping(&endpoint).await, world.ping(&endpoint).await);
        let now = world.now();
        for claimed in world.claim_deliveries(&endpoint, 4, now).await {
            let outcome = match claimed.lease.delivery_id == pending.id {
                true => AttemptOutcome::Retry(now),
                false => AttemptOutcome::Delivered,
            };
            world.finish_attempt(&claimed, outcome, now).await;
        }
        assert_eq!(world.storage.expire_deliveries(done.created_at).await.unwrap(), 1);
        assert_eq!(world.count("events"), 2);
        assert_eq!(world.storage.expire_deliveries(world.now()).await.unwrap(), 1);
        assert_eq!(world.deliveries(&endpoint).await[0].id, pending.id);
        assert_eq!(world.count("events"), 1);
        let patch = EndpointPatch { is_enabled: Some(false), ..EndpointPatch::default() };
        world.storage.update_endpoint(world.account, endpoint.id, patch, now, None).await.unwrap();
        assert_eq!(world.storage.expire_deliveries(world.now()).await.unwrap(), 1);
        assert_eq!((world.count("events"), world.count("deliveries")), (0, 0));
        // And one without any endpoint.
        world.storage.delete_endpoint(world.account, endpoint.id, None).await.unwrap();
        world.trained(&agent, website(true), &extracted("two", 1).documents[0].document.text).await;
        assert_eq!(world.count("events"), 1);
        world.storage.expire_deliveries(world.now()).await.unwrap();
        assert_eq!(world.count("events"), 0);
    })
    .await;
}
