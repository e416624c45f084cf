//! Rate limits: per API key, per account, and per client address those of failed authentications and of requests
//! without a key.

pub(crate) mod gcra;

use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use cicerone_domain::{ApiKey, Id, kind};

use crate::error::RequestError;
use gcra::{Meter, Reading};

/// The number of requests after which callers that have their full limit available are removed.
const SWEEP_EVERY: u32 = 4_096;

/// The state of a caller's limit after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateState {
    /// Requests per minute.
    pub(crate) limit: u32,
    /// The number of requests that can be made now without waiting.
    pub(crate) remaining: u32,
    /// Seconds until the full limit is available again.
    pub(crate) reset: u64,
}

/// The rate limits of this server.
///
/// Invariant: memory is used only for the callers of the last minute. It is freed a minute later, by one of the
/// next [`SWEEP_EVERY`] requests.
pub(crate) struct RateLimits {
    began: Instant,
    meters: Mutex<Meters>,
}

/// A meter for each limit that is set.
struct Meters {
    keys: Option<Meter<Id<kind::ApiKey>>>,
    accounts: Option<Meter<Id<kind::Account>>>,
    failures: Option<Meter<IpAddr>>,
    strangers: Option<Meter<IpAddr>>,
    /// Requests since callers were last forgotten.
    since_sweep: u32,
}

impl RateLimits {
    /// Limits in requests per minute: of a key, of all keys of an account together, and from an address
    /// failed authentications and requests without a key. 0 means no limit.
    pub(crate) fn new(key: u32, account: u32, failed_authentications: u32, public: u32) -> Self {
        let meters = Meters {
            keys: Meter::new(key),
            accounts: Meter::new(account),
            failures: Meter::new(failed_authentications),
            strangers: Meter::new(public),
            since_sweep: 0,
        };
        Self { began: Instant::now(), meters: Mutex::new(meters) }
    }

    /// Counts a request with this key. The state is that of the limit which is closer to being
    /// reached; `None` if there are no limits.
    pub(crate) fn request(&self, key: &ApiKey) -> (Option<RateState>, Result<(), RequestError>) {
        self.meters().request(key.id, key.account_id, self.now())
    }

    /// Counts a failed authentication and returns its error: 401, or 429 beyond the limit.
    ///
    /// A valid key is still accepted from such an address: behind a proxy, all callers share one.
    pub(crate) fn failed_authentication(&self, address: Option<IpAddr>) -> RequestError {
        let refused = address.and_then(|address| self.meters().failure(address, self.now()));
        refused.unwrap_or(RequestError::Unauthorized)
    }

    /// Counts a request that needs no key.
    pub(crate) fn request_without_key(&self, address: Option<IpAddr>) -> Result<(), RequestError> {
        let refused = address.and_then(|address| self.meters().stranger(address, self.now()));
        refused.map_or(Ok(()), Err)
    }

    fn meters(&self) -> MutexGuard<'_, Meters> {
        self.meters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds since the start; they overflow after 584 years.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX / 2)
    }
}

impl Meters {
    /// Counts a request against both limits, or against neither if one of them refuses it.
    fn request(
        &mut self,
        key: Id<kind::ApiKey>,
        account: Id<kind::Account>,
        now: u64,
    ) -> (Option<RateState>, Result<(), RequestError>) {
        self.sweep(now);
        let of_key = self.keys.as_ref().map(|meter| meter.read(&key, now));
        let of_account = self.accounts.as_ref().map(|meter| meter.read(&account, now));
        let readings = || [&of_key, &of_account].into_iter().flatten();
        let refusal = readings().filter_map(|reading| Some((reading.wait?, reading.state)));
        if let Some((retry_after, state)) = refusal.max_by_key(|(wait, _)| *wait) {
            return (Some(state), Err(RequestError::RateLimited { retry_after }));
        }
        spend(&mut self.keys, key, of_key.as_ref());
        spend(&mut self.accounts, account, of_account.as_ref());
        let nearer = readings().min_by_key(|reading| reading.state.remaining);
        (nearer.map(|reading| reading.state), Ok(()))
    }

    /// The error of a failed authentication beyond the limit.
    fn failure(&mut self, address: IpAddr, now: u64) -> Option<RequestError> {
        self.sweep(now);
        count(&mut self.failures, address, now)
    }

    /// The error of a request without a key beyond the limit.
    fn stranger(&mut self, address: IpAddr, now: u64) -> Option<RequestError> {
        self.sweep(now);
        count(&mut self.strangers, address, now)
    }

    fn sweep(&mut self, now: u64) {
        self.since_sweep += 1;
        if self.since_sweep < SWEEP_EVERY {
            return;
        }
        self.since_sweep = 0;
        let Self { keys, accounts, failures, strangers, since_sweep: _ } = self;
        keys.iter_mut().for_each(|meter| meter.sweep(now));
        accounts.iter_mut().for_each(|meter| meter.sweep(now));
        failures.iter_mut().for_each(|meter| meter.sweep(now));
        strangers.iter_mut().for_each(|meter| meter.sweep(now));
    }
}

/// Counts a request from an address, or returns the error if its network has reached the limit.
fn count(meter: &mut Option<Meter<IpAddr>>, address: IpAddr, now: u64) -> Option<RequestError> {
    let network = network(address);
    let reading = meter.as_ref()?.read(&network, now);
    if let Some(retry_after) = reading.wait {
        return Some(RequestError::RateLimited { retry_after });
    }
    spend(meter, network, Some(&reading));
    None
}

fn spend<K: std::hash::Hash + Eq>(
    meter: &mut Option<Meter<K>>,
    caller: K,
    reading: Option<&Reading>,
) {
    if let (Some(meter), Some(reading)) = (meter, reading) {
        meter.spend(caller, reading);
    }
}

/// The network that one party controls: an IPv4 address, or the /64 of an IPv6 address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use cicerone_domain::{Id, SystemEntropy};

    use super::{Meters, RateLimits, RateState, SWEEP_EVERY, network};
    use crate::error::RequestError;

    const SECOND: u64 = 1_000_000_000;

    fn meters(key: u32, account: u32) -> Meters {
        RateLimits::new(key, account, 0, 0).meters.into_inner().unwrap()
    }

    /// The limit, and the requests that can follow.
    fn shown(state: Option<RateState>) -> (u32, u32) {
        state.map(|state| (state.limit, state.remaining)).unwrap()
    }

    #[test]
    fn the_request_beyond_the_limit_is_refused_and_says_when_to_return() {
        let mut meters = meters(3, 0);
        let (key, account) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        for remaining in [2, 1, 0] {
            let (state, verdict) = meters.request(key, account, 0);
            assert!(verdict.is_ok());
            assert_eq!(shown(state), (3, remaining));
        }
        let (state, verdict) = meters.request(key, account, 0);
        assert_eq!(shown(state), (3, 0));
        assert!(matches!(verdict, Err(RequestError::RateLimited { retry_after: 20 })));
        let other = Id::random(&SystemEntropy);
        assert!(meters.request(other, account, 0).1.is_ok(), "another key has its own");
    }

    #[test]
    fn all_keys_of_an_account_share_its_limit_and_the_nearer_one_is_shown() {
        let mut meters = meters(3, 5);
        let account = Id::random(&SystemEntropy);
        let [one, other, third] = [(); 3].map(|()| Id::random(&SystemEntropy));
        for expected in [(3, 2), (3, 1), (3, 0)] {
            assert_eq!(shown(meters.request(one, account, 0).0), expected);
        }
        assert_eq!(shown(meters.request(other, account, 0).0), (5, 1));
        assert_eq!(shown(meters.request(other, account, 0).0), (5, 0));
        for key in [other, third] {
            let (state, verdict) = meters.request(key, account, 0);
            assert_eq!(shown(state), (5, 0));
            assert!(matches!(verdict, Err(RequestError::RateLimited { retry_after: 12 })));
        }
        let (state, verdict) = meters.request(one, account, 0);
        assert_eq!(shown(state), (3, 0), "the longer wait is shown");
        assert!(matches!(verdict, Err(RequestError::RateLimited { retry_after: 20 })));
        let foreign = Id::random(&SystemEntropy);
        assert!(meters.request(third, foreign, 0).1.is_ok(), "another account has its own");
    }

    #[test]
    fn a_request_that_one_limit_refuses_does_not_count_against_the_other() {
        let account = Id::random(&SystemEntropy);
        let [one, other] = [(); 2].map(|()| Id::random(&SystemEntropy));
        // Refused by the account's limit: the key's limit is not used.
        let mut limits = meters(10, 2);
        for _ in 0..2 {
            assert!(limits.request(one, account, 0).1.is_ok());
        }
        for _ in 0..100 {
            assert!(limits.request(other, account, 0).1.is_err());
        }
        let (of_key, now) = (limits.keys.as_ref().unwrap(), 0);
        assert_eq!(of_key.read(&other, now).state.remaining, 9);
        // Refused by the key's limit: the account's limit is not used.
        let mut limits = meters(2, 10);
        for _ in 0..100 {
            let _ = limits.request(one, account, 0);
        }
        assert_eq!(limits.accounts.as_ref().unwrap().read(&account, now).state.remaining, 7);
    }

    #[test]
    fn zero_is_no_limit_and_shows_none() {
        let mut none = meters(0, 0);
        let (key, account) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        for _ in 0..10_000 {
            let (state, verdict) = none.request(key, account, 0);
            assert!(state.is_none() && verdict.is_ok());
        }
        assert_eq!(shown(meters(0, 5).request(key, account, 0).0), (5, 4));
    }

    #[test]
    fn callers_are_forgotten_after_a_minute() {
        let mut limits = meters(6_000, 60_000);
        for _ in 0..20_000 {
            let _ = limits.request(Id::random(&SystemEntropy), Id::random(&SystemEntropy), 0);
        }
        for _ in 0..SWEEP_EVERY {
            let (key, account) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
            let _ = limits.request(key, account, 60 * SECOND);
        }
        let most = usize::try_from(SWEEP_EVERY).unwrap();
        assert!(limits.keys.as_ref().unwrap().len() <= most);
        assert!(limits.accounts.as_ref().unwrap().len() <= most);
    }

    #[test]
    fn failed_authentications_of_a_network_count_together() {
        let limits = RateLimits::new(0, 0, 2, 0);
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        for host in ["2001:db8::1", "2001:db8::2"] {
            let failure = limits.failed_authentication(address(host));
            assert!(matches!(failure, RequestError::Unauthorized));
        }
        let failure = limits.failed_authentication(address("2001:db8::3"));
        assert!(matches!(failure, RequestError::RateLimited { .. }));
        let failure = limits.failed_authentication(address("2001:db8:0:1::1"));
        assert!(matches!(failure, RequestError::Unauthorized));
        let v4: IpAddr = "192.0.2.7".parse().unwrap();
        assert_eq!(network(v4), v4);
    }

    #[test]
    fn requests_without_a_key_of_a_network_count_together_and_apart_from_failures() {
        let limits = RateLimits::new(0, 0, 1, 2);
        let address = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        for host in ["2001:db8::1", "2001:db8::2"] {
            limits.request_without_key(address(host)).unwrap();
        }
        let refused = limits.request_without_key(address("2001:db8::3"));
        assert!(matches!(refused, Err(RequestError::RateLimited { .. })));
        limits.request_without_key(address("192.0.2.7")).unwrap();
        let failure = limits.failed_authentication(address("2001:db8::3"));
        assert!(matches!(failure, RequestError::Unauthorized));
    }
}
