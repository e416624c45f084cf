//! The settings of a worker.

use std::time::Duration;

use cicerone_domain::Entropy;

/// How many jobs run at once, and how long they may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Texts at once, and files at once, at least one. Accounts with nothing running may have as many
    /// again.
    pub parallel: usize,
    /// Crawls at once, at least one. Accounts with no crawl running may have as many again.
    pub crawls: usize,
    /// How often the queue is checked for jobs of other processes.
    pub poll: Duration,
    /// How often a lease is extended, which is also how soon the deletion of a source ends its job.
    pub heartbeat: Duration,
    /// The longest that one attempt may take.
    pub deadline: Duration,
    /// How long a stop waits for jobs before it releases them.
    pub grace: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            parallel: 2,
            crawls: 8,
            poll: Duration::from_secs(1),
            heartbeat: Duration::from_millis(500),
            deadline: Duration::from_secs(20 * 60),
            grace: Duration::from_secs(20),
        }
    }
}

/// The pause after the attempt with this number: 1, 2, 4, 8 s and so on, ±20 %.
pub(super) fn backoff_millis(attempt: u32, entropy: &dyn Entropy) -> i64 {
    let base = 1_000_i64 << attempt.saturating_sub(1).min(6);
    let mut chance = [0_u8; 1];
    entropy.fill(&mut chance);
    let [chance] = chance;
    base * (800 + i64::from(chance) * 400 / 255) / 1_000
}

#[cfg(test)]
mod tests {
    use cicerone_domain::Entropy;

    use super::backoff_millis;

    struct Always(u8);

    impl Entropy for Always {
        fn fill(&self, target: &mut [u8]) {
            target.fill(self.0);
        }
    }

    #[test]
    fn the_pause_doubles_and_varies_by_a_fifth() {
        for (attempt, base) in [(1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000)] {
            assert_eq!(backoff_millis(attempt, &Always(0)), base * 8 / 10);
            assert_eq!(backoff_millis(attempt, &Always(255)), base * 12 / 10);
        }
        assert_eq!(backoff_millis(u32::MAX, &Always(255)), 64_000 * 12 / 10);
    }
}
