//! The quoted units of a passage, and the units that must be quoted together to be understood.

use std::collections::HashSet;
use std::sync::Arc;

use cicerone_domain::Passage;
use cicerone_language::plain_heading;
use compact_str::CompactString;

use crate::extractive::plain::inline;
use crate::extractive::readings::Reading;
use crate::extractive::units::{Kind, STOPS, Unit};

/// A sentence that refers to the previous one is quoted with it if both together have at most this
/// many characters.
const WITH_CONTEXT_CHARS: usize = 450;
/// The longest code, in characters, that is quoted with the sentence before it.
const CODE_CHARS: usize = 300;
/// The longest value that is a paragraph of its own, in characters.
const VALUE_CHARS: usize = 80;
/// The longest list of steps, in characters, that is quoted as a whole.
const STEPS_CHARS: usize = 900;

/// A passage with its quoted units.
#[derive(Debug)]
pub(in crate::extractive) struct Quoted<'a> {
    /// The position of the passage in the request.
    pub(in crate::extractive) index: usize,
    pub(in crate::extractive) text: &'a str,
    /// The headings above it, outermost first.
    pub(in crate::extractive) heading: Option<&'a str>,
    /// The units that the text is divided into.
    pub(in crate::extractive) reading: Arc<Reading>,
    /// The numbers of the quoted units, in order.
    pub(in crate::extractive) chosen: Vec<usize>,
    /// Whether code that follows a sentence is quoted with it.
    pub(in crate::extractive) with_code: bool,
}

impl<'a> Quoted<'a> {
    pub(in crate::extractive) fn text(&self, unit: &Unit) -> &'a str {
        self.text.get(unit.range.clone()).unwrap_or_default()
    }

    /// The headings within the passage that are above a unit, innermost first, without marks and numbering.
    pub(in crate::extractive) fn headings_of<'s>(
        &'s self,
        unit: &Unit,
    ) -> impl Iterator<Item = &'a str> + use<'s, 'a> {
        let start = unit.range.start;
        let mut level = usize::MAX;
        let within = self.headings().rev().filter(move |above| above.range.start < start);
        within.filter_map(move |above| {
            let text = self.text(above);
            let own = self::level(text);
            let is_outer = own < level;
            level = level.min(own);
            is_outer.then(|| plain_heading(text))
        })
    }

    /// The wanted headings of the path that are above all of the passage, innermost first. A heading within it applies only to
    /// the text below that heading.
    pub(in crate::extractive) fn outer_headings(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<&'a str> {
        let path =
            self.heading.into_iter().flat_map(|path| path.rsplit(Passage::HEADING_SEPARATOR));
        let mut wanted: Vec<&str> =
            path.map(plain_heading).filter(|path| is_wanted(path)).collect();
        if !wanted.is_empty() {
            let within: HashSet<String> =
                self.headings().map(|own| inline(plain_heading(self.text(own)))).collect();
            wanted.retain(|path| !within.contains(*path));
        }
        wanted
    }

    fn headings(&self) -> impl DoubleEndedIterator<Item = &Unit> {
        self.units().iter().filter(|unit| unit.kind == Kind::Heading)
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
            Some(Kind::Code) if unit > 0 && self.leads_to_code(unit - 1) => (unit - 1, unit),
            Some(Kind::Sentence) if introduces(text) && unit + 1 < self.units().len() => {
                (unit, self.introduced_end(unit + 1))
            }
            Some(Kind::Sentence) if self.is_caption(unit) => (unit, unit + 1),
            Some(Kind::Sentence) => {
                let is_shown = self.with_code
                    && self.kind(unit + 1) == Some(Kind::Code)
                    && self.chars(unit + 1, unit + 1) <= CODE_CHARS;
                (self.antecedent(unit), if is_shown { unit + 1 } else { unit })
            }
            _ => (unit, unit),
        }
    }

    /// The last of the units that a sentence introduces, `first` being the one after it.
    fn introduced_end(&self, first: usize) -> usize {
        match self.kind(first) {
            Some(Kind::Sentence) if self.is_value(first) => {
                let values = (first..self.units().len()).take_while(|unit| self.is_value(*unit));
                let end = values.last().unwrap_or(first);
                if self.chars(first, end) > STEPS_CHARS { first } else { end }
            }
            Some(Kind::Sentence | Kind::Heading) | None => first,
            Some(_) => self.block_end(first),
        }
    }

    /// Whether a unit is a block of its own.
    pub(super) fn is_alone(&self, unit: usize) -> bool {
        self.block_start(unit) == self.block_end(unit)
    }

    /// Whether a unit is a sentence that announces what follows.
    pub(super) fn announces(&self, unit: usize) -> bool {
        self.kind(unit) == Some(Kind::Sentence) && introduces(self.unit_text(unit))
    }

    /// Whether a unit is a paragraph of its own without a full stop: a value, a name.
    fn is_value(&self, unit: usize) -> bool {
        self.kind(unit) == Some(Kind::Sentence)
            && self.is_alone(unit)
            && !ends_sentence(self.unit_text(unit))
            && self.unit_text(unit).chars().nth(VALUE_CHARS).is_none()
    }

    /// Whether a unit names what the next one says: a heading that does not look like one.
    fn is_caption(&self, unit: usize) -> bool {
        let follows = || match self.kind(unit + 1) {
            Some(Kind::Sentence) => ends_sentence(self.unit_text(unit + 1)),
            Some(Kind::Code | Kind::Row) => true,
            Some(_) | None => false,
        };
        self.is_value(unit) && follows()
    }

    /// Whether a unit announces something that the passage does not have.
    pub(super) fn is_dangling(&self, unit: usize) -> bool {
        self.announces(unit) && matches!(self.kind(unit + 1), None | Some(Kind::Heading))
    }

    /// The length of the text from one unit to another.
    fn chars(&self, from: usize, to: usize) -> usize {
        (from..=to).map(|unit| self.unit_text(unit).chars().count()).sum()
    }

    /// Also quotes the units that are chosen of the same passage in `other`.
    pub(super) fn also(&mut self, other: Self) {
        self.chosen.extend(other.chosen);
        self.chosen.sort_unstable();
        self.chosen.dedup();
    }

    /// Whether `unit` begins with a word such as "it".
    pub(super) fn refers_back(&self, unit: usize) -> bool {
        self.kind(unit) == Some(Kind::Sentence) && refers_back(self.unit_text(unit))
    }

    /// The first unit to quote for `unit`: the sentence before if `unit` refers to it, and the beginning of a sentence
    /// that goes on behind code; otherwise `unit`.
    fn antecedent(&self, unit: usize) -> usize {
        let referred = self.referred(unit).unwrap_or(unit);
        let start = self.beginning(referred).unwrap_or(referred);
        let starts = [start, referred, unit];
        let fits = |start: &usize| self.chars(*start, unit) <= WITH_CONTEXT_CHARS;
        starts.into_iter().find(fits).unwrap_or(unit)
    }

    /// The sentence before `unit`, if `unit` refers to it.
    fn referred(&self, unit: usize) -> Option<usize> {
        let before = unit.checked_sub(1)?;
        let refers = refers_back(self.unit_text(unit)) && self.is_same_block(before, unit);
        (refers && !is_question(self.unit_text(before))).then_some(before)
    }

    /// The first unit of a sentence that is interrupted by code and continues with `unit`: the text before the code, or
    /// the code itself.
    fn beginning(&self, unit: usize) -> Option<usize> {
        let code = unit.checked_sub(1).filter(|code| self.kind(*code) == Some(Kind::Code))?;
        let begins = |start: &usize| self.leads_to_code(*start);
        goes_on(self.unit_text(unit)).then(|| code.checked_sub(1).filter(begins).unwrap_or(code))
    }

    /// Whether a unit before code announces it, or is a sentence that goes on with it.
    fn leads_to_code(&self, unit: usize) -> bool {
        let text = self.unit_text(unit);
        introduces(text) || self.kind(unit) == Some(Kind::Sentence) && !ends_with_stop(text)
    }
}

/// How deep a heading is below others. One of plain text is below all others.
pub(super) fn level(heading: &str) -> usize {
    match heading.len() - heading.trim_start_matches('#').len() {
        0 => usize::MAX - 1,
        marks => marks,
    }
}

/// Whether a sentence announces something after it.
fn introduces(text: &str) -> bool {
    text.ends_with([':', '：'])
}

/// Whether a text goes on with a sentence: it begins with a small letter.
fn goes_on(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
}

fn ends_with_stop(text: &str) -> bool {
    text.ends_with(STOPS)
}

pub(super) fn ends_sentence(text: &str) -> bool {
    let inner = text.trim_end_matches(['”', '’', '"', '\'', ')', '）', '»', '」', '*', '_']);
    inner.ends_with(STOPS) || inner.ends_with([':', ';', ',', '…', '：'])
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
    let word = CompactString::from_str_to_lowercase(word.unwrap_or_default());
    REFERRING.contains(&word.as_str())
        || REFERRING_UNSPACED.iter().any(|word| start.starts_with(word))
}
