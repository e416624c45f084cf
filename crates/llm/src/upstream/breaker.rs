//! The circuit breaker, which stops requests to an upstream that keeps failing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cicerone_domain::Clock;

/// Opens after a number of consecutive failures. After a pause, it lets one probe through at a time.
pub(super) struct Breaker {
    clock: Arc<dyn Clock>,
    failures: u32,
    pause_millis: i64,
    state: Mutex<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Everything passes. Contains the number of failures in a row.
    Closed(u32),
    /// Nothing passes until this time, in milliseconds since 1970.
    Open(i64),
    /// One probe is in progress.
    Probing,
}

/// A permit for one attempt. If it is dropped without an outcome, for example because the caller was
/// cancelled, the attempt does not count.
pub(super) struct Pass<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
    is_done: bool,
}

impl Breaker {
    /// A closed breaker that opens after `failures` in a row, for `pause_millis`.
    pub(super) fn new(clock: Arc<dyn Clock>, failures: u32, pause_millis: i64) -> Self {
        Self { clock, failures, pause_millis, state: Mutex::new(State::Closed(0)) }
    }

    /// A permit for an attempt; `None` while the breaker is open.
    pub(super) fn enter(&self) -> Option<Pass<'_>> {
        let now = self.clock.now().as_millis();
        let mut state = self.state();
        let is_probe = match *state {
            State::Closed(_) => false,
            State::Open(until) if until <= now => {
                *state = State::Probing;
                true
            }
            State::Open(_) | State::Probing => return None,
        };
        Some(Pass { breaker: self, is_probe, is_done: false })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is one word, so it is valid after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Records a success.
    pub(super) fn succeeded(mut self) {
        self.is_done = true;
        *self.breaker.state() = State::Closed(0);
    }

    /// Records a failure.
    pub(super) fn failed(mut self) {
        self.is_done = true;
        let until = self.breaker.clock.now().plus_millis(self.breaker.pause_millis).as_millis();
        let mut state = self.breaker.state();
        *state = match *state {
            _ if self.is_probe => State::Open(until),
            State::Closed(failures) if failures + 1 >= self.breaker.failures => State::Open(until),
            State::Closed(failures) => State::Closed(failures + 1),
            // A reply that began before the breaker opened has no effect.
            other => other,
        };
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_probe && !self.is_done {
            *self.breaker.state() = State::Open(self.breaker.clock.now().as_millis());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use cicerone_domain::{Clock, Timestamp};

    use super::Breaker;

    #[derive(Default)]
    struct Hand(AtomicI64);

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(self.0.load(Ordering::SeqCst))
        }
    }

    fn opened() -> (Arc<Hand>, Breaker) {
        let clock = Arc::new(Hand::default());
        let breaker = Breaker::new(Arc::clone(&clock) as Arc<dyn Clock>, 3, 1_000);
        for _ in 0..3 {
            breaker.enter().unwrap().failed();
        }
        (clock, breaker)
    }

    #[test]
    fn it_opens_after_failures_in_a_row_only() {
        let breaker = Breaker::new(Arc::new(Hand::default()), 3, 1_000);
        for _ in 0..5 {
            breaker.enter().unwrap().failed();
            breaker.enter().unwrap().failed();
            breaker.enter().unwrap().succeeded();
        }
        assert!(breaker.enter().is_some());
        assert!(opened().1.enter().is_none());
    }

    #[test]
    fn after_the_pause_one_probe_passes_and_its_success_closes_it() {
        let (clock, breaker) = opened();
        clock.0.store(999, Ordering::SeqCst);
        assert!(breaker.enter().is_none());
        clock.0.store(1_000, Ordering::SeqCst);
        let probe = breaker.enter().unwrap();
        assert!(breaker.enter().is_none());
        probe.succeeded();
        assert!(breaker.enter().is_some());
    }

    #[test]
    fn a_failed_probe_opens_it_again() {
        let (clock, breaker) = opened();
        clock.0.store(1_000, Ordering::SeqCst);
        breaker.enter().unwrap().failed();
        assert!(breaker.enter().is_none());
        clock.0.store(2_000, Ordering::SeqCst);
        assert!(breaker.enter().is_some());
    }

    #[test]
    fn a_probe_that_is_given_up_lets_the_next_one_through() {
        let (clock, breaker) = opened();
        clock.0.store(1_000, Ordering::SeqCst);
        drop(breaker.enter().unwrap());
        assert!(breaker.enter().is_some());
    }

    #[test]
    fn a_late_success_of_an_earlier_reply_closes_it() {
        let breaker = Breaker::new(Arc::new(Hand::default()), 1, 1_000);
        let early = breaker.enter().unwrap();
        breaker.enter().unwrap().failed();
        assert!(breaker.enter().is_none());
        early.succeeded();
        assert!(breaker.enter().is_some());
    }
}
