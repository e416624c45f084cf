//! Recent results of searches.
//!
//! A few questions make up much of what people ask: the starters of a widget, what a page leaves open. Ranking the
//! passages takes most of the time of a search, and its result is the same until the index changes.

use std::sync::Arc;

use cicerone_domain::agent::AnswerFloor;
use cicerone_domain::retrieval::{Query, QueryTerm, ResultId};
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

use super::ranking::Ranked;

/// The size of the cache in bytes, for all agents together: some 10,000 results.
const BYTES: u64 = 7 * 1_024 * 1_024;
/// Twice the expected number of entries: the keys of as many evicted ones as are expected are remembered, and one that
/// comes again replaces entries that did not.
const ENTRIES: usize = 24_576;
/// The largest question with its context, in bytes, whose result is cached. Longer ones are rarely repeated.
const QUERY_BYTES: usize = 1_024;
/// The size of an entry in addition to its content: its place in the table, and what the allocator adds.
const OVERHEAD: usize = 128;

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
    pub(super) terms: PackedTerms,
    pub(super) confidence: f32,
    /// Its id if it is cached.
    pub(super) id: Option<ResultId>,
}

/// The words of a question in two blocks of memory, instead of one for each word.
pub(super) struct PackedTerms {
    texts: Box<str>,
    terms: Box<[PackedTerm]>,
}

/// A word without its text.
struct PackedTerm {
    /// The length of its text, which analysis cuts to some 64 characters.
    bytes: u16,
    word: u16,
    weight: f32,
    is_context: bool,
}

impl PackedTerms {
    /// The forms of words, each with the number of its word, its weight, and whether it is of the context.
    pub(super) fn of<'a>(terms: impl Iterator<Item = (&'a str, usize, f32, bool)> + Clone) -> Self {
        let number = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let (count, bytes) = terms
            .clone()
            .fold((0, 0), |(count, bytes), (text, ..)| (count + 1, bytes + text.len()));
        // Exactly as much as they need, because they are kept.
        let (mut texts, mut packed) = (String::with_capacity(bytes), Vec::with_capacity(count));
        for (text, word, weight, is_context) in terms {
            texts.push_str(text);
            let (bytes, word) = (number(text.len()), number(word));
            packed.push(PackedTerm { bytes, word, weight, is_context });
        }
        Self { texts: texts.into(), terms: packed.into() }
    }

    /// The words with their texts.
    pub(super) fn unpacked(&self) -> Vec<QueryTerm> {
        let mut texts = &*self.texts;
        let unpacked = |term: &PackedTerm| {
            let (text, rest) = texts.split_at_checked(term.bytes.into()).unwrap_or_default();
            texts = rest;
            let (weight, is_context) = (term.weight, term.is_context);
            QueryTerm { text: text.to_owned(), weight, is_context, word: term.word.into() }
        };
        self.terms.iter().map(unpacked).collect()
    }
}

/// What a result depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    snapshot: u64,
    limit: usize,
    floor: AnswerFloor,
    text: Box<str>,
    context: Box<[String]>,
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
            text: self.text.into(),
            context: self.context.into(),
        }
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.snapshot == key.snapshot
            && self.limit == key.limit
            && self.floor == key.floor
            && *self.text == *key.text
            && *self.context == *key.context
    }
}

/// The size of an entry in bytes.
#[derive(Clone)]
pub(super) struct Weight;

impl Weighter<Key, Arc<Outcome>> for Weight {
    fn weight(&self, key: &Key, outcome: &Arc<Outcome>) -> u64 {
        let context = key.context.iter().map(|text| size_of::<String>() + text.len());
        let bytes = OVERHEAD
            + size_of::<Key>()
            + key.text.len()
            + context.sum::<usize>()
            + size_of::<Outcome>()
            + size_of_val(&*outcome.best)
            + outcome.terms.texts.len()
            + size_of_val(&*outcome.terms.terms);
        bytes as u64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cicerone_domain::retrieval::{Query, QueryTerm};

    use super::{BYTES, KeyRef, Outcome, PackedTerms, Ranked, Results, empty};

    /// Asks a question of some 60 characters, and tells whether its result was cached.
    fn is_cached(results: &Results, number: usize) -> bool {
        let text = format!("Question {number} is about as long as one that a person would ask?");
        let query = Query { text, ..Query::default() };
        let key = KeyRef::new(1, &query, 8).unwrap();
        let is_cached = results.get(&key).is_some();
        if !is_cached {
            let terms = PackedTerms::of((0..8).map(|word| ("person", word, 1.0, false)));
            let ranked = Ranked { number: 1, score: 1.0, coverage: 1.0, confidence: 1.0 };
            let outcome = Outcome { best: [ranked; 8].into(), terms, confidence: 1.0, id: None };
            results.insert(key.to_key(), Arc::new(outcome));
        }
        is_cached
    }

    #[test]
    fn ten_thousand_questions_that_come_again_are_cached_even_after_many_others() {
        let results = empty();
        for other in 0..60_000 {
            assert!(!is_cached(&results, other));
        }
        let again = |_| (100_000..110_000).filter(|number| is_cached(&results, *number)).count();
        let counts: Vec<usize> = (0..4).map(again).collect();
        assert!(counts[3] > 9_500, "{counts:?}");
        assert!(results.weight() <= BYTES, "{} bytes", results.weight());
    }

    #[test]
    fn words_are_unpacked_as_they_were() {
        let term = |(word, text): (usize, &str)| QueryTerm {
            text: text.to_owned(),
            weight: word as f32 / 3.0,
            is_context: word.is_multiple_of(2),
            word,
        };
        for texts in [&[][..], &["open"], &["größe", "", "営業", "a"]] {
            let terms: Vec<QueryTerm> = texts.iter().copied().enumerate().map(term).collect();
            let packed = terms.iter().map(|t| (&*t.text, t.word, t.weight, t.is_context));
            assert_eq!(PackedTerms::of(packed).unpacked(), terms);
        }
    }
}
