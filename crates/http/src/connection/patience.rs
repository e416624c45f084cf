//! How slowly a client may read its answer.

use std::time::Duration;

use tokio::time::Instant;

/// The minimum rate at which a client must read an answer, in bytes per second.
const LEAST_RATE: u32 = 16 * 1_024;

/// The time for which a client may still not read. The bytes that it reads earn time at the minimum
/// rate, so an answer of `n` bytes takes at most the initial time plus the time for `n` bytes at
/// that rate.
#[derive(Debug)]
pub(super) struct Patience {
    whole: Duration,
    left: Duration,
    /// When writing became impossible; `None` while the client reads.
    tried_since: Option<Instant>,
}

impl Patience {
    pub(super) fn new(whole: Duration) -> Self {
        Self { whole, left: whole, tried_since: None }
    }

    /// Whether the client has not read the last bytes written.
    pub(super) fn is_tried(&self) -> bool {
        self.tried_since.is_some()
    }

    /// Records that nothing could be written. Returns the time at which that will have lasted too
    /// long.
    pub(super) fn try_until(&mut self, now: Instant) -> Instant {
        *self.tried_since.get_or_insert(now) + self.left
    }

    /// Records that the client has read `bytes` bytes. If it is not `paced`, any progress is
    /// enough.
    pub(super) fn progress(&mut self, bytes: usize, paced: bool, now: Instant) {
        let Some(since) = self.tried_since.take() else { return };
        self.left = if paced {
            let taken = u32::try_from(bytes).unwrap_or(u32::MAX);
            let earned = Duration::from_secs(1) * taken / LEAST_RATE;
            (self.left.saturating_sub(now - since) + earned).min(self.whole)
        } else {
            self.whole
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Patience;

    const SECOND: Duration = Duration::from_secs(1);

    /// The number of pauses of 10 s, each ended by reading `bytes` bytes, after which a client is
    /// disconnected.
    fn cut_after(bytes: usize, paced: bool) -> Option<u32> {
        let mut now = Instant::now();
        let mut patience = Patience::new(30 * SECOND);
        (1..100).find(|_| {
            let end = patience.try_until(now);
            now += 10 * SECOND;
            let is_over = now >= end;
            patience.progress(bytes, paced, now);
            is_over
        })
    }

    #[test]
    fn a_client_that_reads_nothing_is_cut_off_after_the_whole_time() {
        let now = Instant::now();
        let mut patience = Patience::new(30 * SECOND);
        assert_eq!(patience.try_until(now), now + 30 * SECOND);
        assert_eq!(patience.try_until(now + 20 * SECOND), now + 30 * SECOND);
        assert!(patience.is_tried());
    }

    #[test]
    fn a_client_that_reads_a_little_now_and_then_is_cut_off_unless_it_reads_a_stream() {
        assert_eq!(cut_after(1, true), Some(4));
        assert_eq!(cut_after(5 * 16 * 1_024, true), Some(5));
        assert_eq!(cut_after(1, false), None);
    }

    #[test]
    fn a_client_that_reads_at_the_minimum_rate_is_never_cut_off() {
        assert_eq!(cut_after(10 * 16 * 1_024, true), None);
    }
}
