//! The generic cell rate algorithm, which stores one time for each caller.

use std::collections::HashMap;
use std::hash::Hash;

use super::RateState;

const SECOND: u64 = 1_000_000_000;

/// Counts the requests of callers. Times are nanoseconds since an arbitrary fixed time.
pub(super) struct Meter<K> {
    /// Requests per minute; this many can come at once.
    limit: u32,
    /// The part of a minute that one request uses, in nanoseconds.
    interval: u64,
    /// When each caller's whole limit is available again. An absent caller has its whole limit.
    full: HashMap<K, u64>,
}

/// The result of reading a meter for one more request, which counts when it is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// The state of the limit after the request.
    pub(super) state: RateState,
    /// If the request is refused, the seconds until one can succeed.
    pub(super) wait: Option<u64>,
    /// When the whole limit is available again after the request.
    full: u64,
}

impl<K: Hash + Eq> Meter<K> {
    /// A meter of `limit` requests per minute; `None` if `limit` is 0, which means no limit.
    pub(super) fn new(limit: u32) -> Option<Self> {
        let interval = (60 * SECOND).checked_div(limit.into())?;
        Some(Self { limit, interval, full: HashMap::new() })
    }

    /// Reads the meter for a request at `now`, without counting it.
    pub(super) fn read(&self, caller: &K, now: u64) -> Reading {
        let before = self.full.get(caller).copied().unwrap_or(now).max(now);
        let full = before + self.interval;
        let burst = self.interval * u64::from(self.limit);
        let state = |remaining: u64, full: u64| RateState {
            limit: self.limit,
            remaining: u32::try_from(remaining).unwrap_or(self.limit),
            reset: (full - now).div_ceil(SECOND),
        };
        match burst.checked_sub(full - now) {
            Some(left) => Reading { state: state(left / self.interval, full), wait: None, full },
            None => {
                let wait = (full - now - burst).div_ceil(SECOND).max(1);
                Reading { state: state(0, before), wait: Some(wait), full: before }
            }
        }
    }

    /// Counts the request that was read.
    pub(super) fn spend(&mut self, caller: K, reading: &Reading) {
        self.full.insert(caller, reading.full);
    }

    /// Forgets the callers that have their whole limit.
    pub(super) fn sweep(&mut self, now: u64) {
        self.full.retain(|_, full| *full > now);
    }

    /// The number of callers in memory.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.full.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Meter, SECOND};

    #[test]
    fn the_whole_limit_is_available_at_once_and_then_at_its_rate() {
        let mut meter = Meter::new(3).unwrap();
        for (remaining, reset) in [(2, 20), (1, 40), (0, 60)] {
            let reading = meter.read(&"a", 0);
            assert_eq!((reading.state.limit, reading.wait), (3, None));
            assert_eq!((reading.state.remaining, reading.state.reset), (remaining, reset));
            meter.spend("a", &reading);
        }
        let refused = meter.read(&"a", SECOND / 2);
        assert_eq!((refused.state.remaining, refused.wait), (0, Some(20)));
        assert_eq!(refused.state.reset, 60);
        assert_eq!(meter.read(&"a", 19 * SECOND).wait, Some(1));
        let passed = meter.read(&"a", 20 * SECOND);
        assert_eq!((passed.state.remaining, passed.wait), (0, None));
        assert_eq!(meter.read(&"b", 0).state.remaining, 2);
        assert_eq!(meter.read(&"a", 60 * SECOND).state.remaining, 2);
    }

    #[test]
    fn a_reading_that_is_not_spent_does_not_count() {
        let meter = Meter::new(1).unwrap();
        for _ in 0..10 {
            assert_eq!(meter.read(&"a", 0).wait, None);
        }
        assert_eq!(meter.len(), 0);
    }

    #[test]
    fn callers_with_their_whole_limit_are_forgotten() {
        let mut meter = Meter::new(60).unwrap();
        for caller in 0..100 {
            let reading = meter.read(&caller, 0);
            meter.spend(caller, &reading);
        }
        meter.sweep(SECOND - 1);
        assert_eq!(meter.len(), 100);
        meter.sweep(SECOND);
        assert_eq!(meter.len(), 0);
    }

    #[test]
    fn any_limit_is_kept_exactly() {
        assert!(Meter::<u8>::new(0).is_none());
        for limit in [1, 7, 6_000, 60_000, u32::MAX] {
            let mut meter = Meter::new(limit).unwrap();
            let first = meter.read(&0, 5);
            assert_eq!((first.state.remaining, first.wait), (limit - 1, None));
            if limit <= 60_000 {
                for _ in 0..limit {
                    let reading = meter.read(&0, 5);
                    assert_eq!(reading.wait, None);
                    meter.spend(0, &reading);
                }
                assert!(meter.read(&0, 5).wait.is_some());
            }
        }
    }
}
