//! The places that attempts at deliveries occupy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fairness::Taken;

/// The gauge of attempts in progress.
const IN_FLIGHT: &str = "cicerone_webhook_attempts_in_flight";

/// How many deliveries are being attempted, and how many wait for memory.
#[derive(Default)]
pub(super) struct Places {
    in_all: AtomicUsize,
    by_doubtful: AtomicUsize,
    waiting: AtomicUsize,
}

impl Places {
    pub(super) fn taken(&self) -> Taken {
        Taken {
            in_all: self.in_all.load(Ordering::Relaxed),
            by_doubtful: self.by_doubtful.load(Ordering::Relaxed),
        }
    }

    /// Deliveries that wait for memory.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

/// The place of one attempt, which is freed however the attempt ends.
pub(super) struct AttemptPlace {
    places: Arc<Places>,
    is_doubtful: bool,
}

impl AttemptPlace {
    pub(super) fn take(places: &Arc<Places>, is_doubtful: bool) -> Self {
        places.in_all.fetch_add(1, Ordering::Relaxed);
        places.by_doubtful.fetch_add(usize::from(is_doubtful), Ordering::Relaxed);
        metrics::gauge!(IN_FLIGHT).increment(1.0);
        Self { places: Arc::clone(places), is_doubtful }
    }
}

impl Drop for AttemptPlace {
    fn drop(&mut self) {
        self.places.in_all.fetch_sub(1, Ordering::Relaxed);
        self.places.by_doubtful.fetch_sub(usize::from(self.is_doubtful), Ordering::Relaxed);
        metrics::gauge!(IN_FLIGHT).decrement(1.0);
    }
}

/// The place of a delivery that waits for memory.
pub(super) struct WaitingPlace {
    places: Arc<Places>,
    is_doubtful: bool,
}

impl WaitingPlace {
    /// Frees the place of an attempt that has to wait.
    pub(super) fn instead_of(place: AttemptPlace) -> Self {
        place.places.waiting.fetch_add(1, Ordering::Relaxed);
        Self { places: Arc::clone(&place.places), is_doubtful: place.is_doubtful }
    }

    /// The place of the attempt, even if more attempts than usual are then in progress: the memory for their bodies limits
    /// how many.
    pub(super) fn over(self) -> AttemptPlace {
        AttemptPlace::take(&self.places, self.is_doubtful)
    }
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        self.places.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}
