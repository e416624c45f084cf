//! Adds up the scores of a question's terms, one term after the other.
//!
//! The index of an agent is small. Adding up one number for each passage is several times faster than
//! walking all terms side by side, and it shows which words each passage contains.

use std::cell::RefCell;

use super::Candidate;
use super::coverage::Found;
use super::lookup::{Looked, LookedWord, bit, field_factor};
use crate::search::impacts::{Impacts, Weighed};
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
    /// The words that each passage has, one bit each.
    words: Vec<u64>,
    /// The pieces of words that each passage has, one bit each.
    pieces: Vec<u64>,
    /// The weight of the question's words that each pair's question contains; empty if there are no
    /// pairs.
    asked: Vec<f32>,
    weighed: Weighed,
}

/// What the bits of marks are for.
#[derive(Clone, Copy)]
enum Kind {
    Words,
    Pieces,
}

/// Lends the scratch memory of this thread.
pub(super) fn with_scratch<T>(work: impl FnOnce(&mut Scratch) -> T) -> T {
    thread_local! {
        static SCRATCH: RefCell<Scratch> = RefCell::default();
    }
    SCRATCH.with_borrow_mut(work)
}

impl Scratch {
    /// Scores every passage of an index.
    pub(super) fn score(&mut self, snapshot: &Snapshot, looked: &Looked<'_>) {
        let numbers = snapshot.content.numbers() as usize;
        self.asked.clear();
        self.asked.resize(if snapshot.question_answer_pairs > 0 { numbers } else { 0 }, 0.0);
        self.scores.clear();
        self.scores.resize(numbers, 0.0);
        for marks in [&mut self.words, &mut self.pieces] {
            marks.clear();
            marks.resize(numbers, 0);
        }
        for (index, word) in looked.words.iter().enumerate() {
            let bit = bit(index);
            let counts = word.messages & QUESTION != 0 && !word.is_compound;
            for place in &word.places {
                self.add(&place.impacts, place.weight, Kind::Words, bit);
                if place.is_question && counts {
                    let weight = word.likeness * word.question_weight;
                    self.add_asked(&place.impacts, weight);
                }
            }
            self.add_joined(word, bit);
        }
        for word in &looked.small_words {
            let weight = word.weight * field_factor(QUESTIONS);
            self.add(&word.impacts, weight, Kind::Words, 0);
            self.add_asked(&word.impacts, word.weight);
        }
        for extra in &looked.extras {
            self.add(&extra.impacts, extra.weight, Kind::Pieces, extra.bit);
        }
    }

    /// Adds the score of a term to the passages that have it, and sets a bit of their marks.
    fn add(&mut self, impacts: &Impacts, factor: f32, kind: Kind, bit: u64) {
        let scores = self.scores.as_mut_slice();
        let marks = match kind {
            Kind::Words => self.words.as_mut_slice(),
            Kind::Pieces => self.pieces.as_mut_slice(),
        };
        if bit == 0 {
            impacts.for_each_weighed(factor, &mut self.weighed, |number, value| {
                if let Some(score) = scores.get_mut(number) {
                    *score += value;
                }
            });
            return;
        }
        impacts.for_each_weighed(factor, &mut self.weighed, |number, value| {
            if let (Some(score), Some(marks)) = (scores.get_mut(number), marks.get_mut(number)) {
                *score += value;
                *marks |= bit;
            }
        });
    }

    /// Adds the score of a word's joined forms to the passages that lack the word itself.
    fn add_joined(&mut self, word: &LookedWord<'_>, bit: u64) {
        for place in &word.joined_places {
            place.impacts.for_each_weighed(place.weight, &mut self.weighed, |number, value| {
                if let (Some(score), Some(words)) =
                    (self.scores.get_mut(number), self.words.get(number))
                    && words & bit == 0
                {
                    *score += value;
                }
            });
        }
        for number in word.joined_places.iter().flat_map(|place| place.impacts.numbers()) {
            if let Some(words) = self.words.get_mut(number as usize) {
                *words |= bit;
            }
        }
    }

    fn add_asked(&mut self, impacts: &Impacts, weight: f32) {
        if self.asked.is_empty() {
            return;
        }
        for number in impacts.numbers() {
            if let Some(asked) = self.asked.get_mut(number as usize) {
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
            let marks = |all: &[u64]| all.get(at).copied().unwrap_or_default();
            let asked = self.asked.get(at).copied().unwrap_or_default();
            Found { words: marks(&self.words), pieces: marks(&self.pieces), asked }
        };
        let of = |(score, number, is_exact)| {
            Candidate::new(snapshot, number, score, found(number), is_exact)
        };
        let exact = exact.iter().map(|number| {
            let score = self.scores.get(*number as usize).copied().unwrap_or_default();
            (score + EXACT, *number, true)
        });
        let best = best.into_iter().map(|(score, number)| (score, number, false));
        exact.chain(best).map(of).collect()
    }
}
