//! The settings of a worker.

use std::time::Duration;

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
