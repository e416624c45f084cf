//! Recent results of searches.
//!
//! A few questions make up much of what people ask: the starters of a widget, what a page leaves open. Ranking the
//! passages takes most of the time of a search, and its result is the same until the index changes.

use std::sync::Arc;

use cicerone_domain::agent::AnswerFloor;
use cicerone_domain::ports::ReplyMemo;
use cicerone_domain::retrieval::{Query, QueryTerm};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

use super::ranking::Ranked;

/// The size of the cache in bytes, for all agents together.
const BYTES: u64 = 8 * 1_024 * 1_024;
/// The expected number of entries, which only sizes the bookkeeping.
const ENTRIES: usize = 4_096;
/// The largest question with its context, in bytes, whose result is cached. Longer ones are rarely repeated.
const QUERY_BYTES: usize = 1_024;
/// The size of an entry in addition to its content.
const OVERHEAD: usize = 192;

/// The results of all agents, by the query.
pub(super) type Results = Cache<Key, Arc<Outcome>, Weight>;

/// An empty cache.
pub(super) fn empty() -> Results {
    Cache::with_weighter(ENTRIES, BYTES, Weight)
}

/// The result of a search. It has the numbers of the passages, whose texts are in a separate cache.
pub(super) struct Outcome {
    /// The best passages, best first.
    pub(super) best: Box<[Ranked]>,
    pub(super) terms: Arc<[QueryTerm]>,
    pub(super) confidence: f32,
    /// The reply to the question, as soon as there is one.
    pub(super) reply: ReplyMemo,
}

/// What a result depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    snapshot: u64,
    limit: usize,
    floor: AnswerFloor,
    text: String,
    context: Vec<String>,
}

/// The same, borrowed, with the same hash.
#[derive(Hash)]
pub(super) struct KeyRef<'a> {
    snapshot: u64,
    limit: usize,
    floor: AnswerFloor,
    text: &'a str,
    context: &'a [String],
}

impl<'a> KeyRef<'a> {
    /// The key of a search; `None` if its result is not kept.
    pub(super) fn new(snapshot: u64, query: &'a Query, limit: usize) -> Option<Self> {
        let Query { text, context, floor } = query;
        let bytes = text.len() + context.iter().map(String::len).sum::<usize>();
        (bytes <= QUERY_BYTES).then_some(Self { snapshot, limit, floor: *floor, text, context })
    }

    /// The same, owned.
    pub(super) fn to_key(&self) -> Key {
        Key {
            snapshot: self.snapshot,
            limit: self.limit,
            floor: self.floor,
            text: self.text.to_owned(),
            context: self.context.to_vec(),
        }
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.snapshot == key.snapshot
            && self.limit == key.limit
            && self.floor == key.floor
            && self.text == key.text
            && self.context == key.context
    }
}

/// The size of an entry in bytes.
#[derive(Clone)]
pub(super) struct Weight;

impl Weighter<Key, Arc<Outcome>> for Weight {
    fn weight(&self, key: &Key, outcome: &Arc<Outcome>) -> u64 {
        let texts = outcome.terms.iter().map(|term| term.text.len());
        let context = key.context.iter().map(|text| size_of::<String>() + text.len());
        let bytes = OVERHEAD
            + key.text.len()
            + context.sum::<usize>()
            + size_of_val(&*outcome.best)
            + size_of_val(&*outcome.terms)
            + texts.sum::<usize>()
            + ReplyMemo::BYTES;
        bytes as u64
    }
}
