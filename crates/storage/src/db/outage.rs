//! What the log says while no connection to a database can be made. A pool tries it several times a second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use r2d2::event::AcquireEvent;
use r2d2::{HandleError, HandleEvent};

use crate::error::OpenError;

/// How often failures are reported.
const AGAIN: Duration = Duration::from_secs(60);

/// Reports that connections fail, once a minute at most, and that they succeed again.
#[derive(Debug, Clone, Default)]
pub(super) struct Outage(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// When failures were last reported.
    reported: Option<Instant>,
    /// Failures since then.
    failures: u64,
    /// Whether the last report was about failures.
    is_out: bool,
}

impl State {
    /// Counts a failure. Returns the number of failures to report, if it is time to.
    fn fail(&mut self, now: Instant) -> Option<u64> {
        self.failures += 1;
        if self.reported.is_some_and(|at| now.saturating_duration_since(at) < AGAIN) {
            return None;
        }
        (self.reported, self.is_out) = (Some(now), true);
        Some(std::mem::take(&mut self.failures))
    }

    /// Notes a success, and returns whether to report it.
    fn succeed(&mut self) -> bool {
        std::mem::take(&mut self.is_out)
    }
}

impl HandleError<OpenError> for Outage {
    fn handle_error(&self, error: OpenError) {
        if let Some(failures) = self.0.lock().fail(Instant::now()) {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(failures, error, "connections to the database fail");
        }
    }
}

impl HandleEvent for Outage {
    fn handle_acquire(&self, _: AcquireEvent) {
        if self.0.lock().succeed() {
            tracing::info!("connections to the database succeed again");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::State;

    #[test]
    fn failures_are_reported_at_once_and_then_counted_for_a_minute() {
        let mut state = State::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert!(!state.succeed());
        assert_eq!([0, 1, 59].map(|seconds| state.fail(at(seconds))), [Some(1), None, None]);
        assert_eq!(state.fail(at(60)), Some(3));
        assert!(state.succeed() && !state.succeed());
        // If connections fail now and then, the log is not filled either.
        assert_eq!(state.fail(at(61)), None);
        assert!(!state.succeed());
        assert_eq!(state.fail(at(121)), Some(2));
    }
}
