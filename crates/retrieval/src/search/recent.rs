//! Caches of data recently read from the indexes, and of results.
//!
//! Questions to one agent use the same terms and passages. Looking up a term and unpacking its postings,
//! or unpacking and parsing a passage, costs many times more than using it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cicerone_domain::retrieval::{Query, ResultId};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};
use tantivy::DocAddress;

use super::impacts::{Impact, Impacts};
use super::results::{self, KeyRef, Outcome, Results};
use crate::store::Record;

/// The size in bytes of the cache of passages for all agents together, and of the cache of terms.
const PASSAGES_BYTES: u64 = 16 * 1_024 * 1_024;
const TERMS_BYTES: u64 = 12 * 1_024 * 1_024;
/// The size of an entry in addition to its content.
const OVERHEAD: usize = 128;
/// The expected number of entries, which only sizes the bookkeeping.
const ENTRIES: usize = 4_096;

type Passages = Cache<(u64, DocAddress), Arc<Record>, Weight>;
type Terms = Cache<TermKey, Impacts, Weight>;

/// Shared by all open indexes of this process.
#[derive(Clone)]
pub(crate) struct Recent {
    passages: Arc<Passages>,
    terms: Arc<Terms>,
    results: Arc<Results>,
    snapshots: Arc<AtomicU64>,
}

/// The cached entries of one snapshot. Entries of a closed snapshot are never used again and are
/// evicted as they grow old.
#[derive(Clone)]
pub(super) struct SnapshotRecent {
    snapshot: u64,
    passages: Arc<Passages>,
    terms: Arc<Terms>,
    results: Arc<Results>,
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            passages: Arc::new(Cache::with_weighter(ENTRIES, PASSAGES_BYTES, Weight)),
            terms: Arc::new(Cache::with_weighter(ENTRIES, TERMS_BYTES, Weight)),
            results: Arc::new(results::empty()),
            snapshots: Arc::default(),
        }
    }
}

impl Recent {
    /// The cache of a new snapshot.
    pub(super) fn of_snapshot(&self) -> SnapshotRecent {
        SnapshotRecent {
            snapshot: self.snapshots.fetch_add(1, Ordering::Relaxed),
            passages: Arc::clone(&self.passages),
            terms: Arc::clone(&self.terms),
            results: Arc::clone(&self.results),
        }
    }
}

impl SnapshotRecent {
    /// The result of a search, made by `search` if it is not cached.
    pub(super) fn result<E>(
        &self,
        query: &Query,
        limit: usize,
        search: impl FnOnce() -> Result<Outcome, E>,
    ) -> Result<Arc<Outcome>, E> {
        let Some(key) = KeyRef::new(self.snapshot, query, limit) else {
            return search().map(Arc::new);
        };
        if let Some(outcome) = self.results.get(&key) {
            return Ok(outcome);
        }
        let outcome = Arc::new(Outcome { id: Some(ResultId::unique()), ..search()? });
        self.results.insert(key.to_key(), Arc::clone(&outcome));
        Ok(outcome)
    }

    /// Whether the result of a search is cached.
    pub(super) fn has_result(&self, query: &Query, limit: usize) -> bool {
        KeyRef::new(self.snapshot, query, limit).is_some_and(|key| self.results.contains_key(&key))
    }

    /// The passage at `address`, read by `read` if it is not cached.
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

    /// The impacts of `term` in a field, read by `read` if they are not cached.
    pub(super) fn impacts(
        &self,
        field: usize,
        term: &str,
        read: impl FnOnce() -> tantivy::Result<Vec<Impact>>,
    ) -> tantivy::Result<Impacts> {
        let key = TermRef { snapshot: self.snapshot, field, term };
        if let Some(impacts) = self.terms.get(&key) {
            return Ok(impacts);
        }
        let impacts = Impacts::from(read()?);
        let key = TermKey { snapshot: self.snapshot, field, term: term.into() };
        self.terms.insert(key, impacts.clone());
        Ok(impacts)
    }
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct TermKey {
    snapshot: u64,
    field: usize,
    term: Box<str>,
}

/// The same, borrowed, with the same hash.
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

/// The size of an entry in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<(u64, DocAddress), Arc<Record>> for Weight {
    fn weight(&self, _: &(u64, DocAddress), record: &Arc<Record>) -> u64 {
        (record.bytes() + OVERHEAD) as u64
    }
}

impl Weighter<TermKey, Impacts> for Weight {
    fn weight(&self, key: &TermKey, impacts: &Impacts) -> u64 {
        (key.term.len() + impacts.bytes() + OVERHEAD) as u64
    }
}
