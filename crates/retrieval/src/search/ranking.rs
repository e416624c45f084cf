//! Scoring: BM25 over weighted fields, and how much of the question each passage contains.

use std::cell::RefCell;
use std::ops::Range;

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

use super::question::{Question, Word};
use super::snapshot::{FIELDS, GRAMS, PAIRS, Segment, Snapshot, WORD_FIELDS};
use super::weights::{COVERAGE, EXACT, WEIGHTS};

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
    is_stop_word: bool,
    is_compound: bool,
    places: Vec<Place>,
    /// The words that overlap its beginning and its end, in a script that is cut into overlapping
    /// grams.
    before: Overlap,
    after: Overlap,
}

/// What overlaps one side of a gram.
#[derive(Clone, Copy, Default)]
struct Overlap {
    /// The bits of the words that do.
    bits: u64,
    /// Whether a stop word does.
    has_stop_word: bool,
}

impl Overlap {
    fn is_found(self, found: u64) -> bool {
        self.has_stop_word || self.bits & found != 0
    }
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
            let exact = exact_matches(segment, &question.exact)?;
            collect(scratch, segment, number, &exact, &mut candidates);
            tantivy::Result::Ok(())
        })?;
    }
    // Stop words alone are about nothing, wherever they stand.
    let says_something = words.iter().any(|word| !word.is_stop_word);
    let total = if says_something { weight_of(&words) } else { 0.0 };
    let best = best_of(candidates, &words, total, limit);
    let words = words.iter().map(|looked| (looked.forms.to_vec(), looked.weight)).collect();
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
        let looked = Looked {
            forms: &word.forms,
            weight: word.weight * rarity(snapshot.passages, frequency),
            is_stop_word: word.is_stop_word,
            is_compound: word.is_compound,
            places,
            before: Overlap::default(),
            after: Overlap::default(),
        };
        words.push((word, looked));
    }
    words.sort_by(|(_, one), (_, other)| other.weight.total_cmp(&one.weight));
    words.truncate(BITS);
    Ok(with_overlaps(question, words))
}

/// Notes which of the words overlap each other: in "退款政策" a passage that has "退款" and "政策"
/// lacks "款政" without lacking anything.
fn with_overlaps<'question>(
    question: &Question,
    words: Vec<(&'question Word, Looked<'question>)>,
) -> Vec<Looked<'question>> {
    let ranges: Vec<Option<Range<usize>>> =
        words.iter().map(|(word, _)| word.range.clone().filter(|_| !word.is_compound)).collect();
    let stop_words: Vec<&Range<usize>> = question
        .words
        .iter()
        .filter(|word| word.is_stop_word)
        .filter_map(|word| word.range.as_ref())
        .collect();
    let begins_within = |one: &Range<usize>, other: &Range<usize>| {
        other.start < one.start && one.start < other.end && other.end < one.end
    };
    let mut words: Vec<Looked<'question>> = words.into_iter().map(|(_, looked)| looked).collect();
    for (word, range) in words.iter_mut().zip(&ranges) {
        let Some(range) = range else { continue };
        for (bit, other) in ranges.iter().enumerate() {
            let Some(other) = other else { continue };
            word.before.bits |= u64::from(begins_within(range, other)) << bit;
            word.after.bits |= u64::from(begins_within(other, range)) << bit;
        }
        word.before.has_stop_word = stop_words.iter().any(|other| begins_within(range, other));
        word.after.has_stop_word = stop_words.iter().any(|other| begins_within(other, range));
    }
    words
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
    let mut postings = scored
        .terms
        .read_block_postings_from_terminfo(&place.info, IndexRecordOption::WithFreqs)?;
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

/// A passage with what was found in it.
struct Candidate {
    ranked: Ranked,
    found: u64,
    is_exact: bool,
}

fn collect(
    scratch: &Scratch,
    segment: &Segment,
    number: usize,
    exact: &[u32],
    candidates: &mut Vec<Candidate>,
) {
    let Ok(segment_number) = u32::try_from(number) else { return };
    for (document, (score, found)) in (0_u32..).zip(scratch.scores.iter().zip(&scratch.found)) {
        let is_exact = exact.contains(&document);
        if (*score > 0.0 || is_exact) && !segment.reader.is_deleted(document) {
            let score = if is_exact { *score + EXACT } else { *score };
            let ranked = Ranked { segment: segment_number, document, score, coverage: 0.0 };
            candidates.push(Candidate { ranked, found: *found, is_exact });
        }
    }
}

/// The weight of the words that were found, and of grams whose two sides were.
fn weight_found(found: u64, words: &[Looked<'_>]) -> f32 {
    words
        .iter()
        .enumerate()
        .filter(|(bit, word)| {
            let is_bridged = || {
                (word.before.bits | word.after.bits) & found != 0
                    && word.before.is_found(found)
                    && word.after.is_found(found)
            };
            !word.is_compound && (found & (1 << bit) != 0 || is_bridged())
        })
        .map(|(_, word)| word.weight)
        .sum()
}

/// The weight of all words together; a whole weighs what its parts do.
fn weight_of(words: &[Looked<'_>]) -> f32 {
    words.iter().filter(|word| !word.is_compound).map(|word| word.weight).sum()
}

fn best_of(
    mut candidates: Vec<Candidate>,
    words: &[Looked<'_>],
    total: f32,
    limit: usize,
) -> Vec<Ranked> {
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
    for candidate in &mut candidates {
        candidate.ranked.coverage = if candidate.is_exact {
            1.0
        } else if total > 0.0 {
            (weight_found(candidate.found, words) / total).min(1.0)
        } else {
            0.0
        };
        candidate.ranked.score *= 1.0 - COVERAGE + COVERAGE * candidate.ranked.coverage;
    }
    candidates.sort_by(by_score);
    candidates.into_iter().take(limit).map(|candidate| candidate.ranked).collect()
}

const _: () = assert!(FIELDS > GRAMS && GRAMS > PAIRS && PAIRS >= WORD_FIELDS);
