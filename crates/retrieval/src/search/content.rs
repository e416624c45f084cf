//! The content that a snapshot searches: the segments of an index on the disk, or an index in
//! memory.

mod memory;
mod packed;
mod segments;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use cicerone_language::Language;
use tantivy_fst::Automaton;

use super::impacts::Impacts;
use super::weights::WEIGHTS;
use crate::store::{ANSWERS, NO_LANGUAGE, QUESTION_GRAMS, QUESTIONS, Record, SCORED};

pub(crate) use memory::InMemory;
pub(super) use segments::Segments;

/// The most languages in which a question is analysed.
const LANGUAGES: usize = 8;

pub(super) enum Content {
    Segments(Segments),
    Memory(Box<InMemory>),
}

impl Content {
    /// The number of passages.
    pub(super) fn passages(&self) -> u64 {
        match self {
            Self::Segments(segments) => segments.passages(),
            Self::Memory(memory) => memory.passages(),
        }
    }

    /// How many of them are question/answer pairs.
    pub(super) fn question_answer_pairs(&self) -> u64 {
        match self {
            Self::Segments(segments) => segments.question_answer_pairs(),
            Self::Memory(memory) => memory.question_answer_pairs(),
        }
    }

    /// The languages in which most passages were analysed, most frequent first; `None` for an unknown one. A question is
    /// analysed in each of them.
    pub(super) fn languages(&self) -> tantivy::Result<Vec<Option<Language>>> {
        let codes = match self {
            Self::Segments(segments) => segments.languages()?,
            Self::Memory(memory) => memory.languages(),
        };
        let mut passages: BTreeMap<String, u64> = BTreeMap::new();
        for (code, count) in codes {
            *passages.entry(code).or_default() += u64::from(count);
        }
        let mut frequent: Vec<(String, u64)> = passages.into_iter().collect();
        frequent.sort_by_key(|(_, count)| Reverse(*count));
        frequent.truncate(LANGUAGES);
        let language = |(code, _): (String, u64)| {
            if code == NO_LANGUAGE { None } else { Language::from_code(&code) }
        };
        let mut languages: Vec<Option<Language>> = frequent.into_iter().map(language).collect();
        languages.dedup();
        Ok(languages)
    }

    /// The number of passage numbers, including those of deleted passages.
    pub(super) fn numbers(&self) -> u32 {
        match self {
            Self::Segments(segments) => segments.numbers(),
            Self::Memory(memory) => memory.numbers(),
        }
    }

    /// Whether a passage is a question/answer pair.
    pub(super) fn is_pair(&self, number: u32) -> bool {
        match self {
            Self::Segments(segments) => segments.is_pair(number),
            Self::Memory(memory) => memory.is_pair(number),
        }
    }

    /// The contributions of `term` to the scores of the passages that have it in a field.
    pub(super) fn impacts(&self, field: usize, term: &str) -> tantivy::Result<Impacts> {
        match self {
            Self::Segments(segments) => segments.impacts(field, term),
            Self::Memory(memory) => Ok(memory.impacts(field, term)),
        }
    }

    /// Whether a field with whole words has `word`, deleted passages included. The answer is not cached, so that looking for
    /// words that are rarely there does not displace those that are.
    pub(super) fn has_word(&self, word: &str) -> tantivy::Result<bool> {
        match self {
            Self::Segments(segments) => segments.has_word(word),
            Self::Memory(memory) => Ok(memory.has_word(word)),
        }
    }

    /// The numbers of the pairs whose question has this key.
    pub(super) fn exact(&self, key: &str) -> tantivy::Result<Vec<u32>> {
        match self {
            Self::Segments(segments) => segments.exact(key),
            Self::Memory(memory) => Ok(memory.exact(key)),
        }
    }

    /// Calls `each` with the words of a field that `automaton` accepts, and the number of passages
    /// that have them. A word may be passed several times.
    pub(super) fn matching<A>(
        &self,
        field: usize,
        automaton: &A,
        each: impl FnMut(&str, u32),
    ) -> tantivy::Result<()>
    where
        A: Automaton,
        A::State: Clone,
    {
        match self {
            Self::Segments(segments) => segments.matching(field, automaton, each),
            Self::Memory(memory) => {
                memory.matching(field, automaton, each);
                Ok(())
            }
        }
    }

    /// Calls `each` with every word of the questions of pairs, and the numbers of the passages that
    /// have it. A word may be passed several times.
    pub(super) fn question_words(&self, each: impl FnMut(&[u8], &[u32])) -> tantivy::Result<()> {
        match self {
            Self::Segments(segments) => segments.question_words(each),
            Self::Memory(memory) => {
                memory.question_words(each);
                Ok(())
            }
        }
    }

    /// The passage with a number.
    pub(super) fn record(&self, number: u32) -> tantivy::Result<Arc<Record>> {
        match self {
            Self::Segments(segments) => segments.record(number),
            Self::Memory(memory) => memory.record(number),
        }
    }
}

/// The contribution of `frequency` occurrences of a term to a passage's score, before the rarity of
/// the term and the weight of the field are applied: the saturated frequency of BM25 (Robertson and
/// Zaragoza, "The Probabilistic Relevance Framework", 2009). `norm` is that of the passage's
/// length.
fn saturated(frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency / (frequency + norm)
}

/// `k1 · (1 - b + b · length / average length)` for each length code, in a field with `tokens`
/// tokens that `passages` passages have.
fn norms(field: usize, tokens: u64, passages: u64) -> [f32; 256] {
    let Some(weight) = WEIGHTS.get(field) else { return [0.0; 256] };
    let average = (tokens as f32 / passages.max(1) as f32).max(1.0);
    let mut code = 0_u8;
    [(); 256].map(|()| {
        let length = tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(code) as f32;
        code = code.wrapping_add(1);
        weight.k1 * (1.0 - weight.b + weight.b * length / average)
    })
}

/// How many passages can have the field.
fn passages_with(field: usize, passages: u64, question_answer_pairs: u64) -> u64 {
    match field {
        QUESTIONS | ANSWERS | QUESTION_GRAMS => question_answer_pairs,
        _ => passages - question_answer_pairs,
    }
}

/// An array with one value for each scored field, computed in order.
fn for_each_field<T>(
    mut make: impl FnMut(usize) -> tantivy::Result<T>,
) -> tantivy::Result<[T; SCORED]> {
    let mut made = Vec::with_capacity(SCORED);
    for field in 0..SCORED {
        made.push(make(field)?);
    }
    made.try_into()
        .map_err(|_| tantivy::TantivyError::InternalError("a field is missing".to_owned()))
}
