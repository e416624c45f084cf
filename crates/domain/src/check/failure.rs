//! What follows if a check could not be asked.

use std::time::Duration;

use crate::error::Error;
use crate::limits;

/// What follows a failed attempt at a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterFailure {
    /// It is asked again.
    Again {
        /// How long that waits.
        wait: Duration,
        /// Whether this attempt counts against [`limits::CHECK_ATTEMPTS`]. One that found the server overloaded does
        /// not.
        is_counted: bool,
    },
    /// Its attempts are used up.
    GivenUp,
    /// It would fail again.
    Hopeless,
}

/// What follows an attempt that failed with `error`. `attempt` is its number, from 1, among those that count.
pub fn after_failure(error: &Error, attempt: u32) -> AfterFailure {
    match error {
        Error::Overloaded => AfterFailure::Again {
            wait: Duration::from_millis(limits::CHECK_OVERLOADED_MILLIS),
            is_counted: false,
        },
        Error::ModelUnavailable(_) | Error::Unavailable(_) if attempt >= limits::CHECK_ATTEMPTS => {
            AfterFailure::GivenUp
        }
        Error::ModelUnavailable(_) | Error::Unavailable(_) => AfterFailure::Again {
            wait: Duration::from_millis(limits::CHECK_FAILED_MILLIS) * attempt,
            is_counted: true,
        },
        _ => AfterFailure::Hopeless,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{AfterFailure, after_failure};
    use crate::Error;

    #[test]
    fn a_check_is_asked_three_times_with_growing_pauses() {
        let outage = Error::unavailable("out of reach");
        let after = [1, 2, 3].map(|attempt| after_failure(&outage, attempt));
        let again =
            |secs| AfterFailure::Again { wait: Duration::from_secs(secs), is_counted: true };
        assert_eq!(after, [again(2), again(4), AfterFailure::GivenUp]);
    }

    #[test]
    fn an_overloaded_server_is_asked_again_without_end_and_a_refusal_never() {
        let again = AfterFailure::Again { wait: Duration::from_secs(1), is_counted: false };
        assert_eq!([1, 9].map(|attempt| after_failure(&Error::Overloaded, attempt)), [again; 2]);
        let refusal = Error::not_found("agent", "agent_8kd02JwQ1z");
        assert_eq!(after_failure(&refusal, 1), AfterFailure::Hopeless);
    }
}
