//! Passages that were read lately, as they came out of the index.
//!
//! Reading one means to unpack a block of the document store and to parse it: several times the
//! cost of finding it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use tantivy::DocAddress;

use crate::store::Record;

/// Bytes that the passages of all agents together may take.
const BYTES: u64 = 16 * 1_024 * 1_024;
/// What an entry takes beside its text.
const OVERHEAD: usize = 256;

/// Shared by all open indexes of this process.
#[derive(Clone)]
pub(crate) struct Records {
    cache: Cache<(u64, DocAddress), Arc<Record>>,
    snapshots: Arc<AtomicU64>,
}

/// The passages of one snapshot. What was read for one that is gone is never asked for again, and
/// makes room as it grows old.
pub(super) struct SnapshotRecords {
    snapshot: u64,
    cache: Cache<(u64, DocAddress), Arc<Record>>,
}

impl Default for Records {
    fn default() -> Self {
        let weigh = |_: &(u64, DocAddress), record: &Arc<Record>| {
            u32::try_from(record.bytes() + OVERHEAD).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder()
            .max_capacity(BYTES)
            .weigher(weigh)
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self { cache, snapshots: Arc::default() }
    }
}

impl Records {
    /// Those of a new snapshot.
    pub(super) fn of_snapshot(&self) -> SnapshotRecords {
        let snapshot = self.snapshots.fetch_add(1, Ordering::Relaxed);
        SnapshotRecords { snapshot, cache: self.cache.clone() }
    }
}

impl SnapshotRecords {
    /// The passage at `address`, read by `read` where it is not at hand.
    pub(super) fn get(
        &self,
        address: DocAddress,
        read: impl FnOnce() -> tantivy::Result<Record>,
    ) -> tantivy::Result<Arc<Record>> {
        let key = (self.snapshot, address);
        if let Some(record) = self.cache.get(&key) {
            return Ok(record);
        }
        let record = Arc::new(read()?);
        self.cache.insert(key, Arc::clone(&record));
        Ok(record)
    }
}
