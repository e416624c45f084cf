//! The settings of deliveries.

use std::time::Duration;

use cicerone_domain::webhook::SCHEDULE;

/// How deliveries are attempted, and how many at once.
#[derive(Debug, Clone)]
pub struct DeliverySettings {
    /// Attempts at one endpoint at the same time, on all servers together.
    pub per_endpoint: u32,
    /// Attempts of this process at the same time.
    pub at_once: usize,
    /// How long an attempt may take, from the lookup of the name to the head of the answer.
    pub timeout: Duration,
    /// Pauses before the second and every further attempt; after the last one, the delivery fails.
    pub schedule: Vec<Duration>,
    /// How often this process looks for deliveries that other processes have queued.
    pub poll: Duration,
}

impl Default for DeliverySettings {
    fn default() -> Self {
        Self {
            per_endpoint: 4,
            at_once: 64,
            timeout: Duration::from_secs(15),
            schedule: SCHEDULE.to_vec(),
            poll: Duration::from_secs(1),
        }
    }
}
