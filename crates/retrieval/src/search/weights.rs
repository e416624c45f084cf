//! The numbers behind ranking and the relevance floor, tuned by `cargo trial eval`.

use cicerone_domain::agent::AnswerFloor;

use crate::store::SCORED;

#[derive(Debug, Clone, Copy)]
pub(super) struct FieldWeight {
    /// Its share of the score.
    pub(super) weight: f32,
    /// How slowly further occurrences of a word saturate the score.
    pub(super) k1: f32,
    /// How much the length of a field lowers the score of its words, from 0 to 1.
    pub(super) b: f32,
}

/// In the order of the scored fields: question, title, heading, defined terms, body, answer, pairs, grams, grams of questions.
pub(super) const WEIGHTS: [FieldWeight; SCORED] = [
    FieldWeight { weight: 1.5, k1: 3.0, b: 0.65 },
    FieldWeight { weight: 1.0, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 0.5, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 0.7, k1: 1.2, b: 0.4 },
    FieldWeight { weight: 1.0, k1: 1.2, b: 0.7 },
    FieldWeight { weight: 1.15, k1: 1.2, b: 0.9 },
    FieldWeight { weight: 0.5, k1: 1.2, b: 0.5 },
    FieldWeight { weight: 0.2, k1: 1.2, b: 0.7 },
    FieldWeight { weight: 0.07, k1: 1.2, b: 0.7 },
];

/// The weight of two overlapping grams, relative to two neighbouring words.
pub(super) const OVERLAPPING_PAIR: f32 = 0.5;
/// The weight of a single character of a script without spaces, relative to a piece of a word.
pub(super) const CHARACTER: f32 = 2.0;

/// The weight of words in the message before a follow-up, relative to those of the follow-up.
pub(super) const CONTEXT: f32 = 0.4;
/// The same, if the follow-up has a word that stands for something that was said, such as "it".
pub(super) const REFERRED: f32 = 0.7;
/// The weight of each older message of the context, relative to the next one.
pub(super) const CONTEXT_DECAY: f32 = 0.5;

/// The bonus of a pair whose question is exactly the one that was asked: more than any score.
pub(super) const EXACT: f32 = 1_000.0;

/// How much coverage of the question raises the score of running text.
pub(super) const COVERAGE: f32 = 0.45;
/// How much the score of a pair depends on the share of the question that its question covers.
pub(super) const QUESTION_COVERAGE: f32 = 0.5;
/// How much it depends on the share of its question that was asked.
pub(super) const STORED_COVERAGE: f32 = 0.2;
/// The weight of a small word, such as "what", in the questions of pairs, relative to another word of the same rarity.
pub(super) const SMALL_WORD: f32 = 0.5;

/// How much a word such as "make" counts for whether the question is answered, relative to another word of the same rarity.
pub(super) const LIGHT_WORD: f32 = 0.35;

/// The factor for a word that only says which measure is asked for, such as "late" in "how late".
pub(super) const MEASURE: f32 = 0.4;

/// The factor for a passage that defines the subject of a question, or has a section about it.
pub(super) const DEFINES: f32 = 1.5;

/// A passage with at least this share of the pieces of a word counts as containing it in another
/// spelling.
pub(super) const SIMILAR_PIECES: f32 = 0.7;
/// The weight of such a word, relative to one that is found unchanged.
pub(super) const SIMILAR: f32 = 0.8;

/// The smallest number of passages for which coverage is computed; missing ones are assumed.
pub(super) const FEWEST_PASSAGES: u64 = 100;

/// The smallest number of pairs for which the rarity of words in their questions is computed;
/// missing ones are assumed.
pub(super) const FEWEST_QUESTIONS: u64 = 30;

/// The weights behind the confidence in a passage: a logistic regression, fitted by `cargo trial
/// eval silence`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Confidence {
    pub(super) base: f32,
    /// The share of the question's weight that the passage contains.
    pub(super) coverage: f32,
    /// The score of the passage, relative to the weight of the question.
    pub(super) strength: f32,
    /// The share of the heaviest word that it lacks.
    pub(super) missing: f32,
    /// The share of the names and numbers that it lacks.
    pub(super) missing_names: f32,
}

/// How much a name that no passage has counts as missing, relative to one that other passages have.
pub(super) const UNKNOWN_NAME: f32 = 2.0;

/// For text in scripts with spaces.
pub(super) const CONFIDENCE: Confidence =
    Confidence { base: -4.2, coverage: 7.6, strength: 1.3, missing: 3.1, missing_names: 3.6 };
/// Added to the base if there are hardly any passages: the rarity of the missing words is then
/// assumed rather than measured.
pub(super) const FEW: f32 = 1.2;
/// For pairs, whose questions are paraphrased more often than texts are.
pub(super) const PAIR_CONFIDENCE: Confidence = Confidence { base: -3.5, ..CONFIDENCE };
/// For scripts without spaces, in which grams that span two words are often missing.
pub(super) const GRAM_CONFIDENCE: Confidence =
    Confidence { base: -3.9, coverage: 4.2, strength: 7.4, missing: 0.0, missing_names: 0.0 };
/// The relevance floor: the least confidence in the passages of a reply.
pub(super) const fn floor(floor: AnswerFloor) -> f32 {
    match floor {
        AnswerFloor::Cautious => 0.5,
        AnswerFloor::Balanced => 0.265,
        AnswerFloor::Eager => 0.1,
    }
}
