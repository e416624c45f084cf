//! The numbers that ranking and the relevance floor rest on, tuned by `cargo trial eval`.

use super::snapshot::FIELDS;

/// The weight of a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldWeight {
    /// Its share in the score.
    pub(super) weight: f32,
    /// How slowly further occurrences of a word saturate the score.
    pub(super) k1: f32,
    /// How much the length of a field lowers the score of its words, from 0 to 1.
    pub(super) b: f32,
}

/// In the order of [`FIELDS`]: question, title, heading, body, pairs, grams.
pub(super) const WEIGHTS: [FieldWeight; FIELDS] = [
    FieldWeight { weight: 2.0, k1: 1.2, b: 0.6 },
    FieldWeight { weight: 1.0, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 0.5, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 1.0, k1: 1.2, b: 0.7 },
    FieldWeight { weight: 0.5, k1: 1.2, b: 0.5 },
    FieldWeight { weight: 0.2, k1: 1.2, b: 0.7 },
];

/// The weight of two overlapping grams, relative to two neighbouring words.
pub(super) const OVERLAPPING_PAIR: f32 = 0.5;
/// The weight of a single character of a script without spaces, relative to a piece of a word.
pub(super) const CHARACTER: f32 = 2.0;

/// The weight of words in the message before a follow-up, relative to those of the follow-up.
pub(super) const CONTEXT: f32 = 0.4;
/// The weight of each older message of the context, relative to the next one.
pub(super) const CONTEXT_DECAY: f32 = 0.5;

/// The bonus of a pair whose question is exactly the one that is asked: more than any score.
pub(super) const EXACT: f32 = 1_000.0;

/// How much coverage of the question raises the score of running text.
pub(super) const COVERAGE: f32 = 0.45;
/// The same for a pair, in which the question counts most.
pub(super) const PAIR_COVERAGE: f32 = 0.0;

/// A passage with at least this share of the pieces of a word counts as having it in another spelling.
pub(super) const SIMILAR_PIECES: f32 = 0.7;
/// The weight of such a word, relative to one that is found as it is.
pub(super) const SIMILAR: f32 = 0.8;

/// The smallest number of passages that coverage is measured with.
pub(super) const FEWEST_PASSAGES: u64 = 100;

/// The relevance floor: the least coverage of a relevant passage.
pub(super) const FLOOR: f32 = 0.42;
/// The same for scripts without spaces, in which grams that span two words are often missing.
pub(super) const GRAM_FLOOR: f32 = 0.34;
