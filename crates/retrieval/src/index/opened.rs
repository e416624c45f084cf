//! The indexes that are kept open, the one unused for longest closed first.
//!
//! An open index holds memory maps, so one that is closed must be gone at once: caches that clean
//! up behind themselves at some later time would let the maps pile up.

use std::num::NonZeroUsize;
use std::sync::Arc;

use cicerone_domain::{Id, kind};
use lru::LruCache;
use parking_lot::Mutex;

use crate::search::Snapshot;

/// Open indexes by their agent.
pub(super) struct Opened(Mutex<LruCache<Id<kind::Agent>, Arc<Snapshot>>>);

impl Opened {
    /// Room for `capacity` of them, and for one at least.
    pub(super) fn new(capacity: u64) -> Self {
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(capacity).unwrap_or(NonZeroUsize::MIN))))
    }

    /// That of an agent.
    pub(super) fn get(&self, agent: Id<kind::Agent>) -> Option<Arc<Snapshot>> {
        self.0.lock().get(&agent).map(Arc::clone)
    }

    /// Keeps one; what it takes the place of is closed when the last search in it has ended.
    pub(super) fn insert(&self, agent: Id<kind::Agent>, snapshot: Arc<Snapshot>) {
        // Closing takes longer than the lock should be held: it happens at the end of this call.
        let _closed = self.0.lock().push(agent, snapshot);
    }

    /// Closes that of an agent.
    pub(super) fn remove(&self, agent: Id<kind::Agent>) {
        let _closed = self.0.lock().pop(&agent);
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.lock().len()
    }
}
