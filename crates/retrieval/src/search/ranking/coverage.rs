//! How much of the question a passage contains, by the rarity of the words.

use super::lookup::LookedWord;
use crate::search::question::QUESTION;
use crate::search::weights::{
    Confidence, FEW, FEWEST_PASSAGES, SIMILAR, SIMILAR_PIECES, UNKNOWN_NAME,
};

/// The words and pieces of the question that a passage contains, one bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) words: u64,
    pub(super) pieces: u64,
    /// The weight of the question's words that the question of a pair contains.
    pub(super) asked: f32,
}

/// The words that overlap one side of a gram.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overlap {
    /// Content words, one bit each.
    pub(super) bits: u64,
    /// Whether a stop word overlaps it.
    pub(super) has_stop_word: bool,
}

impl Overlap {
    fn is_found(self, words: u64) -> bool {
        self.has_stop_word || self.bits & words != 0
    }
}

/// The words for which coverage is measured: those of the question or, if these do not name a subject, together with those of
/// each earlier message in turn. Stop words do not count, and a compound counts no more than its parts, unless it is the
/// number of a model that no passage has.
pub(super) struct Measured<'looked> {
    messages: Vec<Vec<(usize, &'looked LookedWord<'looked>)>>,
}

impl<'looked> Measured<'looked> {
    pub(super) fn new(words: &'looked [LookedWord<'looked>]) -> Self {
        let of = |messages: u8| -> Vec<(usize, &LookedWord<'_>)> {
            let stands_in = |word: &LookedWord<'_>| {
                let is_told = !word.is_compound || word.is_unknown_name && word.is_model();
                word.messages & messages != 0 && !word.is_stop_word && is_told
            };
            words.iter().enumerate().filter(|(_, word)| stands_in(word)).collect()
        };
        let own = of(QUESTION);
        let earlier = (1..u8::BITS).map(|number| QUESTION << number);
        let earlier = || earlier.clone().filter(|message| !of(*message).is_empty());
        // "Which days is he in?" says what is asked for, but not of whom.
        let names_subject = own.iter().any(|(_, word)| word.importance >= 1.0);
        let messages = if names_subject || earlier().next().is_none() {
            vec![own]
        } else {
            earlier().map(|message| of(QUESTION | message)).collect()
        };
        Self { messages }
    }

    /// The share of the weight of all words that the words in `found` have, from 0 to 1.
    pub(super) fn coverage(&self, found: Found) -> f32 {
        self.messages
            .iter()
            .filter(|words| !words.is_empty())
            .map(|words| {
                let total: f32 = words.iter().map(|(_, word)| word.share).sum();
                let share = |(number, word): &(usize, &LookedWord<'_>)| {
                    word.share * share_found(found, *number, word)
                };
                (words.iter().map(share).sum::<f32>() / total).min(1.0)
            })
            .fold(0.0, f32::max)
    }
}

/// The evidence that a passage answers the question.
#[derive(Debug, Clone, Copy)]
struct Evidence {
    /// The share of the question's weight that it has.
    coverage: f32,
    /// The share of the heaviest word that it lacks.
    missing: f32,
    /// The share of the names and numbers that it lacks.
    missing_names: f32,
    /// Its score, relative to the weight of the question.
    strength: f32,
}

impl Evidence {
    /// A logistic regression, fitted on questions with and without an answer; docs/retrieval.md has
    /// the figures.
    fn confidence(self, weights: Confidence) -> f32 {
        let logit =
            weights.base + weights.coverage * self.coverage + weights.strength * self.strength
                - weights.missing * self.missing
                - weights.missing_names * self.missing_names;
        1.0 / (1.0 + (-logit).exp())
    }
}

impl Measured<'_> {
    /// How sure it is that a passage with these words and this score answers the question, from 0 to 1.
    pub(super) fn confidence(
        &self,
        found: Found,
        score: f32,
        weights: Confidence,
        passages: u64,
    ) -> f32 {
        let few = 1.0 - (passages as f32 / FEWEST_PASSAGES as f32).min(1.0);
        let weights = Confidence { base: weights.base + FEW * few, ..weights };
        let messages = self.messages.iter().filter(|words| !words.is_empty());
        let evidence = messages.map(|words| {
            let share = |word: &LookedWord<'_>| word.importance * word.share;
            let total: f32 = words.iter().map(|(_, word)| share(word)).sum();
            let mut evidence =
                Evidence { coverage: 0.0, missing: 0.0, missing_names: 0.0, strength: 0.0 };
            // The score uses the rarity among the actual passages, the shares that among assumed
            // further ones.
            let (mut shares, mut rarities, mut all) = (0.0, 0.0, 0.0);
            for (number, word) in words {
                let has = share_found(found, *number, word);
                let missing = share(word) * (1.0 - has).max(0.0) / total;
                evidence.coverage += share(word) * has / total;
                evidence.missing = missing.max(evidence.missing);
                let factor = if word.is_unknown_name { UNKNOWN_NAME } else { 1.0 };
                evidence.missing_names += if word.is_name { factor * missing } else { 0.0 };
                all += word.share;
                shares += word.share * has;
                rarities += word.weight * has;
            }
            let scale = if rarities > 0.0 { shares / rarities } else { 1.0 };
            evidence.strength = score * scale / all;
            evidence.confidence(weights)
        });
        evidence.fold(0.0, f32::max)
    }
}

/// 1 for a word that is found, or a gram that the words on both sides replace; less for a word that is
/// found in another spelling; otherwise 0.
fn share_found(found: Found, number: usize, word: &LookedWord<'_>) -> f32 {
    let is_bridged = (word.before.bits | word.after.bits) & found.words != 0
        && word.before.is_found(found.words)
        && word.after.is_found(found.words);
    if found.words & (1 << number) != 0 {
        return word.likeness;
    }
    if is_bridged {
        return 1.0;
    }
    let pieces = word.pieces.count_ones();
    let share = (word.pieces & found.pieces).count_ones() as f32 / pieces.max(1) as f32;
    if pieces >= 2 && share >= SIMILAR_PIECES { SIMILAR * share } else { 0.0 }
}
