//! The health of an endpoint: how reliably and quickly it accepts deliveries.

use std::time::Duration;

use super::AttemptOutcome;
use crate::limits;
use crate::timestamp::Timestamp;

/// The health of an endpoint, as its attempts show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EndpointHealth {
    /// Failures since the last success.
    pub failures: u64,
    /// The time of the first of them.
    pub failing_since: Option<Timestamp>,
    /// When it first accepted a delivery quickly since it last failed or was slow; `None` if never.
    pub succeeded_at: Option<Timestamp>,
}

/// The number of consecutive failures from which an endpoint is doubtful.
const DOUBTFUL_FAILURES: u64 = 3;
/// How long a response may take without making the endpoint doubtful.
const QUICK: Duration = Duration::from_secs(2);

impl EndpointHealth {
    /// The health after a successful attempt that took `duration`.
    fn succeeded(&mut self, duration: Duration, now: Timestamp) {
        let succeeded_at = match self.succeeded_at {
            _ if duration > QUICK => None,
            Some(at) if self.failures == 0 => Some(at),
            Some(_) | None => Some(now),
        };
        *self = Self { failures: 0, failing_since: None, succeeded_at };
    }

    /// After an attempt that failed. Returns the reason to disable the endpoint, if there is one: failures
    /// for five days, at least ten of them, and no success between.
    fn failed(&mut self, now: Timestamp) -> Option<String> {
        self.failures = self.failures.saturating_add(1);
        let since = *self.failing_since.get_or_insert(now);
        let lasts = now.as_millis().saturating_sub(since.as_millis());
        let is_over =
            lasts >= limits::ENDPOINT_FAILING_MILLIS && self.failures >= limits::ENDPOINT_FAILURES;
        is_over.then(|| {
            format!("no attempt has succeeded since {since}: {} in a row failed", self.failures)
        })
    }

    /// The health after an attempt with this outcome and duration. The second value is the reason
    /// to disable the endpoint, if there is one.
    #[must_use]
    pub fn after(
        mut self,
        outcome: AttemptOutcome,
        duration: Duration,
        now: Timestamp,
    ) -> (Self, Option<String>) {
        let reason = match outcome {
            AttemptOutcome::Delivered => {
                self.succeeded(duration, now);
                None
            }
            AttemptOutcome::Retry(_) | AttemptOutcome::GivenUp => self.failed(now),
            AttemptOutcome::Gone => {
                self.failed(now);
                Some("the endpoint answered 410 Gone".to_owned())
            }
        };
        (self, reason)
    }

    /// Whether the endpoint is not known to accept deliveries quickly. Such endpoints share a part
    /// of the places, so that together they never delay the others.
    pub const fn is_doubtful(&self) -> bool {
        self.succeeded_at.is_none() || self.failures >= DOUBTFUL_FAILURES
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{AttemptOutcome, EndpointHealth};
    use crate::{Timestamp, limits};

    #[test]
    fn ten_failures_over_five_days_are_the_end() {
        let start = Timestamp::from_millis(1_000);
        let end = start.plus_millis(limits::ENDPOINT_FAILING_MILLIS);
        let mut health = EndpointHealth::default();
        for _ in 0..20 {
            assert_eq!(health.failed(start), None, "many at once are no end");
        }
        assert!(health.failed(end.plus_millis(-1)).is_none());
        assert!(health.failed(end).is_some());

        let mut few = EndpointHealth::default();
        for _ in 0..9 {
            assert_eq!(few.failed(if few.failures == 0 { start } else { end }), None);
        }
        assert!(few.failed(end).is_some(), "the tenth");
    }

    #[test]
    fn an_endpoint_that_is_gone_is_disabled_at_once() {
        let now = Timestamp::from_millis(1_000);
        let after = |outcome| EndpointHealth::default().after(outcome, Duration::ZERO, now);
        let (health, reason) = after(AttemptOutcome::Gone);
        assert_eq!((health.failures, reason.is_some()), (1, true));
        for failed in [AttemptOutcome::Retry(now), AttemptOutcome::GivenUp] {
            let (health, reason) = after(failed);
            assert_eq!((health.failures, reason), (1, None));
        }
        let (health, reason) = after(AttemptOutcome::Delivered);
        assert_eq!((health.failures, health.succeeded_at, reason), (0, Some(now), None));
    }

    #[test]
    fn a_success_between_starts_anew() {
        let start = Timestamp::from_millis(1_000);
        let end = start.plus_millis(limits::ENDPOINT_FAILING_MILLIS);
        let mut health = EndpointHealth::default();
        assert!(health.is_doubtful(), "nobody knows it yet");
        for _ in 0..20 {
            health.failed(start);
        }
        health.succeeded(Duration::from_secs(3), end);
        assert!(health.is_doubtful(), "slow, which holds up others");
        health.succeeded(Duration::from_secs(1), end);
        assert!(!health.is_doubtful());
        assert_eq!(health.failed(end), None);
        assert!(!health.is_doubtful(), "one failure does not count");
        health.failed(end);
        health.failed(end);
        assert!(health.is_doubtful());
    }
}
