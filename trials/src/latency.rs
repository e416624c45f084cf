//! Statistics of durations.

use std::time::Duration;

/// The time that this share of the sorted times does not exceed; zero if there are none.
pub(crate) fn percentile(sorted: &[Duration], share: f64) -> Duration {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}

/// A duration in milliseconds, for display.
pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
