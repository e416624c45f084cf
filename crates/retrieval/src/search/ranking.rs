//! Ranking: BM25 over weighted fields, raised by how much of the question a passage contains.

mod coverage;
mod lookup;
mod scoring;

use tantivy::schema::IndexRecordOption;

use super::question::Question;
use super::snapshot::{Segment, Snapshot};
use super::weights::{COVERAGE, EXACT, PAIR_COVERAGE};
pub(super) use lookup::bit;

use coverage::{Found, Measured};
use lookup::{Looked, look_up};
use scoring::{Scratch, with_scratch};

/// Passages, best by their words, that are weighed by coverage too.
const WINDOW: usize = 64;

/// A passage that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub(super) segment: u32,
    pub(super) document: u32,
    pub(super) score: f32,
    pub(super) coverage: f32,
}

/// What ranking gave.
pub(super) struct Ranking {
    /// The best, best first.
    pub(super) best: Vec<Ranked>,
    /// The words that counted: their forms and their weight.
    pub(super) words: Vec<(Vec<String>, f32)>,
    /// Whether most of the question is grams of a script without spaces.
    pub(super) is_of_grams: bool,
}

/// A passage with what was found in it.
struct Candidate {
    ranked: Ranked,
    found: Found,
    is_pair: bool,
    is_exact: bool,
}

/// The `limit` passages that fit `question` best.
pub(super) fn rank(
    snapshot: &Snapshot,
    question: &Question,
    limit: usize,
) -> tantivy::Result<Ranking> {
    let looked = look_up(snapshot, question)?;
    let mut candidates = Vec::new();
    for (number, segment) in snapshot.segments.iter().enumerate() {
        let exact = exact_matches(segment, &question.exact)?;
        with_scratch(|scratch| {
            scratch.score(segment, number, &looked)?;
            collect(scratch, segment, number, &exact, &mut candidates);
            tantivy::Result::Ok(())
        })?;
    }
    let best = best_of(candidates, &looked, limit);
    let grams = looked.words.iter().filter(|word| word.is_gram()).count();
    Ok(Ranking {
        best,
        is_of_grams: grams * 2 > looked.words.len(),
        words: looked.words.into_iter().map(|word| (word.forms.to_vec(), word.weight)).collect(),
    })
}

/// The pairs whose question is the very one that is asked.
fn exact_matches(segment: &Segment, key: &str) -> tantivy::Result<Vec<u32>> {
    let mut documents = Vec::new();
    if key.is_empty() {
        return Ok(documents);
    }
    let Some(info) = segment.exact.terms().get(key.as_bytes())? else { return Ok(documents) };
    let mut postings =
        segment.exact.read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
    while postings.block_len() > 0 {
        documents.extend_from_slice(postings.docs());
        postings.advance();
    }
    Ok(documents)
}

fn collect(
    scratch: &Scratch,
    segment: &Segment,
    number: usize,
    exact: &[u32],
    candidates: &mut Vec<Candidate>,
) {
    let Ok(number) = u32::try_from(number) else { return };
    for (document, (score, found)) in (0_u32..).zip(scratch.passages()) {
        let is_exact = exact.contains(&document);
        if (score > 0.0 || is_exact) && !segment.reader.is_deleted(document) {
            let score = if is_exact { score + EXACT } else { score };
            let ranked = Ranked { segment: number, document, score, coverage: 0.0 };
            let is_pair = segment.is_pair(document);
            candidates.push(Candidate { ranked, found, is_pair, is_exact });
        }
    }
}

fn best_of(mut candidates: Vec<Candidate>, looked: &Looked<'_>, limit: usize) -> Vec<Ranked> {
    let by_score = |one: &Candidate, other: &Candidate| {
        other
            .ranked
            .score
            .total_cmp(&one.ranked.score)
            .then_with(|| one.ranked.segment.cmp(&other.ranked.segment))
            .then_with(|| one.ranked.document.cmp(&other.ranked.document))
    };
    let window = limit.max(WINDOW);
    if candidates.len() > window {
        candidates.select_nth_unstable_by(window, by_score);
        candidates.truncate(window);
    }
    let measured = Measured::new(&looked.words);
    for candidate in &mut candidates {
        let coverage = if candidate.is_exact { 1.0 } else { measured.coverage(candidate.found) };
        let share = if candidate.is_pair { PAIR_COVERAGE } else { COVERAGE };
        candidate.ranked.coverage = coverage;
        candidate.ranked.score *= 1.0 - share + share * coverage;
    }
    candidates.sort_by(by_score);
    candidates.into_iter().take(limit).map(|candidate| candidate.ranked).collect()
}
