//! Typing mistakes: for a word that no passage has, words that differ by one edit are looked up.

mod one_edit;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::search::question::Word;
use crate::search::snapshot::Snapshot;
use crate::store::WORD_FIELDS;
use one_edit::OneEdit;

/// The shortest word, in characters, in which a mistake is assumed. In a shorter one, a single letter often makes a
/// different word.
const WORD_CHARS: usize = 5;
/// A word, or a stem, of ASCII letters of this length with another letter in one place is often another word too: "phone" and
/// "prone", "ultimate" and "uptime".
const OFTEN_OTHER_CHARS: usize = 5;
/// The most words that are taken as the intended one.
const MEANT: usize = 4;
/// The most words of a question that are corrected. A question with more unknown words is in a
/// language that no passage has.
const CORRECTED: u32 = 8;
/// The most letters of dictionaries that are read for a question. A word needs about a thousand in
/// each dictionary.
const STEPS: u32 = 200_000;

/// The remaining budget for correcting a question, and for dividing its compounds.
pub(super) struct Corrections {
    words: Cell<u32>,
    divided: Cell<u32>,
    steps: Cell<u32>,
}

impl Corrections {
    /// The budget of a new question.
    pub(super) fn new() -> Self {
        let words = || Cell::new(CORRECTED);
        Self { words: words(), divided: words(), steps: Cell::new(STEPS) }
    }

    /// Takes the budget for looking up the parts of one more word, and the compounds that begin with it: the letters of
    /// dictionaries that may still be read. `None` if there were as many words as may be corrected.
    pub(super) fn divide(&self) -> Option<&Cell<u32>> {
        self.divided.set(self.divided.get().checked_sub(1)?);
        Some(&self.steps)
    }

    /// The words of the passages that differ from `word` by one edit: a letter too many, missing or
    /// wrong, or two in the wrong order. The first letter is hardly ever mistyped, and numbers are
    /// not corrected, because another number means something else.
    pub(super) fn of(&self, snapshot: &Snapshot, word: &Word) -> tantivy::Result<Vec<String>> {
        let is_long = word.range.as_ref().is_some_and(|range| range.len() >= WORD_CHARS);
        let Some(form) = word.forms.first().filter(|_| is_long && !word.is_stop_word) else {
            return Ok(Vec::new());
        };
        let letters: Vec<char> = form.chars().take(one_edit::LETTERS + 1).collect();
        let is_usual = (WORD_CHARS - 1..=one_edit::LETTERS).contains(&letters.len());
        if !is_usual || word.is_compound || letters.iter().any(|letter| letter.is_numeric()) {
            return Ok(Vec::new());
        }
        let Some(left) = self.words.get().checked_sub(1) else { return Ok(Vec::new()) };
        self.words.set(left);
        let spelled = |range: &Range<usize>| range.len() == OFTEN_OTHER_CHARS;
        let is_stem = form.len() <= OFTEN_OTHER_CHARS;
        let is_short = form.is_ascii() && (is_stem || word.range.as_ref().is_some_and(spelled));
        // A form of three letters is often another word: "pak" of "Paket" for "park".
        let is_meant = |other: &str| {
            let is_other = is_short && other.len() == form.len() && !is_anagram(other, form);
            !is_other && other.chars().nth(WORD_CHARS - 2).is_some()
        };
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for field in 0..WORD_FIELDS {
            let automaton = OneEdit::new(&letters, &self.steps);
            snapshot.content.matching(field, &automaton, |word, frequency| {
                if word != form && is_meant(word) {
                    *found.entry(word.to_owned()).or_default() += u64::from(frequency);
                }
            })?;
        }
        let mut found: Vec<(String, u64)> = found.into_iter().collect();
        found.sort_by(|(_, one), (_, other)| other.cmp(one));
        Ok(found.into_iter().take(MEANT).map(|(word, _)| word).collect())
    }
}

/// Whether two words have the same letters, in any order.
fn is_anagram(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut bytes = word.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    sorted(one) == sorted(other)
}
