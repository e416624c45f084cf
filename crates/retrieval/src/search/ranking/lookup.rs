//! Looking up the terms of a question: in which passages they are, and how rare they are.

use std::ops::Range;
use std::sync::Arc;

use super::coverage::Overlap;
use super::impacts::{self, Impact};
use crate::search::question::{Extra, Question, Word};
use crate::search::snapshot::{GRAMS, PAIRS, Snapshot, WORD_FIELDS};
use crate::search::weights::{FEWEST_PASSAGES, WEIGHTS};

/// Words whose presence is recorded for each passage: one bit each.
const WORDS: usize = 64;

/// A question whose terms were looked up.
pub(super) struct Looked<'question> {
    /// The words that count, most informative first.
    pub(super) words: Vec<LookedWord<'question>>,
    /// Pairs and pieces of words, with their weights.
    pub(super) extras: Vec<LookedExtra>,
}

/// A word with its postings.
pub(super) struct LookedWord<'question> {
    pub(super) forms: &'question [String],
    /// Its rarity times its weight in the question.
    pub(super) weight: f32,
    /// The same for measuring coverage. A few passages do not show how rare a word is: with a single
    /// passage, every word that it has would count almost nothing beside a word that it lacks. So some
    /// further passages without any of the words are assumed.
    pub(super) share: f32,
    pub(super) is_stop_word: bool,
    pub(super) is_compound: bool,
    /// Its postings in each field and form, with the weight of the field.
    pub(super) places: Vec<Place>,
    /// The messages that contain it, one bit each.
    pub(super) messages: u8,
    /// The pieces that it consists of, one bit each.
    pub(super) pieces: u64,
    /// The words that overlap its beginning and its end, if it is a gram.
    pub(super) before: Overlap,
    pub(super) after: Overlap,
}

impl LookedWord<'_> {
    /// Whether it is a gram of a script without spaces, with others on both sides.
    pub(super) fn is_gram(&self) -> bool {
        let overlaps = |side: Overlap| side.has_stop_word || side.bits != 0;
        overlaps(self.before) || overlaps(self.after)
    }
}

/// The postings of a word in one field and form, with the weight of the field.
type Place = (f32, Arc<[Impact]>);

/// A pair or a piece of a word with its postings.
pub(super) struct LookedExtra {
    /// Its rarity times its weight and that of its field.
    pub(super) weight: f32,
    pub(super) impacts: Arc<[Impact]>,
    /// The bit of a piece.
    pub(super) bit: u64,
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

/// The bit of the term with this number, if there are enough bits.
pub(in crate::search) fn bit(number: usize) -> u64 {
    u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or_default()
}

fn look_up_words<'question>(
    snapshot: &Snapshot,
    question: &'question Question,
) -> tantivy::Result<Vec<LookedWord<'question>>> {
    // Stop words count only if there is nothing else.
    let counts = |word: &&Word| !word.is_stop_word || question.is_all_stop_words;
    let mut words = Vec::with_capacity(question.words.len());
    for word in question.words.iter().filter(counts) {
        let (places, frequency) = places_of(snapshot, word)?;
        let looked = LookedWord {
            forms: &word.forms,
            weight: word.weight * rarity(snapshot.passages, frequency),
            share: word.weight * rarity(snapshot.passages.max(FEWEST_PASSAGES), frequency),
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

/// The postings of a word in all its forms, and the number of passages in the field in which it is most
/// frequent.
fn places_of(snapshot: &Snapshot, word: &Word) -> tantivy::Result<(Vec<Place>, u64)> {
    let mut places = Vec::new();
    let mut most = 0;
    for field in 0..WORD_FIELDS {
        let mut frequency = 0;
        for form in &word.forms {
            let impacts = impacts_of(snapshot, field, form)?;
            frequency += impacts.len() as u64;
            if !impacts.is_empty() {
                places.push((field_factor(field), impacts));
            }
        }
        most = frequency.max(most);
    }
    Ok((places, most))
}

fn look_up_extras(
    snapshot: &Snapshot,
    terms: &[Extra],
    field: usize,
    bit: impl Fn(usize) -> u64,
    extras: &mut Vec<LookedExtra>,
) -> tantivy::Result<()> {
    for (index, term) in terms.iter().enumerate() {
        let impacts = impacts_of(snapshot, field, &term.text)?;
        if !impacts.is_empty() {
            let rarity = rarity(snapshot.passages, impacts.len() as u64);
            let weight = term.weight * rarity * field_factor(field);
            extras.push(LookedExtra { weight, impacts, bit: bit(index) });
        }
    }
    Ok(())
}

fn impacts_of(snapshot: &Snapshot, field: usize, term: &str) -> tantivy::Result<Arc<[Impact]>> {
    snapshot.recent.impacts(field, term, || impacts::read(snapshot, field, term))
}

/// The weight of an impact in a field, before the rarity of the term.
fn field_factor(field: usize) -> f32 {
    WEIGHTS.get(field).map_or(0.0, |weight| weight.weight * (weight.k1 + 1.0))
}

/// The inverse document frequency of BM25.
fn rarity(passages: u64, frequency: u64) -> f32 {
    let passages = passages as f32;
    let frequency = (frequency as f32).min(passages);
    (1.0 + (passages - frequency + 0.5) / (frequency + 0.5)).ln()
}

/// Records which words overlap each other: for "退款政策", a passage with "退款" and "政策" need not
/// have "款政" to contain the whole.
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
