//! The numbers that ranking and the relevance floor rest on, tuned by `cargo trial eval`.

use super::snapshot::FIELDS;

/// How a field counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldWeight {
    /// Its share in the score.
    pub(super) weight: f32,
    /// How slowly further occurrences of a word add to the score.
    pub(super) k1: f32,
    /// How much a long field counts against its words, 0 to 1.
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

/// What two overlapping grams weigh against two words that follow each other.
pub(super) const OVERLAPPING_PAIR: f32 = 0.5;
/// What a single character of a script without spaces weighs against a piece of a word.
pub(super) const CHARACTER: f32 = 2.0;

/// What the words just before a follow-up weigh against its own.
pub(super) const CONTEXT: f32 = 0.4;
/// What each older message of the context weighs against the one after it.
pub(super) const CONTEXT_DECAY: f32 = 0.5;

/// What a pair gains whose question is the very one that is asked: more than any other can have.
pub(super) const EXACT: f32 = 1_000.0;

/// How far the share of the question that is found raises the score of running text.
pub(super) const COVERAGE: f32 = 0.45;
/// The same for a pair, whose question counts most.
pub(super) const PAIR_COVERAGE: f32 = 0.0;

/// The share of a word's pieces from which a passage is taken to have it in another spelling.
pub(super) const SIMILAR_PIECES: f32 = 0.7;
/// What such a word counts against one that is there as it is.
pub(super) const SIMILAR: f32 = 0.8;

/// Passages that a word's share of the question is measured by at the least.
pub(super) const FEWEST_PASSAGES: u64 = 100;

/// The share of the question's weight that a relevant passage contains.
pub(super) const FLOOR: f32 = 0.42;
/// The same where words are not told apart and grams that span two of them are lacking.
pub(super) const GRAM_FLOOR: f32 = 0.34;
