//! Adds up the scores of a question's terms, one term after the other.
//!
//! The index of an agent is small. Adding up one number for each passage is several times faster than
//! walking all terms side by side, and it shows which words each passage contains.

use std::cell::RefCell;

use super::coverage::Found;
use super::lookup::{Looked, bit, field_factor};
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
    scores: Vec<f32>,
    words: Vec<u64>,
    pieces: Vec<u64>,
    /// The weight of the question's words that each pair's question contains; empty if there are no
    /// pairs.
    asked: Vec<f32>,
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
        self.scores.clear();
        self.scores.resize(numbers, 0.0);
        for bits in [&mut self.words, &mut self.pieces] {
            bits.clear();
            bits.resize(numbers, 0);
        }
        for (index, word) in looked.words.iter().enumerate() {
            let counts = word.messages & QUESTION != 0 && !word.is_compound;
            for place in &word.places {
                add(&mut self.scores, &mut self.words, &place.impacts, place.weight, bit(index));
                if place.is_question && counts {
                    let weight = word.likeness * word.question_weight;
                    self.add_asked(&place.impacts, weight);
                }
            }
        }
        for word in &looked.small_words {
            let weight = word.weight * field_factor(QUESTIONS);
            add(&mut self.scores, &mut self.words, &word.impacts, weight, 0);
            self.add_asked(&word.impacts, word.weight);
        }
        for extra in &looked.extras {
            add(&mut self.scores, &mut self.pieces, &extra.impacts, extra.weight, extra.bit);
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
        for (number, score) in (0_u32..).zip(&self.scores) {
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
            let at = number as usize;
            let of = |bits: &[u64]| bits.get(at).copied().unwrap_or_default();
            let asked = self.asked.get(at).copied().unwrap_or_default();
            Found { words: of(&self.words), pieces: of(&self.pieces), asked }
        };
        let of = |(score, number, is_exact)| {
            Candidate::new(snapshot, number, score, found(number), is_exact)
        };
        let score = |number: u32| self.scores.get(number as usize).copied().unwrap_or_default();
        let exact = exact.iter().map(|number| (score(*number) + EXACT, *number, true));
        let best = best.into_iter().map(|(score, number)| (score, number, false));
        exact.chain(best).map(of).collect()
    }
}

/// Adds the score of a term to the passages that have it, and marks them.
fn add(scores: &mut [f32], bits: &mut [u64], impacts: &[Impact], factor: f32, bit: u64) {
    for impact in impacts {
        let at = impact.number as usize;
        if let (Some(score), Some(bits)) = (scores.get_mut(at), bits.get_mut(at)) {
            *score += factor * impact.value;
            *bits |= bit;
        }
    }
}
