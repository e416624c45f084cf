//! How much of the question a passage contains, by the rarity of the words.

use super::lookup::LookedWord;
use crate::search::weights::{SIMILAR, SIMILAR_PIECES};

/// The bits of the words and pieces that a passage contains.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) words: u64,
    pub(super) pieces: u64,
}

/// What overlaps one side of a gram.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Overlap {
    /// The bits of the words that do.
    pub(super) bits: u64,
    /// Whether a stop word does.
    pub(super) has_stop_word: bool,
}

impl Overlap {
    fn is_found(self, words: u64) -> bool {
        self.has_stop_word || self.bits & words != 0
    }
}

/// The weight of all words together; a whole weighs what its parts do.
pub(super) fn weight_of(words: &[LookedWord<'_>]) -> f32 {
    words.iter().filter(|word| !word.is_compound).map(|word| word.weight).sum()
}

/// The weight of the words that `found` has.
pub(super) fn weight_found(found: Found, words: &[LookedWord<'_>]) -> f32 {
    words
        .iter()
        .enumerate()
        .filter(|(_, word)| !word.is_compound)
        .map(|(number, word)| word.weight * share_found(found, number, word))
        .sum()
}

/// 1 for a word that is there, or a gram that both its sides stand in for; less for one that is
/// there in another spelling; else 0.
fn share_found(found: Found, number: usize, word: &LookedWord<'_>) -> f32 {
    let is_bridged = (word.before.bits | word.after.bits) & found.words != 0
        && word.before.is_found(found.words)
        && word.after.is_found(found.words);
    if found.words & (1 << number) != 0 || is_bridged {
        return 1.0;
    }
    let pieces = word.pieces.count_ones();
    let share = (word.pieces & found.pieces).count_ones() as f32 / pieces.max(1) as f32;
    if pieces >= 2 && share >= SIMILAR_PIECES { SIMILAR * share } else { 0.0 }
}
