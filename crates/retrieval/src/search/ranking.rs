//! Ranking: BM25 over weighted fields, increased by the share of the question that a passage
//! contains.

mod compounds;
mod coverage;
mod lookup;
mod scoring;
pub(super) mod stored;
mod typing;

use std::borrow::Cow;

use super::question::{QUESTION, Question};
use super::snapshot::Snapshot;
use super::weights::{
    CONFIDENCE, COVERAGE, GRAM_CONFIDENCE, PAIR_CONFIDENCE, QUESTION_COVERAGE, STORED_COVERAGE,
};
pub(super) use lookup::bit;

use coverage::{Found, Measured};
use lookup::{Looked, look_up};
use scoring::with_scratch;

/// The number of best passages, by the scores of their words, whose coverage is measured.
const WINDOW: usize = 64;
/// The number of best passages that decide whether the question is answered.
const LEADING: usize = 2;

#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    /// Its number in its snapshot.
    pub(super) number: u32,
    pub(super) score: f32,
    pub(super) coverage: f32,
    /// How sure it is that the passage answers the question.
    pub(super) confidence: f32,
}

/// A word that contributed to the ranking.
pub(super) struct Counted<'question> {
    /// The forms that were looked for, or found if they are spelled differently.
    pub(super) forms: Cow<'question, [String]>,
    /// The forms as one word with a neighbour.
    pub(super) joined: Vec<String>,
    pub(super) weight: f32,
    /// Whether it is in an earlier message and not in the question.
    pub(super) is_context: bool,
}

/// The result of ranking.
pub(super) struct Ranking<'question> {
    /// The best passages, best first.
    pub(super) best: Vec<Ranked>,
    /// The words that contributed to the ranking.
    pub(super) words: Vec<Counted<'question>>,
    /// How sure it is that the best passages answer the question.
    pub(super) confidence: f32,
}

/// A passage with the words that were found in it.
struct Candidate {
    ranked: Ranked,
    found: Found,
    is_pair: bool,
    is_exact: bool,
}

impl Candidate {
    /// The passage with a number in `snapshot`.
    fn new(snapshot: &Snapshot, number: u32, score: f32, found: Found, is_exact: bool) -> Self {
        let ranked = Ranked { number, score, coverage: 0.0, confidence: 0.0 };
        Self { ranked, found, is_pair: snapshot.content.is_pair(number), is_exact }
    }
}

/// The `limit` passages that fit `question` best.
pub(super) fn rank<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
    limit: usize,
) -> tantivy::Result<Ranking<'question>> {
    let looked = look_up(snapshot, question)?;
    let exact = match question.exact.as_str() {
        "" => Vec::new(),
        key => snapshot.content.exact(key)?,
    };
    let candidates = with_scratch(|scratch| {
        scratch.score(snapshot, &looked);
        scratch.candidates(snapshot, &exact, limit.max(WINDOW))
    });
    let best = best_of(snapshot, candidates, &looked, limit)?;
    let leading = best.iter().take(LEADING).map(|ranked| ranked.confidence);
    Ok(Ranking {
        confidence: leading.fold(0.0, f32::max),
        best,
        words: looked
            .words
            .into_iter()
            .map(|word| Counted {
                forms: word.forms,
                joined: word.joined,
                weight: word.weight,
                is_context: word.messages & QUESTION == 0,
            })
            .collect(),
    })
}

fn best_of(
    snapshot: &Snapshot,
    mut candidates: Vec<Candidate>,
    looked: &Looked<'_>,
    limit: usize,
) -> tantivy::Result<Vec<Ranked>> {
    let by_score = |one: &Candidate, other: &Candidate| {
        other
            .ranked
            .score
            .total_cmp(&one.ranked.score)
            .then_with(|| one.ranked.number.cmp(&other.ranked.number))
    };
    let window = limit.max(WINDOW);
    if candidates.len() > window {
        candidates.select_nth_unstable_by(window, by_score);
        candidates.truncate(window);
    }
    let measured = Measured::new(&looked.words);
    let stored = if candidates.iter().any(|candidate| candidate.is_pair) {
        snapshot.weighed()?
    } else {
        &[]
    };
    for candidate in &mut candidates {
        let coverage = if candidate.is_exact { 1.0 } else { measured.coverage(candidate.found) };
        candidate.ranked.coverage = coverage;
        candidate.ranked.score *= if candidate.is_pair {
            let weight = stored.get(candidate.ranked.number as usize).copied().unwrap_or_default();
            let share =
                |of: f32| if of > 0.0 { (candidate.found.asked / of).min(1.0) } else { 0.0 };
            1.0 - QUESTION_COVERAGE - STORED_COVERAGE
                + QUESTION_COVERAGE * share(looked.asked)
                + STORED_COVERAGE * share(weight)
        } else {
            1.0 - COVERAGE + COVERAGE * coverage
        };
    }
    candidates.sort_by(by_score);
    let grams = looked.words.iter().filter(|word| word.is_gram()).count();
    let is_of_grams = grams * 2 > looked.words.len();
    let best = candidates.into_iter().take(limit).map(|candidate| {
        let Candidate { mut ranked, found, is_exact, is_pair, .. } = candidate;
        let weights = match (is_of_grams, is_pair) {
            (true, _) => GRAM_CONFIDENCE,
            (false, true) => PAIR_CONFIDENCE,
            (false, false) => CONFIDENCE,
        };
        ranked.confidence = if is_exact {
            1.0
        } else {
            measured.confidence(found, ranked.score, weights, snapshot.passages)
        };
        ranked
    });
    Ok(best.collect())
}
