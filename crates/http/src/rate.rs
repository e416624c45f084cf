//! Rate limits: GCRA per API key, and failed authentications per client address.

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use cicerone_domain::{Id, kind};
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use crate::failure::Failure;

type Limiter<K> = RateLimiter<K, DashMapStateStore<K>, DefaultClock, StateInformationMiddleware>;

/// Insertions after which keys that are back at their full quota are forgotten.
const SWEEP_EVERY: u32 = 4_096;

/// Where a caller's limit stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateState {
    /// Requests a minute.
    pub(crate) limit: u32,
    /// Requests that may follow at once.
    pub(crate) remaining: u32,
    /// Seconds until the full limit is available again.
    pub(crate) reset: u64,
}

/// A limit of so many requests a minute for each key.
struct PerMinute<K: Hash + Eq + Clone> {
    limit: NonZeroU32,
    limiter: Limiter<K>,
    checks: AtomicU32,
}

impl<K: Hash + Eq + Clone> PerMinute<K> {
    /// None where `limit` is 0: no limit.
    fn new(limit: u32) -> Option<Self> {
        let limit = NonZeroU32::new(limit)?;
        let limiter = RateLimiter::dashmap(Quota::per_minute(limit)).with_middleware();
        Some(Self { limit, limiter, checks: AtomicU32::new(0) })
    }

    /// Counts one request; the failure says after how many seconds one may pass again.
    fn check(&self, key: &K) -> (RateState, Result<(), Failure>) {
        if self.checks.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.limiter.retain_recent();
        }
        let limit = self.limit.get();
        match self.limiter.check_key(key) {
            Ok(state) => {
                let remaining = state.remaining_burst_capacity().min(limit);
                let reset = (u64::from(limit - remaining) * 60).div_ceil(u64::from(limit));
                (RateState { limit, remaining, reset }, Ok(()))
            }
            Err(refusal) => {
                let wait = refusal.wait_time_from(self.limiter.clock().now());
                let retry_after = (wait.as_millis().div_ceil(1_000) as u64).max(1);
                let state = RateState { limit, remaining: 0, reset: 60 };
                (state, Err(Failure::RateLimited { retry_after }))
            }
        }
    }
}

/// Both limits of this server.
pub(crate) struct RateLimits {
    requests: Option<PerMinute<Id<kind::ApiKey>>>,
    failures: Option<PerMinute<IpAddr>>,
}

impl RateLimits {
    /// Limits in requests a minute; 0 is none.
    pub(crate) fn new(requests: u32, failed_authentications: u32) -> Self {
        Self {
            requests: PerMinute::new(requests),
            failures: PerMinute::new(failed_authentications),
        }
    }

    /// Counts a request with this key. The state is none where there is no limit.
    pub(crate) fn request(
        &self,
        key: Id<kind::ApiKey>,
    ) -> (Option<RateState>, Result<(), Failure>) {
        match &self.requests {
            Some(limit) => {
                let (state, verdict) = limit.check(&key);
                (Some(state), verdict)
            }
            None => (None, Ok(())),
        }
    }

    /// Counts a failed authentication and gives its refusal: 401, or 429 beyond the limit.
    ///
    /// A valid key still passes from such an address: behind a proxy, all callers share one.
    pub(crate) fn failed_authentication(&self, address: Option<IpAddr>) -> Failure {
        let verdict = match (&self.failures, address) {
            (Some(limit), Some(address)) => limit.check(&network(address)).1,
            (None, _) | (_, None) => Ok(()),
        };
        verdict.err().unwrap_or(Failure::Unauthorized)
    }
}

/// What one party holds: an IPv4 address, or the /64 of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use cicerone_domain::{Id, SystemEntropy};

    use super::{RateLimits, network};
    use crate::failure::Failure;

    #[test]
    fn the_request_beyond_the_limit_is_refused_and_says_when_to_return() {
        let limits = RateLimits::new(3, 0);
        let key = Id::random(&SystemEntropy);
        for remaining in [2, 1, 0] {
            let (state, verdict) = limits.request(key);
            assert!(verdict.is_ok());
            let state = state.unwrap();
            assert_eq!((state.limit, state.remaining), (3, remaining));
            assert_eq!(state.reset, u64::from(3 - remaining) * 20);
        }
        let (state, verdict) = limits.request(key);
        assert_eq!(state.unwrap().remaining, 0);
        assert!(matches!(verdict, Err(Failure::RateLimited { retry_after: 19..=20 })));
        assert!(limits.request(Id::random(&SystemEntropy)).1.is_ok(), "another key has its own");
    }

    #[test]
    fn zero_is_no_limit_and_shows_none() {
        let limits = RateLimits::new(0, 0);
        let key = Id::random(&SystemEntropy);
        for _ in 0..10_000 {
            let (state, verdict) = limits.request(key);
            assert!(state.is_none() && verdict.is_ok());
        }
    }

    #[test]
    fn failed_authentications_of_a_network_count_together() {
        let limits = RateLimits::new(0, 2);
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        for host in ["2001:db8::1", "2001:db8::2"] {
            let failure = limits.failed_authentication(address(host));
            assert!(matches!(failure, Failure::Unauthorized));
        }
        let failure = limits.failed_authentication(address("2001:db8::3"));
        assert!(matches!(failure, Failure::RateLimited { .. }));
        let failure = limits.failed_authentication(address("2001:db8:0:1::1"));
        assert!(matches!(failure, Failure::Unauthorized));
        let v4: IpAddr = "192.0.2.7".parse().unwrap();
        assert_eq!(network(v4), v4);
    }
}
