//! Adds up the scores of a question's terms, one term after the other.
//!
//! The index of an agent is small. Adding up one number for each passage is several times faster than
//! walking all terms side by side, and it shows which words each passage contains.

use std::cell::RefCell;

use super::coverage::Found;
use super::lookup::{Looked, LookedWord, bit, field_factor};
use super::{Candidate, Impact};
use crate::search::question::QUESTION;
use crate::search::snapshot::Snapshot;
use crate::search::weights::EXACT;
use crate::store::QUESTIONS;

/// This many times the wanted number of candidates are kept before the worse ones are dropped.
const SLACK: usize = 4;

/// The score of each passage of an index, and what was found in it.
#[derive(Default)]
pub(super) struct Scratch {
    passages: Vec<Scored>,
    /// The weight of the question's words that each pair's question contains; empty if there are no
    /// pairs.
    asked: Vec<f32>,
}

/// The score of a passage, and the words and the pieces of words that it has, one bit each: side by side, because they are
/// written together.
#[derive(Clone, Copy, Default)]
struct Scored {
    score: f32,
    words: u64,
    pieces: u64,
}

/// Lends the scratch memory of this thread.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with_borrow_mut(work)
}

impl Scratch {
    /// Scores every passage of an index that has this many passage numbers.
    pub(super) fn score(&mut self, snapshot: &Snapshot, looked: &Looked<'_>) {
        let numbers = snapshot.content.numbers() as usize;
        self.asked.clear();
        self.asked.resize(if snapshot.question_answer_pairs > 0 { numbers } else { 0 }, 0.0);
        self.passages.clear();
        self.passages.resize(numbers, Scored::default());
        for (index, word) in looked.words.iter().enumerate() {
            let bit = bit(index);
            let counts = word.messages & QUESTION != 0 && !word.is_compound;
            for place in &word.places {
                self.add(&place.impacts, place.weight, |passage| passage.words |= bit);
                if place.is_question && counts {
                    let weight = word.likeness * word.question_weight;
                    self.add_asked(&place.impacts, weight);
                }
            }
            self.add_joined(word, bit);
        }
        for word in &looked.small_words {
            let weight = word.weight * field_factor(QUESTIONS);
            self.add(&word.impacts, weight, |_| ());
            self.add_asked(&word.impacts, word.weight);
        }
        for extra in &looked.extras {
            self.add(&extra.impacts, extra.weight, |passage| passage.pieces |= extra.bit);
        }
    }

    /// Adds the score of a term to the passages that have it, and marks them.
    fn add(&mut self, impacts: &[Impact], factor: f32, mark: impl Fn(&mut Scored)) {
        for impact in impacts {
            if let Some(passage) = self.passages.get_mut(impact.number as usize) {
                passage.score += factor * impact.value;
                mark(passage);
            }
        }
    }

    /// Adds the score of a word's joined forms to the passages that lack the word itself.
    fn add_joined(&mut self, word: &LookedWord<'_>, bit: u64) {
        for place in &word.joined_places {
            for impact in &*place.impacts {
                if let Some(passage) = self.passages.get_mut(impact.number as usize)
                    && passage.words & bit == 0
                {
                    passage.score += place.weight * impact.value;
                }
            }
        }
        for impact in word.joined_places.iter().flat_map(|place| &*place.impacts) {
            if let Some(passage) = self.passages.get_mut(impact.number as usize) {
                passage.words |= bit;
            }
        }
    }

    fn add_asked(&mut self, impacts: &[Impact], weight: f32) {
        for impact in impacts {
            if let Some(asked) = self.asked.get_mut(impact.number as usize) {
                *asked += weight;
            }
        }
    }

    /// The passages with the highest scores, at least `wanted`, and those whose question is exactly
    /// the one that was asked, in no particular order.
    pub(super) fn candidates(
        &self,
        snapshot: &Snapshot,
        exact: &[u32],
        wanted: usize,
    ) -> Vec<Candidate> {
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(wanted * SLACK);
        let mut least = 0.0;
        for (number, Scored { score, .. }) in (0_u32..).zip(&self.passages) {
            if *score > least {
                best.push((*score, number));
                if best.len() == wanted * SLACK {
                    best.select_nth_unstable_by(wanted, |(one, first), (other, second)| {
                        other.total_cmp(one).then(first.cmp(second))
                    });
                    best.truncate(wanted);
                    // Of equal scores the first one wins, so a later one must be higher.
                    least = best.iter().map(|(score, _)| *score).fold(f32::INFINITY, f32::min);
                }
            }
        }
        best.retain(|(_, number)| !exact.contains(number));
        let found = |number: u32| {
            let Scored { words, pieces, .. } = self.passage(number);
            let asked = self.asked.get(number as usize).copied().unwrap_or_default();
            Found { words, pieces, asked }
        };
        let of = |(score, number, is_exact)| {
            Candidate::new(snapshot, number, score, found(number), is_exact)
        };
        let exact = exact.iter().map(|number| (self.passage(*number).score + EXACT, *number, true));
        let best = best.into_iter().map(|(score, number)| (score, number, false));
        exact.chain(best).map(of).collect()
    }

    fn passage(&self, number: u32) -> Scored {
        self.passages.get(number as usize).copied().unwrap_or_default()
    }
}
