//! What was read from the indexes lately, kept for the next question.
//!
//! Questions to one agent are about the same things: the same terms, the same passages. Looking a
//! term up and unpacking where it stands, or unpacking and parsing a passage, costs many times what
//! is then done with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use tantivy::DocAddress;

use super::ranking::Impact;
use crate::store::Record;

/// Bytes that the passages of all agents together may take, and the terms.
const BYTES: u64 = 16 * 1_024 * 1_024;
/// What an entry takes beside its content.
const OVERHEAD: usize = 128;
/// Entries that are expected, which only sizes the bookkeeping.
const ENTRIES: usize = 4_096;

type Passages = Cache<(u64, DocAddress), Arc<Record>, Weight>;
type Terms = Cache<TermKey, Arc<[Impact]>, Weight>;

/// Shared by all open indexes of this process.
#[derive(Clone)]
pub(crate) struct Recent {
    passages: Arc<Passages>,
    terms: Arc<Terms>,
    snapshots: Arc<AtomicU64>,
}

/// What was read from one snapshot. What belongs to one that is gone is never asked for again, and
/// makes room as it grows old.
pub(super) struct SnapshotRecent {
    snapshot: u64,
    passages: Arc<Passages>,
    terms: Arc<Terms>,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            passages: Arc::new(Cache::with_weighter(ENTRIES, BYTES, Weight)),
            terms: Arc::new(Cache::with_weighter(ENTRIES, BYTES, Weight)),
            snapshots: Arc::default(),
        }
    }
}

impl Recent {
    /// That of a new snapshot.
    pub(super) fn of_snapshot(&self) -> SnapshotRecent {
        SnapshotRecent {
            snapshot: self.snapshots.fetch_add(1, Ordering::Relaxed),
            passages: Arc::clone(&self.passages),
            terms: Arc::clone(&self.terms),
        }
    }
}

impl SnapshotRecent {
    /// The passage at `address`, read by `read` where it is not at hand.
    pub(super) fn passage(
        &self,
        address: DocAddress,
        read: impl FnOnce() -> tantivy::Result<Record>,
    ) -> tantivy::Result<Arc<Record>> {
        let key = (self.snapshot, address);
        if let Some(record) = self.passages.get(&key) {
            return Ok(record);
        }
        let record = Arc::new(read()?);
        self.passages.insert(key, Arc::clone(&record));
        Ok(record)
    }

    /// What `term` in the field of that number adds to the passages that have it, read by `read`
    /// where it is not at hand.
    pub(super) fn impacts(
        &self,
        field: usize,
        term: &str,
        read: impl FnOnce() -> tantivy::Result<Vec<Impact>>,
    ) -> tantivy::Result<Arc<[Impact]>> {
        let key = TermRef { snapshot: self.snapshot, field, term };
        if let Some(impacts) = self.terms.get(&key) {
            return Ok(impacts);
        }
        let impacts: Arc<[Impact]> = read()?.into();
        let key = TermKey { snapshot: self.snapshot, field, term: term.into() };
        self.terms.insert(key, Arc::clone(&impacts));
        Ok(impacts)
    }
}

/// A term of a snapshot.
#[derive(Clone, PartialEq, Eq, Hash)]
struct TermKey {
    snapshot: u64,
    field: usize,
    term: Box<str>,
}

/// The same, borrowed: it hashes alike.
#[derive(Hash)]
struct TermRef<'a> {
    snapshot: u64,
    field: usize,
    term: &'a str,
}

impl Equivalent<TermKey> for TermRef<'_> {
    fn equivalent(&self, key: &TermKey) -> bool {
        self.snapshot == key.snapshot && self.field == key.field && *self.term == *key.term
    }
}

/// What an entry takes, in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<(u64, DocAddress), Arc<Record>> for Weight {
    fn weight(&self, _: &(u64, DocAddress), record: &Arc<Record>) -> u64 {
        (record.bytes() + OVERHEAD) as u64
    }
}

impl Weighter<TermKey, Arc<[Impact]>> for Weight {
    fn weight(&self, key: &TermKey, impacts: &Arc<[Impact]>) -> u64 {
        (key.term.len() + std::mem::size_of_val::<[Impact]>(impacts) + OVERHEAD) as u64
    }
}
