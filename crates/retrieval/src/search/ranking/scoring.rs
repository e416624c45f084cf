//! Adding up the scores of the terms of a question, one term after the other.
//!
//! The index of an agent is small. Adding up one number for each passage is several times faster than
//! walking all terms side by side, and it shows which words each passage contains.

use std::cell::RefCell;

use super::coverage::Found;
use super::lookup::{Looked, bit};
use super::{Candidate, Impact};
use crate::search::snapshot::Snapshot;
use crate::search::weights::EXACT;

/// This many times the wanted number of candidates are kept before the worse ones are dropped.
const SLACK: usize = 4;

/// The score of each passage of an index, and what was found in it.
#[derive(Default)]
pub(super) struct Scratch {
    scores: Vec<f32>,
    words: Vec<u64>,
    pieces: Vec<u64>,
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
    pub(super) fn score(&mut self, numbers: u32, looked: &Looked<'_>) {
        let numbers = numbers as usize;
        self.scores.clear();
        self.scores.resize(numbers, 0.0);
        for bits in [&mut self.words, &mut self.pieces] {
            bits.clear();
            bits.resize(numbers, 0);
        }
        for (index, word) in looked.words.iter().enumerate() {
            for (factor, impacts) in &word.places {
                let weight = word.weight * factor;
                add(&mut self.scores, &mut self.words, impacts, weight, bit(index));
            }
        }
        for extra in &looked.extras {
            add(&mut self.scores, &mut self.pieces, &extra.impacts, extra.weight, extra.bit);
        }
    }

    /// At least the `wanted` passages with the highest scores, and those whose question is exactly the one
    /// that was asked, in no order.
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
            Found { words: of(&self.words), pieces: of(&self.pieces) }
        };
        let of = |(score, number, is_exact)| {
            Candidate::new(snapshot, number, score, found(number), is_exact)
        };
        let score = |number: u32| self.scores.get(number as usize).copied().unwrap_or_default();
        let exact = exact.iter().map(|number| (score(*number) + EXACT, *number, true));
        let best = best.into_iter().map(|(score, number)| (score, number, false));
        exact.chain(best).filter_map(of).collect()
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
