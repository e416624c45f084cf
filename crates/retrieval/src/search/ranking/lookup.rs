//! Where the terms of a question stand, and how rare they are.

use std::ops::Range;
use std::sync::Arc;

use super::coverage::Overlap;
use super::impacts::{self, Impact};
use crate::search::question::{Extra, Question, Word};
use crate::search::snapshot::{GRAMS, PAIRS, Snapshot, WORD_FIELDS};
use crate::search::weights::{FEWEST_PASSAGES, WEIGHTS};

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
    /// The same for telling how much of the question a passage contains. How rare a word is, few
    /// passages cannot tell: in a single one every word that it has would count next to nothing beside
    /// any that it lacks. So there are taken to be some more, which have none of the words.
    pub(super) share: f32,
    pub(super) is_stop_word: bool,
    pub(super) is_compound: bool,
    /// Where it stands: in each field and form, with what the field counts.
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

/// Where a word stands in one field in one form, with what the field counts.
type Place = (f32, Arc<[Impact]>);

/// A pair or a piece of a word with where it stands.
pub(super) struct LookedExtra {
    /// Its rarity times what it weighs and what its field counts.
    pub(super) weight: f32,
    pub(super) impacts: Arc<[Impact]>,
    /// The bit by which a piece is remembered.
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

/// Where a word stands in any of its forms, and in how many passages it does in the field that has
/// it most often.
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

/// What an impact in that field counts, before the term's rarity.
fn field_factor(field: usize) -> f32 {
    WEIGHTS.get(field).map_or(0.0, |weight| weight.weight * (weight.k1 + 1.0))
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
