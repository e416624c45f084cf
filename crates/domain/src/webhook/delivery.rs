//! The delivery of one event to one endpoint.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::schedule::pause;
use super::{EndpointHealth, EndpointUrl, EventName, PayloadStyle, WebhookEndpoint, WebhookSecret};
use crate::clock::Entropy;
use crate::event::{Event, without_content};
use crate::id::{Id, kind};
use crate::limits;
use crate::timestamp::Timestamp;

/// The state of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// It will be attempted, at once or again.
    Pending,
    /// The endpoint accepted it.
    Succeeded,
    /// It will not be attempted again.
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
    /// The status of the endpoint's answer; `None` if there was none.
    pub http_status: Option<u16>,
    /// What went wrong, for a person; `None` if nothing did.
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// The delivery of one event to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// `dlv_` and 10 characters.
    pub id: Id<kind::Delivery>,
    /// The endpoint that receives it.
    pub endpoint_id: Id<kind::WebhookEndpoint>,
    /// The event, whose id is the same on every attempt.
    pub event_id: Id<kind::Event>,
    /// What the event reports.
    pub event: EventName,
    /// Whether it will be attempted, and otherwise how it ended.
    pub status: DeliveryStatus,
    /// The latest attempts, oldest first.
    pub attempts: Vec<Attempt>,
    /// When it is attempted next; `None` if it is over, or is being attempted now.
    pub next_attempt_at: Option<Timestamp>,
    /// When it was queued first.
    pub created_at: Timestamp,
}

impl Delivery {
    /// The delivery of an event to an endpoint, due at once. Its id follows from both, so that an event
    /// has one delivery to an endpoint at most.
    pub fn of(event: &Event, endpoint: Id<kind::WebhookEndpoint>) -> Self {
        Self {
            id: Id::derived(&[event.id.suffix(), &endpoint.to_string()]),
            endpoint_id: endpoint,
            event_id: event.id,
            event: event.name,
            status: DeliveryStatus::Pending,
            attempts: Vec::new(),
            next_attempt_at: Some(event.created_at),
            created_at: event.created_at,
        }
    }

    /// The delivery after an attempt with this lease, and the outcome by which its endpoint, which now has this URL, is
    /// judged. If the URL has changed since the attempt began, the outcome says nothing about the endpoint (`None`), and
    /// a delivery that the old URL did not accept is sent to the new one at once. The latest
    /// [`limits::ATTEMPTS_SHOWN`] attempts are kept.
    #[must_use]
    pub fn finish(
        self,
        lease: &DeliveryLease,
        attempt: Attempt,
        outcome: AttemptOutcome,
        url: &str,
        now: Timestamp,
    ) -> (Self, Option<AttemptOutcome>) {
        if *lease.url == *url {
            return (self.after(attempt, outcome), Some(outcome));
        }
        (self.after(attempt, outcome.after_move(now)), None)
    }

    fn after(mut self, attempt: Attempt, outcome: AttemptOutcome) -> Self {
        self.attempts.push(attempt);
        self.attempts.drain(..self.attempts.len().saturating_sub(limits::ATTEMPTS_SHOWN));
        (self.status, self.next_attempt_at) = match outcome {
            AttemptOutcome::Delivered => (DeliveryStatus::Succeeded, None),
            AttemptOutcome::Retry(at) => (DeliveryStatus::Pending, Some(at)),
            AttemptOutcome::GivenUp | AttemptOutcome::Gone => (DeliveryStatus::Failed, None),
        };
        self
    }

    /// The delivery after a request to send it again: due now, with the whole schedule ahead.
    #[must_use]
    pub fn again(self, now: Timestamp) -> Self {
        Self { status: DeliveryStatus::Pending, next_attempt_at: Some(now), ..self }
    }

    /// The delivery as it is shown to the owner of its endpoint: while the endpoint is disabled,
    /// there is no next attempt.
    #[must_use]
    pub fn shown_for(self, endpoint: &WebhookEndpoint) -> Self {
        let next_attempt_at = self.next_attempt_at.filter(|_| endpoint.disabled.is_none());
        Self { next_attempt_at, ..self }
    }
}

/// How many attempts at an endpoint may begin: at most `wanted`, and no more than leave at most `most` in progress.
/// Now, `in_flight` are in progress.
pub const fn may_begin(wanted: u32, most: u32, in_flight: u32) -> u32 {
    let room = most.saturating_sub(in_flight);
    if wanted < room { wanted } else { room }
}

/// The right to attempt a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLease {
    /// The delivery that no other deliverer attempts meanwhile.
    pub delivery_id: Id<kind::Delivery>,
    /// The endpoint that it is sent to.
    pub endpoint_id: Id<kind::WebhookEndpoint>,
    /// Names this claim: 10 random characters.
    pub token: String,
    /// The address it is sent to. The outcome does not affect an endpoint whose address has changed since.
    pub url: EndpointUrl,
}

/// A delivery to attempt now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// The right to do so.
    pub lease: DeliveryLease,
    /// How much of the source the body contains.
    pub style: PayloadStyle,
    /// The secrets to sign with, the current one first.
    pub secrets: Vec<WebhookSecret>,
    /// The event that is reported; its id is the same on every attempt.
    pub event_id: Id<kind::Event>,
    /// The request that led to the event, for the logs.
    pub request_id: Option<Id<kind::Request>>,
    /// The account of the endpoint.
    pub account_id: Id<kind::Account>,
    /// The bytes of the event's whole payload, which is read when there is memory for it.
    pub payload_bytes: u64,
    /// Attempts that were made since it was queued, or last sent again by hand.
    pub tries: u32,
}

impl PayloadStyle {
    /// The bytes that are signed and sent of the payload of an event, the same on every attempt; `None` if the content
    /// cannot be removed from it.
    pub fn body(self, payload: String) -> Option<String> {
        match self {
            Self::Full => Some(payload),
            Self::Thin => without_content(&payload),
        }
    }
}

/// The response of an endpoint to an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reception {
    /// The status of its answer.
    pub status: Option<u16>,
    /// What went wrong; `None` if nothing did.
    pub error: Option<String>,
    /// How long it asks the sender to wait.
    pub retry_after: Option<Duration>,
}

/// The status of an endpoint that no longer exists.
const GONE: u16 = 410;

impl Reception {
    /// There was no response.
    pub fn failed(error: impl Into<String>) -> Self {
        Self { status: None, error: Some(error.into()), retry_after: None }
    }

    /// A response: success is a status of 2xx, and redirects are not followed.
    pub fn answered(status: u16, retry_after: Option<Duration>) -> Self {
        let error = match status {
            200..300 => None,
            300..400 => Some(format!("answered {status}; redirects are not followed")),
            GONE => Some("answered 410: the endpoint no longer exists".to_owned()),
            _ => Some(format!("answered {status}")),
        };
        Self { status: Some(status), error, retry_after }
    }

    /// The outcome for a delivery with this response at `now`, after `tries` earlier attempts.
    pub fn outcome(
        &self,
        schedule: &[Duration],
        tries: u32,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> AttemptOutcome {
        if self.error.is_none() {
            return AttemptOutcome::Delivered;
        }
        if self.status == Some(GONE) {
            return AttemptOutcome::Gone;
        }
        match pause(schedule, tries, self.retry_after, entropy) {
            Some(pause) => AttemptOutcome::Retry(now.after(pause)),
            None => AttemptOutcome::GivenUp,
        }
    }
}

/// What an attempt means for its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The endpoint accepted it.
    Delivered,
    /// It is tried again at this time.
    Retry(Timestamp),
    /// It will not be attempted again.
    GivenUp,
    /// It will not be attempted again, because the endpoint reports that it no longer exists.
    Gone,
}

impl AttemptOutcome {
    /// The outcome for an endpoint whose URL has changed since the attempt began.
    const fn after_move(self, now: Timestamp) -> Self {
        match self {
            Self::Delivered => Self::Delivered,
            Self::Retry(_) | Self::GivenUp | Self::Gone => Self::Retry(now),
        }
    }
}

/// An enabled endpoint for which a delivery is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueEndpoint {
    /// The endpoint that receives it.
    pub id: Id<kind::WebhookEndpoint>,
    /// When its oldest pending delivery became due.
    pub since: Timestamp,
    /// The number of attempts in progress, on all servers.
    pub in_flight: u32,
    /// How reliably and quickly it has accepted deliveries.
    pub health: EndpointHealth,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        Attempt, AttemptOutcome, Delivery, DeliveryLease, DeliveryStatus, Reception, may_begin,
    };
    use crate::event::Event;
    use crate::webhook::{EndpointUrl, PayloadStyle, SCHEDULE};
    use crate::{Id, SystemEntropy, Timestamp, limits};

    const NOW: Timestamp = Timestamp::from_millis(10_000);

    fn ping() -> Event {
        let [endpoint, account, id] =
            [(); 3].map(|()| Id::<crate::kind::Event>::random(&SystemEntropy));
        let endpoint = Id::derived(&[endpoint.suffix()]);
        Event::ping(endpoint, Id::derived(&[account.suffix()]), id, None, NOW)
    }

    fn delivery() -> Delivery {
        Delivery::of(&ping(), Id::random(&SystemEntropy))
    }

    fn attempt(number: u64) -> Attempt {
        Attempt { at: NOW, http_status: None, error: None, duration_ms: number }
    }

    #[test]
    fn an_event_has_one_delivery_to_an_endpoint_which_is_due_at_once() {
        let (event, endpoint) = (ping(), Id::random(&SystemEntropy));
        let delivery = Delivery::of(&event, endpoint);
        assert_eq!(delivery.id, Delivery::of(&event, endpoint).id);
        assert_ne!(delivery.id, Delivery::of(&event, Id::random(&SystemEntropy)).id);
        assert_ne!(delivery.id, Delivery::of(&ping(), endpoint).id);
        assert_eq!(delivery.next_attempt_at, Some(NOW));
        assert_eq!(delivery.status, DeliveryStatus::Pending);
    }

    #[test]
    fn each_outcome_leaves_a_status_and_the_next_attempt() {
        let later = NOW.plus_millis(5_000);
        for (outcome, status, next) in [
            (AttemptOutcome::Delivered, DeliveryStatus::Succeeded, None),
            (AttemptOutcome::Retry(later), DeliveryStatus::Pending, Some(later)),
            (AttemptOutcome::GivenUp, DeliveryStatus::Failed, None),
            (AttemptOutcome::Gone, DeliveryStatus::Failed, None),
        ] {
            let after = delivery().after(attempt(1), outcome);
            assert_eq!((after.status, after.next_attempt_at), (status, next));
            assert_eq!(after.attempts, [attempt(1)]);
        }
        let failed = delivery().after(attempt(1), AttemptOutcome::GivenUp).again(later);
        assert_eq!((failed.status, failed.next_attempt_at), (DeliveryStatus::Pending, Some(later)));
    }

    #[test]
    fn the_latest_attempts_are_kept() {
        let mut delivery = delivery();
        for number in 0..=u64::try_from(limits::ATTEMPTS_SHOWN).unwrap() {
            delivery = delivery.after(attempt(number), AttemptOutcome::Retry(NOW));
        }
        assert_eq!(delivery.attempts.len(), limits::ATTEMPTS_SHOWN);
        assert_eq!(delivery.attempts.first(), Some(&attempt(1)));
    }

    #[test]
    fn an_answer_is_a_success_a_failure_or_the_end_of_the_endpoint() {
        let outcome =
            |reception: Reception, tries| reception.outcome(&SCHEDULE, tries, NOW, &SystemEntropy);
        for status in [200, 204, 299] {
            let received = Reception::answered(status, None);
            assert_eq!(outcome(received, 0), AttemptOutcome::Delivered, "{status}");
        }
        for status in [199, 301, 404, 429, 500] {
            let received = Reception::answered(status, None);
            assert!(matches!(outcome(received, 0), AttemptOutcome::Retry(_)), "{status}");
        }
        assert_eq!(outcome(Reception::answered(410, None), 0), AttemptOutcome::Gone);
        assert_eq!(outcome(Reception::failed("timed out"), 9), AttemptOutcome::GivenUp);
        let asked = Reception::answered(503, Some(Duration::from_secs(60)));
        assert_eq!(outcome(asked, 0), AttemptOutcome::Retry(NOW.plus_millis(60_000)));
    }

    #[test]
    fn what_the_old_address_did_not_take_goes_to_the_new_one() {
        let (later, old, new) =
            (NOW.plus_millis(5_000), "https://a.example/", "https://b.example/");
        let lease = DeliveryLease {
            delivery_id: delivery().id,
            endpoint_id: delivery().endpoint_id,
            token: "token".to_owned(),
            url: EndpointUrl::from_stored(old.to_owned()),
        };
        let finish = |outcome, url| {
            let (delivery, judged) = delivery().finish(&lease, attempt(1), outcome, url, NOW);
            (delivery.status, delivery.next_attempt_at, judged)
        };
        let retried = AttemptOutcome::Retry(later);
        assert_eq!(finish(retried, old), (DeliveryStatus::Pending, Some(later), Some(retried)));
        let delivered = AttemptOutcome::Delivered;
        assert_eq!(finish(delivered, old), (DeliveryStatus::Succeeded, None, Some(delivered)));
        assert_eq!(finish(delivered, new), (DeliveryStatus::Succeeded, None, None));
        for outcome in [AttemptOutcome::Gone, AttemptOutcome::GivenUp, retried] {
            assert_eq!(finish(outcome, new), (DeliveryStatus::Pending, Some(NOW), None));
        }
    }

    #[test]
    fn attempts_begin_while_few_are_under_way() {
        assert_eq!((may_begin(8, 4, 0), may_begin(8, 4, 3), may_begin(8, 4, 9)), (4, 1, 0));
        assert_eq!(may_begin(1, 4, 0), 1);
    }

    #[test]
    fn a_thin_body_has_no_content() {
        let payload = r#"{"data":{"content":"secret","id":"src_1"}}"#.to_owned();
        assert_eq!(PayloadStyle::Full.body(payload.clone()), Some(payload.clone()));
        let thin = PayloadStyle::Thin.body(payload);
        assert_eq!(thin.as_deref(), Some(r#"{"data":{"id":"src_1"}}"#));
        assert_eq!(PayloadStyle::Thin.body(String::new()), None);
    }
}
