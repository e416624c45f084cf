//! Sources of time and randomness: the only two places that access those of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

use rand::Rng as _;

use crate::timestamp::Timestamp;

/// Provides the time. It is passed to all code that depends on the time, so that tests can control it.
pub trait Clock: Send + Sync {
    /// The current moment.
    fn now(&self) -> Timestamp;
}

/// Provides unpredictable bytes. It is passed to all code that depends on randomness, so that tests can control it.
pub trait Entropy: Send + Sync {
    /// Fills `target` with random bytes that are suitable for secrets.
    fn fill(&self, target: &mut [u8]);
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(0).after(since)
    }
}

/// The thread's cryptographic generator, seeded by the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks for randomness")]
    fn fill(&self, target: &mut [u8]) {
        rand::rng().fill_bytes(target);
    }
}
