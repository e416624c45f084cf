//! The generic cell rate algorithm: one moment for each caller says how much of a limit is left.

use std::collections::HashMap;
use std::hash::Hash;

use super::RateState;

const SECOND: u64 = 1_000_000_000;

/// Requests that callers of one kind have made. Moments are nanoseconds since any fixed one.
pub(super) struct Meter<K> {
    /// Requests a minute; as many may come at once.
    limit: u32,
    /// What one request takes of a minute.
    interval: u64,
    /// When each caller's whole limit is available again. A caller that is absent has its whole limit.
    full: HashMap<K, u64>,
}

/// What a meter says of one more request. It counts once it is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// Where the limit stands after the request.
    pub(super) state: RateState,
    /// Seconds until a request may pass again, if this one may not.
    pub(super) wait: Option<u64>,
    /// When the whole limit is available again after the request.
    full: u64,
}

impl<K: Hash + Eq> Meter<K> {
    /// A meter of so many requests a minute; `None` if `limit` is 0, which is no limit.
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

    /// Callers that are known.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.full.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{Meter, SECOND};

    #[test]
    fn a_limit_passes_at_once_and_then_at_its_pace() {
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
    fn what_is_not_spent_does_not_count() {
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
