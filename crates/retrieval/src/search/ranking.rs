//! Scoring: BM25 over weighted fields, and how much of the question each passage contains.

use std::cell::RefCell;

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

use super::question::Question;
use super::snapshot::{FIELDS, GRAMS, PAIRS, Segment, Snapshot, WORD_FIELDS};
use super::weights::{COVERAGE, WEIGHTS};

/// Words whose presence is remembered a passage: one bit each.
const BITS: usize = 64;
/// Passages that are weighed by coverage too, for each that is wanted.
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
}

/// A word with where it stands.
struct Looked<'question> {
    forms: &'question [String],
    /// Its rarity times what it weighs in the question.
    weight: f32,
    is_compound: bool,
    places: Vec<Place>,
}

/// Where a term stands in one field of one segment.
#[derive(Clone)]
struct Place {
    segment: usize,
    field: usize,
    info: TermInfo,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch { scores: Vec::new(), found: Vec::new() }) };
}

/// Scores and found words of each passage of a segment.
struct Scratch {
    scores: Vec<f32>,
    found: Vec<u64>,
}

/// The `limit` passages that fit `question` best.
pub(super) fn rank(
    snapshot: &Snapshot,
    question: &Question,
    limit: usize,
) -> tantivy::Result<Ranking> {
    let words = look_up_words(snapshot, question)?;
    let mut extra = look_up(snapshot, &question.pairs, PAIRS)?;
    extra.extend(look_up(snapshot, &question.grams, GRAMS)?);

    let mut candidates = Vec::new();
    for number in 0..snapshot.segments.len() {
        let Some(segment) = snapshot.segments.get(number) else { continue };
        SCRATCH.with_borrow_mut(|scratch| {
            score_segment(scratch, segment, number, &words, &extra)?;
            collect(scratch, segment, number, &mut candidates);
            tantivy::Result::Ok(())
        })?;
    }
    let best = best_of(candidates, &words, limit);
    let words =
        words.iter().map(|looked| (looked.forms.to_vec(), looked.weight)).collect();
    Ok(Ranking { best, words })
}

/// The words that count, most telling first, at most as many as there are bits.
fn look_up_words<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
) -> tantivy::Result<Vec<Looked<'question>>> {
    let mut words = Vec::with_capacity(question.words.len());
    let has_context = question.words.iter().any(|word| word.weight < 1.0);
    for word in &question.words {
        // Stop words count only where there is nothing else.
        if word.is_stop_word && (!question.is_all_stop_words || has_context) {
            continue;
        }
        let mut places = Vec::new();
        let mut frequencies = [0_u64; WORD_FIELDS];
        for (number, segment) in snapshot.segments.iter().enumerate() {
            for (field, frequency) in frequencies.iter_mut().enumerate() {
                for form in &word.forms {
                    if let Some(place) = place(segment, number, field, form)? {
                        *frequency += u64::from(place.info.doc_freq);
                        places.push(place);
                    }
                }
            }
        }
        let frequency = frequencies.into_iter().max().unwrap_or_default();
        words.push(Looked {
            forms: &word.forms,
            weight: word.weight * rarity(snapshot.passages, frequency),
            is_compound: word.is_compound,
            places,
        });
    }
    words.sort_by(|one, other| other.weight.total_cmp(&one.weight));
    words.truncate(BITS);
    Ok(words)
}

/// Terms of one field, each with its rarity.
fn look_up(
    snapshot: &Snapshot,
    terms: &[String],
    field: usize,
) -> tantivy::Result<Vec<(f32, Place)>> {
    let mut found = Vec::new();
    let mut places = Vec::new();
    for term in terms {
        places.clear();
        for (number, segment) in snapshot.segments.iter().enumerate() {
            places.extend(place(segment, number, field, term)?);
        }
        let frequency = places.iter().map(|place| u64::from(place.info.doc_freq)).sum();
        let rarity = rarity(snapshot.passages, frequency);
        found.extend(places.drain(..).map(|place| (rarity, place)));
    }
    Ok(found)
}

fn place(
    segment: &Segment,
    number: usize,
    field: usize,
    term: &str,
) -> tantivy::Result<Option<Place>> {
    let Some(scored) = segment.fields.get(field) else { return Ok(None) };
    let info = scored.terms.terms().get(term.as_bytes())?;
    Ok(info.map(|info| Place { segment: number, field, info }))
}

/// The inverse document frequency, as BM25 has it.
fn rarity(passages: u64, frequency: u64) -> f32 {
    let passages = passages as f32;
    let frequency = (frequency as f32).min(passages);
    (1.0 + (passages - frequency + 0.5) / (frequency + 0.5)).ln()
}

fn score_segment(
    scratch: &mut Scratch,
    segment: &Segment,
    number: usize,
    words: &[Looked<'_>],
    extra: &[(f32, Place)],
) -> tantivy::Result<()> {
    let documents = segment.max_doc as usize;
    scratch.scores.clear();
    scratch.scores.resize(documents, 0.0);
    scratch.found.clear();
    scratch.found.resize(documents, 0);
    for (bit, word) in words.iter().enumerate() {
        for place in word.places.iter().filter(|place| place.segment == number) {
            score_place(scratch, segment, place, word.weight, 1 << bit)?;
        }
    }
    for (rarity, place) in extra.iter().filter(|(_, place)| place.segment == number) {
        score_place(scratch, segment, place, *rarity, 0)?;
    }
    Ok(())
}

fn score_place(
    scratch: &mut Scratch,
    segment: &Segment,
    place: &Place,
    rarity: f32,
    bit: u64,
) -> tantivy::Result<()> {
    let (Some(scored), Some(weight)) = (segment.fields.get(place.field), WEIGHTS.get(place.field))
    else {
        return Ok(());
    };
    let factor = rarity * weight.weight * (weight.k1 + 1.0);
    let mut postings =
        scored.terms.read_block_postings_from_terminfo(&place.info, IndexRecordOption::WithFreqs)?;
    while postings.block_len() > 0 {
        for (document, frequency) in postings.docs().iter().zip(postings.freqs()) {
            let index = *document as usize;
            let norm = scored.norms.get(usize::from(scored.lengths.fieldnorm_id(*document)));
            let (Some(score), Some(norm)) = (scratch.scores.get_mut(index), norm) else { continue };
            let frequency = *frequency as f32;
            *score += factor * frequency / (frequency + norm);
            if let Some(found) = scratch.found.get_mut(index) {
                *found |= bit;
            }
        }
        postings.advance();
    }
    Ok(())
}

/// A passage with what was found in it.
struct Candidate {
    ranked: Ranked,
    found: u64,
}

fn collect(
    scratch: &Scratch,
    segment: &Segment,
    number: usize,
    candidates: &mut Vec<Candidate>,
) {
    let Ok(segment_number) = u32::try_from(number) else { return };
    for (document, (score, found)) in (0_u32..).zip(scratch.scores.iter().zip(&scratch.found)) {
        if *score > 0.0 && !segment.reader.is_deleted(document) {
            let ranked =
                Ranked { segment: segment_number, document, score: *score, coverage: 0.0 };
            candidates.push(Candidate { ranked, found: *found });
        }
    }
}

fn best_of(mut candidates: Vec<Candidate>, words: &[Looked<'_>], limit: usize) -> Vec<Ranked> {
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
    let total: f32 =
        words.iter().filter(|word| !word.is_compound).map(|word| word.weight).sum();
    for candidate in &mut candidates {
        let found: f32 = words
            .iter()
            .enumerate()
            .filter(|(bit, word)| !word.is_compound && candidate.found & (1 << bit) != 0)
            .map(|(_, word)| word.weight)
            .sum();
        candidate.ranked.coverage = if total > 0.0 { (found / total).min(1.0) } else { 0.0 };
        candidate.ranked.score *= 1.0 - COVERAGE + COVERAGE * candidate.ranked.coverage;
    }
    candidates.sort_by(by_score);
    candidates.into_iter().take(limit).map(|candidate| candidate.ranked).collect()
}

const _: () = assert!(FIELDS > GRAMS && GRAMS > PAIRS && PAIRS >= WORD_FIELDS);
