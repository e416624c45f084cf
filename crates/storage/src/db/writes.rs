//! Whether writes work, judged by how the last one ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use parking_lot::Mutex;

/// The shortest time between two tests of whether writes work again.
const PROBES: Duration = Duration::from_secs(1);
/// Parts of messages of SQLite, PostgreSQL and the system which mean that nothing can be written.
const REFUSALS: [&str; 7] = [
    "disk is full",
    "disk I/O error",
    "readonly database",
    "No space left",
    "could not extend",
    "could not write",
    "read-only transaction",
];

/// How the last write ended.
#[derive(Debug, Default)]
pub(super) struct Writes {
    /// It failed because of the disk or the server.
    have_failed: AtomicBool,
    /// When a write was last tested for this reason.
    probed: Mutex<Option<Instant>>,
}

impl Writes {
    /// Records how a write ended.
    pub(super) fn note(&self, outcome: &Result<(), Error>) {
        match outcome {
            Ok(()) if self.have_failed.load(Ordering::Relaxed) => {
                self.have_failed.store(false, Ordering::Relaxed);
            }
            Err(Error::Unavailable(cause)) => {
                let cause = cause.to_string();
                if REFUSALS.iter().any(|part| cause.contains(part)) {
                    self.have_failed.store(true, Ordering::Relaxed);
                }
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Whether the last write failed and it is time to test another one. Returns an error if that
    /// was tested a moment ago.
    pub(super) fn probe_is_due(&self) -> Result<bool, Error> {
        if !self.have_failed.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let mut probed = self.probed.lock();
        if probed.is_some_and(|at| at.elapsed() < PROBES) {
            return Err(Error::unavailable("the last write failed"));
        }
        *probed = Some(Instant::now());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use cicerone_domain::Error;

    use super::Writes;

    #[test]
    fn writes_fail_from_one_that_met_a_full_disk_to_one_that_succeeds() {
        let writes = Writes::default();
        assert!(!writes.probe_is_due().unwrap());
        writes.note(&Err(Error::unavailable("no database connection became free in time")));
        writes.note(&Err(Error::ClaimLost));
        assert!(!writes.probe_is_due().unwrap());
        writes.note(&Err(Error::unavailable("database or disk is full")));
        assert!(writes.probe_is_due().unwrap());
        assert!(writes.probe_is_due().is_err(), "once a second");
        writes.note(&Ok(()));
        assert!(!writes.probe_is_due().unwrap());
    }
}
