//! Where the terms of a question stand, and how rare they are.

use std::ops::Range;

use tantivy::postings::TermInfo;

use super::coverage::Overlap;
use crate::search::question::{Extra, Question, Word};
use crate::search::snapshot::{GRAMS, PAIRS, Segment, Snapshot, WORD_FIELDS};

/// Words whose presence is remembered a passage: one bit each.
const WORDS: usize = 64;

/// A question whose terms were looked up.
pub(super) struct Looked<'question> {
    /// The words that count, most telling first.
    pub(super) words: Vec<LookedWord<'question>>,
    /// Pairs and pieces of words, with what they weigh.
    pub(super) extras: Vec<LookedExtra>,
}

/// A word with where it stands.
pub(super) struct LookedWord<'question> {
    pub(super) forms: &'question [String],
    /// Its rarity times what it weighs in the question.
    pub(super) weight: f32,
    pub(super) is_stop_word: bool,
    pub(super) is_compound: bool,
    pub(super) places: Vec<Place>,
    /// The bits of the messages that it stands in.
    pub(super) messages: u8,
    /// The bits of the pieces that it consists of.
    pub(super) pieces: u64,
    /// What overlaps its beginning and its end, where it is a gram.
    pub(super) before: Overlap,
    pub(super) after: Overlap,
}

impl LookedWord<'_> {
    /// Whether it is a gram of a script without spaces, between others.
    pub(super) fn is_gram(&self) -> bool {
        let overlaps = |side: Overlap| side.has_stop_word || side.bits != 0;
        overlaps(self.before) || overlaps(self.after)
    }
}

/// A pair or a piece of a word with one place where it stands.
pub(super) struct LookedExtra {
    pub(super) weight: f32,
    pub(super) place: Place,
    /// The bit by which a piece is remembered.
    pub(super) bit: u64,
}

/// Where a term stands in one field of one segment.
pub(super) struct Place {
    pub(super) segment: usize,
    pub(super) field: usize,
    pub(super) info: TermInfo,
}

/// Looks up all terms of `question`.
pub(super) fn look_up<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
) -> tantivy::Result<Looked<'question>> {
    let mut extras = Vec::new();
    look_up_extras(snapshot, &question.pairs, PAIRS, |_| 0, &mut extras)?;
    look_up_extras(snapshot, &question.grams, GRAMS, bit, &mut extras)?;
    Ok(Looked { words: look_up_words(snapshot, question)?, extras })
}

/// The bit of the term with that number, where there is one for it.
pub(in crate::search) fn bit(number: usize) -> u64 {
    u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or_default()
}

fn look_up_words<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
) -> tantivy::Result<Vec<LookedWord<'question>>> {
    // Stop words count only where there is nothing else.
    let counts = |word: &&Word| !word.is_stop_word || question.is_all_stop_words;
    let mut words = Vec::with_capacity(question.words.len());
    for word in question.words.iter().filter(counts) {
        let (places, frequency) = places_of(snapshot, word)?;
        let looked = LookedWord {
            forms: &word.forms,
            weight: word.weight * rarity(snapshot.passages, frequency),
            is_stop_word: word.is_stop_word,
            is_compound: word.is_compound,
            places,
            messages: word.messages,
            pieces: word.pieces,
            before: Overlap::default(),
            after: Overlap::default(),
        };
        words.push((word, looked));
    }
    words.sort_by(|(_, one), (_, other)| other.weight.total_cmp(&one.weight));
    words.truncate(WORDS);
    Ok(with_overlaps(question, words))
}

/// Where a word stands in any of its forms, and in how many passages it does in the field that has
/// it most often.
fn places_of(snapshot: &Snapshot, word: &Word) -> tantivy::Result<(Vec<Place>, u64)> {
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
    Ok((places, frequencies.into_iter().max().unwrap_or_default()))
}

fn look_up_extras(
    snapshot: &Snapshot,
    terms: &[Extra],
    field: usize,
    bit: impl Fn(usize) -> u64,
    extras: &mut Vec<LookedExtra>,
) -> tantivy::Result<()> {
    for (index, term) in terms.iter().enumerate() {
        let mut places = Vec::new();
        for (number, segment) in snapshot.segments.iter().enumerate() {
            places.extend(place(segment, number, field, &term.text)?);
        }
        let frequency = places.iter().map(|place| u64::from(place.info.doc_freq)).sum();
        let weight = term.weight * rarity(snapshot.passages, frequency);
        let bit = bit(index);
        extras.extend(places.into_iter().map(|place| LookedExtra { weight, place, bit }));
    }
    Ok(())
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

/// Notes which of the words overlap each other: in "退款政策" a passage that has "退款" and "政策"
/// lacks "款政" without lacking anything.
fn with_overlaps<'question>(
    question: &Question,
    words: Vec<(&'question Word, LookedWord<'question>)>,
) -> Vec<LookedWord<'question>> {
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
    let mut words: Vec<LookedWord<'question>> =
        words.into_iter().map(|(_, looked)| looked).collect();
    for (word, range) in words.iter_mut().zip(&ranges) {
        let Some(range) = range else { continue };
        for (number, other) in ranges.iter().enumerate() {
            let Some(other) = other else { continue };
            word.before.bits |= u64::from(begins_within(range, other)) << number;
            word.after.bits |= u64::from(begins_within(other, range)) << number;
        }
        word.before.has_stop_word = stop_words.iter().any(|other| begins_within(range, other));
        word.after.has_stop_word = stop_words.iter().any(|other| begins_within(other, range));
    }
    words
}
