//! A bound on the log lines that callers without a key cause.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lines in a minute. Most servers have fewer requests without a key, and a flood would fill the disk.
const MOST: u32 = 600;
const MINUTE: Duration = Duration::from_secs(60);

/// Whether a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Written,
    /// It is written; this many before it were left out.
    AfterGap(u64),
    LeftOut,
}

/// Counts lines, of which [`MOST`] a minute are written.
pub(super) struct Lines(Mutex<State>);

struct State {
    /// When the minute began.
    began: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl Lines {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(State { began: None, written: 0, left_out: 0 }))
    }

    /// Counts a line at `now`.
    pub(super) fn next(&self, now: Instant) -> Line {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |began| now.saturating_duration_since(began) >= MINUTE;
        if state.began.is_none_or(is_over) {
            let left_out = state.left_out;
            *state = State { began: Some(now), written: 1, left_out: 0 };
            return if left_out > 0 { Line::AfterGap(left_out) } else { Line::Written };
        }
        if state.written < MOST {
            state.written += 1;
            return Line::Written;
        }
        state.left_out += 1;
        Line::LeftOut
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::{Line, Lines, MINUTE, MOST};

    #[test]
    fn of_a_flood_some_lines_a_minute_are_written_and_the_others_are_counted() {
        let (lines, now) = (Lines::new(), Instant::now());
        assert!((0..MOST).all(|_| lines.next(now) == Line::Written));
        assert!((0..100_000).all(|_| lines.next(now) == Line::LeftOut));
        assert_eq!(lines.next(now + MINUTE), Line::AfterGap(100_000));
        assert_eq!(lines.next(now + MINUTE), Line::Written);
        assert_eq!(lines.next(now + 2 * MINUTE), Line::Written);
    }
}
