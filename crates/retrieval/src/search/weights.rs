//! The numbers that ranking and the relevance floor rest on, tuned by `cargo xtask eval`.

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
    FieldWeight { weight: 1.0, k1: 1.2, b: 0.6 },
    FieldWeight { weight: 0.5, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 0.5, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 1.0, k1: 1.2, b: 0.7 },
    FieldWeight { weight: 0.4, k1: 1.2, b: 0.5 },
    FieldWeight { weight: 0.3, k1: 1.2, b: 0.7 },
];

/// What the words just before a follow-up weigh against its own.
pub(super) const CONTEXT: f32 = 0.4;
/// What each older message of the context weighs against the one after it.
pub(super) const CONTEXT_DECAY: f32 = 0.5;

/// What a pair gains whose question is the very one that is asked: more than any other can have.
pub(super) const EXACT: f32 = 1_000.0;

/// How far the share of the question that is found raises the score.
pub(super) const COVERAGE: f32 = 0.5;

/// The share of the question's weight that a relevant passage contains.
pub(super) const FLOOR: f32 = 0.5;
