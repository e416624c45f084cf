//! The generic cell rate algorithm, which stores one time for each caller.

use std::collections::HashMap;
use std::hash::Hash;

use super::RateState;

const SECOND: u64 = 1_000_000_000;
/// Most callers of a meter in memory: about 4 MiB. If there are more, those with the least used limits are removed.
const MOST_CALLERS: usize = 65_536;

/// The number of requests in a period, and the number that can arrive at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    limit: u32,
    /// The part of the period that one request uses, in nanoseconds.
    interval: u64,
}

impl Rate {
    /// So many requests per minute; `None` if `limit` is 0, which means no limit.
    pub(crate) fn per_minute(limit: u32) -> Option<Self> {
        Self::per(60 * SECOND, limit)
    }

    /// So many requests per hour; `None` if `limit` is 0, which means no limit.
    pub(crate) fn per_hour(limit: u32) -> Option<Self> {
        Self::per(60 * 60 * SECOND, limit)
    }

    /// So many requests per day; `None` if `limit` is 0, which means no limit.
    pub(crate) fn per_day(limit: u32) -> Option<Self> {
        Self::per(24 * 60 * 60 * SECOND, limit)
    }

    fn per(period: u64, limit: u32) -> Option<Self> {
        let interval = period.checked_div(limit.into())?;
        Some(Self { limit, interval })
    }

    /// The state for one more request at `now` of a caller whose full limit is available again at `full`.
    fn read(self, full: Option<u64>, now: u64) -> Reading {
        let before = full.unwrap_or(now).max(now);
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
}

/// The result of reading a meter for one more request, which counts when it is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The state of the limit after the request.
    pub(super) state: RateState,
    /// If the request is refused, the seconds until one can succeed.
    pub(crate) wait: Option<u64>,
    /// When the full limit is available again after the request.
    full: u64,
}

/// What callers have used of their limits. Times are nanoseconds since an arbitrary fixed time.
///
/// Invariant: at most [`MOST_CALLERS`] are in memory, however many there are.
pub(crate) struct Used<K> {
    /// When each caller's full limit is available again. An absent caller has its full limit.
    full: HashMap<K, u64>,
}

impl<K> Default for Used<K> {
    fn default() -> Self {
        Self { full: HashMap::new() }
    }
}

impl<K: Hash + Eq> Used<K> {
    /// Reads what a caller has used for a request at `now`, without counting it.
    pub(crate) fn read(&self, caller: &K, rate: Rate, now: u64) -> Reading {
        rate.read(self.full.get(caller).copied(), now)
    }

    /// Counts the request that was read.
    pub(crate) fn spend(&mut self, caller: K, reading: &Reading) {
        if self.full.len() >= MOST_CALLERS && !self.full.contains_key(&caller) {
            self.make_room();
        }
        self.full.insert(caller, reading.full);
    }

    /// Removes the callers that have their full limit.
    pub(crate) fn sweep(&mut self, now: u64) {
        self.full.retain(|_, full| *full > now);
    }

    /// Removes the half of the callers that have used the least, so that a flood of new callers does not remove one
    /// that has reached its limit.
    fn make_room(&mut self) {
        let mut times: Vec<u64> = self.full.values().copied().collect();
        let middle = times.len() / 2;
        let (_, median, _) = times.select_nth_unstable(middle);
        let (median, before) = (*median, self.full.len());
        self.full.retain(|_, full| *full > median);
        // If many have used the same, some of them are still forgotten.
        debug_assert!(self.full.len() < before, "the median itself is forgotten");
    }

    /// The number of callers in memory.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.full.len()
    }
}

/// Counts the requests of callers that all have the same limit.
pub(super) struct Meter<K> {
    rate: Rate,
    used: Used<K>,
}

impl<K: Hash + Eq> Meter<K> {
    /// A meter of `limit` requests per minute; `None` if `limit` is 0, which means no limit.
    pub(super) fn new(limit: u32) -> Option<Self> {
        Some(Self { rate: Rate::per_minute(limit)?, used: Used::default() })
    }

    /// Reads the meter for a request at `now`, without counting it.
    pub(super) fn read(&self, caller: &K, now: u64) -> Reading {
        self.used.read(caller, self.rate, now)
    }

    /// Counts the request that was read.
    pub(super) fn spend(&mut self, caller: K, reading: &Reading) {
        self.used.spend(caller, reading);
    }

    /// Removes the callers that have their full limit.
    pub(super) fn sweep(&mut self, now: u64) {
        self.used.sweep(now);
    }

    /// The number of callers in memory.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.used.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_CALLERS, Meter, Rate, SECOND, Used};

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

    #[test]
    fn an_hour_is_counted_like_a_minute() {
        let (mut used, rate) = (Used::default(), Rate::per_hour(2).unwrap());
        for _ in 0..2 {
            let reading = used.read(&"a", rate, 0);
            assert_eq!(reading.wait, None);
            used.spend("a", &reading);
        }
        assert_eq!(used.read(&"a", rate, 0).wait, Some(30 * 60));
        assert_eq!(used.read(&"a", rate, 30 * 60 * SECOND).wait, None);
        // If the limit was changed since, what was used before counts.
        assert_eq!(used.read(&"a", Rate::per_hour(1).unwrap(), 0).wait, Some(60 * 60));
        assert_eq!(used.read(&"a", Rate::per_hour(4).unwrap(), 0).wait, Some(15 * 60));
        assert!(Rate::per_hour(0).is_none());
    }

    #[test]
    fn a_flood_of_callers_takes_bounded_memory_and_does_not_free_one_at_its_limit() {
        let (mut used, rate) = (Used::default(), Rate::per_minute(3).unwrap());
        for _ in 0..3 {
            let reading = used.read(&usize::MAX, rate, 0);
            used.spend(usize::MAX, &reading);
        }
        for caller in 0..3 * MOST_CALLERS {
            let reading = used.read(&caller, rate, caller as u64);
            used.spend(caller, &reading);
            assert!(used.len() <= MOST_CALLERS);
        }
        assert!(used.read(&usize::MAX, rate, 0).wait.is_some());
    }
}
