//! The quoted units of a passage, and the units that must be quoted together to be understood.

use std::sync::Arc;

use crate::extractive::readings::Reading;
use crate::extractive::units::{Kind, Unit};

/// A sentence that refers to the previous one is quoted with it if both together have at most this
/// many characters.
const WITH_CONTEXT_CHARS: usize = 450;
/// The longest code, in characters, that is quoted with the sentence before it.
const CODE_CHARS: usize = 300;
/// The longest list of steps, in characters, that is quoted as a whole.
const STEPS_CHARS: usize = 900;

/// A passage with its quoted units.
#[derive(Debug)]
pub(in crate::extractive) struct Quoted<'a> {
    /// Its position in the request.
    pub(in crate::extractive) index: usize,
    /// Its text.
    pub(in crate::extractive) text: &'a str,
    /// Its units.
    pub(in crate::extractive) reading: Arc<Reading>,
    /// The numbers of the quoted units, in order.
    pub(in crate::extractive) chosen: Vec<usize>,
    /// Whether code that follows a sentence is quoted with it.
    pub(in crate::extractive) with_code: bool,
}

impl<'a> Quoted<'a> {
    /// The text of a unit.
    pub(in crate::extractive) fn text(&self, unit: &Unit) -> &'a str {
        self.text.get(unit.range.clone()).unwrap_or_default()
    }

    /// The units of the passage.
    pub(in crate::extractive) fn units(&self) -> &[Unit] {
        &self.reading.units
    }

    pub(super) fn kind(&self, unit: usize) -> Option<Kind> {
        self.units().get(unit).map(|unit| unit.kind)
    }

    pub(super) fn unit_text(&self, unit: usize) -> &'a str {
        self.units().get(unit).map_or("", |unit| self.text(unit))
    }

    fn is_same_block(&self, a: usize, b: usize) -> bool {
        match (self.units().get(a), self.units().get(b)) {
            (Some(a), Some(b)) => a.block == b.block,
            _ => false,
        }
    }

    /// The last unit of the block of `unit`.
    fn block_end(&self, unit: usize) -> usize {
        (unit..self.units().len())
            .take_while(|next| self.is_same_block(unit, *next))
            .last()
            .unwrap_or(unit)
    }

    fn block_start(&self, unit: usize) -> usize {
        (0..=unit).rev().take_while(|next| self.is_same_block(unit, *next)).last().unwrap_or(unit)
    }

    /// The first and last of the units that must be quoted with `unit` to be understood.
    pub(super) fn whole(&self, unit: usize) -> (usize, usize) {
        let text = self.unit_text(unit);
        match self.kind(unit) {
            Some(Kind::Item { is_ordered }) => {
                let start = self.block_start(unit);
                let is_introduced = start > 0 && introduces(self.unit_text(start - 1));
                let (from, to) = match (is_ordered, is_introduced) {
                    (true, true) => (start - 1, self.block_end(unit)),
                    (true, false) => (start, self.block_end(unit)),
                    (false, _) => (unit, unit),
                };
                // Steps are quoted together, unless they are too long.
                if self.chars(from, to) > STEPS_CHARS { (unit, unit) } else { (from, to) }
            }
            Some(Kind::Code) if unit > 0 && introduces(self.unit_text(unit - 1)) => {
                (unit - 1, unit)
            }
            Some(Kind::Sentence) if introduces(text) && unit + 1 < self.units().len() => {
                match self.kind(unit + 1) {
                    Some(Kind::Sentence | Kind::Heading) | None => (unit, unit + 1),
                    Some(_) => (unit, self.block_end(unit + 1)),
                }
            }
            Some(Kind::Sentence) => {
                let is_shown = self.with_code
                    && self.kind(unit + 1) == Some(Kind::Code)
                    && self.chars(unit + 1, unit + 1) <= CODE_CHARS;
                (self.antecedent(unit), if is_shown { unit + 1 } else { unit })
            }
            _ => (unit, unit),
        }
    }

    /// The length of the text from one unit to another.
    fn chars(&self, from: usize, to: usize) -> usize {
        (from..=to).map(|unit| self.unit_text(unit).chars().count()).sum()
    }

    /// Whether `unit` begins with a word such as "it".
    pub(super) fn refers_back(&self, unit: usize) -> bool {
        self.kind(unit) == Some(Kind::Sentence) && refers_back(self.unit_text(unit))
    }

    /// The first unit to quote for `unit`: the sentence before if `unit` refers to it, otherwise `unit`.
    fn antecedent(&self, unit: usize) -> usize {
        let Some(before) = unit.checked_sub(1) else { return unit };
        let fits = || {
            let chars = |unit| self.unit_text(unit).chars().count();
            chars(before) + chars(unit) <= WITH_CONTEXT_CHARS
        };
        let refers = refers_back(self.unit_text(unit)) && self.is_same_block(before, unit);
        if refers && !is_question(self.unit_text(before)) && fits() { before } else { unit }
    }
}

/// Whether a sentence announces something after it.
fn introduces(text: &str) -> bool {
    text.ends_with([':', '：'])
}

pub(super) fn is_question(text: &str) -> bool {
    text.ends_with(['?', '？', '؟'])
}

/// Words that refer to the previous sentence if a sentence begins with them.
const REFERRING: &[&str] = &[
    "it",
    "its",
    "this",
    "that",
    "these",
    "those",
    "they",
    "their",
    "he",
    "she",
    "his",
    "her",
    "however",
    "therefore",
    "otherwise",
    "instead",
    "such",
    "este",
    "esta",
    "esto",
    "estos",
    "estas",
    "ese",
    "esa",
    "eso",
    "él",
    "ella",
    "ellos",
    "ellas",
    "il",
    "elle",
    "ils",
    "elles",
    "cela",
    "ceci",
    "ce",
    "cette",
    "ces",
    "er",
    "dies",
    "diese",
    "dieser",
    "dieses",
    "ele",
    "eles",
    "elas",
    "isso",
    "isto",
    "questo",
    "questa",
    "esso",
    "essa",
    "он",
    "она",
    "оно",
    "они",
    "это",
    "эти",
    "यह",
    "ये",
    "वह",
    "वे",
    "इस",
    "इसे",
    "هذا",
    "هذه",
    "هو",
    "هي",
    "وهو",
    "وهي",
];
/// The same in scripts without spaces.
const REFERRING_UNSPACED: &[&str] =
    &["它", "他", "她", "这", "該", "该", "其", "此", "これ", "それ", "この", "その", "彼"];

fn refers_back(sentence: &str) -> bool {
    let start = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let word = start.split(|c: char| !c.is_alphanumeric() && c != '\u{94D}').next();
    let word = word.unwrap_or_default().to_lowercase();
    REFERRING.contains(&word.as_str())
        || REFERRING_UNSPACED.iter().any(|word| start.starts_with(word))
}
