//! Weighing the units of a passage for the question.

use std::ops::Range;
use std::sync::Arc;

use cicerone_domain::retrieval::Hit;
use cicerone_language::{Language, Subject, defined_term};

use super::headings::{Distinguishing, Headings};
use super::quoted::{Quoted, ends_sentence, is_question};
use super::rows::{columns, key, name_of, value_as_word};
use crate::extractive::asking::is_explained;
use crate::extractive::attributes::{Attribute, asked_for};
use crate::extractive::hints::{Wanted, compares, is_negated};
use crate::extractive::matcher::{Mask, Matcher, Occurrence};
use crate::extractive::readings::Reading;
use crate::extractive::spaced::Spaced;
use crate::extractive::units::{Kind, Unit};

/// A further passage needs this share of the weight of the best one; less if it is technical: of a page of options, one line
/// is the answer.
const WORTH_READING: f32 = 0.75;
const TECHNICAL_WORTH_READING: f32 = 0.5;
/// The weight of a word of the question in the previous sentence, in the headings, and in the title of the page.
const BEFORE: f32 = 0.4;
const ABOVE: f32 = 0.5;
const TITLED: f32 = 0.7;
/// The bonus for a sentence of a definition, by the share of the question that its term has: a definition
/// is about its term, other words are mentioned in it.
const OF_TERM: f32 = 0.15;
/// Bonuses in technical passages, each by the share of the question that the sentence has, if the question asks how something
/// is done: for being short, since a long sentence has words of the question by chance; for the beginning of the definition
/// of an option or other code; and for a negation if the question has one.
const SHORT: f32 = 0.6;
const DEFINITION: f32 = 0.3;
const NEGATED: f32 = 0.15;
/// A sentence of this many bytes gets half of the bonus for being short.
const SHORT_BYTES: f32 = 80.0;
/// The bonus for the first sentence, or row of a name and a value, of a section whose heading names the subject of the question,
/// and for the first sentence after such a row.
const LEADS: f32 = 1.0;
const FIRST_SENTENCE: f32 = 0.4;
/// The bonus for a row if this many words of the header of its table are in a question that compares.
const COMPARES: f32 = 0.8;
const COMPARED: u32 = 2;
/// The bonus for a sentence with the kind of answer that the question asks for.
const MEETS: f32 = 0.1;
/// The same for a time or a sum of money, which are told from other numbers.
const MEETS_MEASURE: f32 = 0.25;
/// The bonus for a row or definition that is called like the measure that the question asks for.
const MEASURES: f32 = 0.6;
/// The bonus for a sentence that defines the subject of the question.
const DEFINES: f32 = 0.5;
/// The factor for a sentence that is itself a question, for code that quotes the question, and for
/// code if the question asks for a definition.
const ASKS: f32 = 0.01;
/// The factor for code, whose words are names. The text beside it explains it, and a sentence that
/// introduces code is quoted with it.
const SHOWS: f32 = 0.6;
/// The factor for code below headings that have the share [`SHOWN`] of the question: it shows what they are about.
const BELOW_SUBJECT: f32 = 1.4;
const SHOWN: f32 = 0.55;
/// A shorter text without a full stop, in bytes, is a label.
const LABEL_BYTES: usize = 40;
/// The factor for units below other headings, if a heading of the passage has words of the question that no text of it has.
const ELSEWHERE: f32 = 0.2;
/// The factor for a sentence that announces what the passage does not have.
const DANGLES: f32 = 0.3;
/// The bonus for a row by the share of its first cell that is asked for.
const NAMED: f32 = 0.05;
/// The bonus for being at the beginning of a passage.
const FIRST: f32 = 0.05;

/// What a question asks for.
pub(super) struct Asked<'a> {
    question: &'a str,
    wanted: Wanted,
    subject: Option<Subject>,
    is_negated: bool,
    /// Whether it asks how things differ.
    compares: bool,
    /// What the measure that it asks for is called.
    measure: Option<&'static Attribute>,
    /// Whether an explanation is asked for rather than a fact.
    pub(super) is_explained: bool,
}

impl<'a> Asked<'a> {
    /// What `question` asks for.
    pub(super) fn of(question: &'a str) -> Self {
        let question = question.trim();
        let words = Spaced::new(question);
        Self {
            question,
            wanted: Wanted::of(&words),
            subject: Subject::of(question),
            is_negated: is_negated(question),
            compares: compares(&words),
            measure: asked_for(&words),
            is_explained: is_explained(question, &words),
        }
    }

    /// What a follow-up asks for, such as "and for a rabbit?": what the question before did, unless it says so itself.
    pub(super) fn following(self, before: &str) -> Self {
        if self.wanted != Wanted::Any || self.measure.is_some() || self.subject.is_some() {
            return self;
        }
        let words = Spaced::new(before);
        Self { wanted: Wanted::of(&words), measure: asked_for(&words), ..self }
    }

    pub(super) fn into_subject(self) -> Option<Subject> {
        self.subject
    }

    /// Whether code may be the answer: the question asks how to do something, or what to do.
    fn may_be_shown(&self) -> bool {
        self.subject.is_none() && matches!(self.wanted, Wanted::Steps | Wanted::Any)
    }

    /// The bonus of a text for having the kind of thing that is asked for.
    fn met_by(&self, text: &str, is_technical: bool) -> f32 {
        let measure = self.measure.filter(|_| !is_technical);
        match measure.and_then(|measure| measure.has_value(text)) {
            Some(true) => MEETS_MEASURE,
            Some(false) => 0.0,
            None if self.wanted.is_met_by(text) => MEETS,
            None => 0.0,
        }
    }

    /// The passages with their numbers, best first. If the question asks for a definition, the first
    /// passage with one leads, because the name of the subject is in every passage of a text about it.
    pub(super) fn reading_order<'h, R>(
        &self,
        passages: &'h [Hit],
        reading: R,
    ) -> impl Iterator<Item = (usize, &'h Hit)> + use<'h, R>
    where
        R: Fn(&Hit) -> Arc<Reading>,
    {
        let defining = self.subject.as_ref().and_then(|subject| {
            let has = |hit: &Hit, holds: &dyn Fn(&Unit, &str) -> bool| {
                let in_unit = |unit: &Unit| {
                    hit.text.get(unit.range.clone()).is_some_and(|text| holds(unit, text))
                };
                subject.may_be_in(hit.text.as_bytes()) && reading(hit).units.iter().any(in_unit)
            };
            let may_say =
                |kind: Kind| matches!(kind, Kind::Sentence | Kind::Item { .. } | Kind::Row);
            let says_so = |hit: &Hit| {
                has(hit, &|unit, text| may_say(unit.kind) && subject.is_defined_by(text))
            };
            let is_about = |hit: &Hit| {
                has(hit, &|unit, text| unit.kind == Kind::Heading && subject.is_heading(text))
            };
            let position = |holds: &dyn Fn(&Hit) -> bool| {
                passages.iter().position(|hit| !hit.is_pair && holds(hit))
            };
            position(&is_about).or_else(|| position(&says_so))
        });
        let leading = defining.and_then(|index| passages.get(index).map(|hit| (index, hit)));
        let others = passages.iter().enumerate();
        leading.into_iter().chain(others.filter(move |(index, _)| Some(*index) != defining))
    }
}

/// A passage that was read, its units weighed.
pub(super) struct Read<'a> {
    pub(super) quoted: Quoted<'a>,
    /// The words of the question in each unit.
    pub(super) own: Vec<Mask>,
    /// The words that only ask for a measure: each unit with a value of it has them.
    pub(super) of_measure: Mask,
    /// For each row, the words of the question in the header of its table; `None` for other units and without a header.
    pub(super) columns: Vec<Option<Mask>>,
    /// The share of the words of a row's first cell that are in the question; 0 for other units.
    pub(super) keys: Vec<f32>,
    /// The score of each unit.
    pub(super) scores: Vec<f32>,
    /// Whether a definition is asked for.
    pub(super) is_definition_asked: bool,
    /// The words of the question in all of it.
    words: Mask,
    /// The words of the question in its headings, and in the title of its page.
    pub(super) above: Mask,
    title: Mask,
}

/// How the words of the question are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// In their forms.
    Right,
    /// In similar spellings.
    Similar,
}

/// The words of the question, and how they are searched for.
#[derive(Clone, Copy)]
pub(super) struct Words<'m> {
    pub(super) matcher: &'m Matcher<'m>,
    pub(super) spelling: Spelling,
}

impl Words<'_> {
    fn find(self, text: &str, reading: &Reading, language: Option<Language>) -> Vec<Occurrence> {
        let all = reading.words.iter().copied();
        match self.spelling {
            Spelling::Right => self.matcher.find(text, all, language),
            Spelling::Similar => self.matcher.find_similar(text, all, language),
        }
    }
}

impl<'a> Read<'a> {
    /// Reads a passage; `None` if it adds too little to the previous ones.
    pub(super) fn new(
        index: usize,
        hit: &'a Hit,
        words: Words<'_>,
        asked: &Asked<'_>,
        prior: f32,
        before: &[Self],
        reading: &Arc<Reading>,
    ) -> Option<Self> {
        let language = hit.language.as_deref().and_then(Language::from_code);
        let text = &*hit.text;
        let Words { matcher, .. } = words;
        let found = words.find(text, reading, language);
        let words = found.iter().fold(0, |mask, one| mask | one.mask);
        if !is_worth_reading(words, matcher, before, reading.is_technical) {
            return None;
        }
        let of = |text: Option<&str>| text.map_or(0, |text| matcher.mask(text, language));
        let title = of(hit.title.as_deref());
        let within = |range: &Range<usize>| {
            let from = found.partition_point(|one| one.at < range.start);
            let within = found.iter().skip(from).take_while(|one| one.at < range.end);
            within.fold(0, |mask, one| mask | one.mask)
        };
        let mut own: Vec<Mask> = reading.units.iter().map(|unit| within(&unit.range)).collect();
        let measure = asked.measure.and_then(|measure| Some((measure, measure.words()?)));
        let of_measure = measure.map_or(0, |(_, words)| matcher.mask(&words.join(" "), language));
        if let Some((measure, _)) = measure.filter(|_| of_measure != 0) {
            value_as_word(measure, of_measure, &mut own, text, &reading.units);
        }
        let columns = columns(&reading.units, &own);
        let key = |unit: &Unit| match unit.kind {
            Kind::Row => key(text, &unit.range, &found),
            _ => 0.0,
        };
        let keys = reading.units.iter().map(key).collect();
        let terms = terms(text, &reading.units, within);
        let quoted = Quoted {
            index,
            text,
            heading: hit.heading.as_deref(),
            reading: Arc::clone(reading),
            chosen: Vec::new(),
            with_code: asked.may_be_shown(),
        };
        // A heading that is within the passage is above what follows it only.
        let outer = quoted.outer_headings(|_| true);
        let above = outer.into_iter().fold(0, |words, heading| words | of(Some(heading)));
        let scores = Vec::with_capacity(reading.units.len());
        let is_definition_asked = asked.subject.is_some();
        let mut read = Self {
            quoted,
            own,
            of_measure,
            columns,
            keys,
            scores,
            is_definition_asked,
            words,
            above,
            title,
        };
        read.score(matcher, asked, &terms, prior);
        Some(read)
    }

    /// The words of the question in a unit, and in the header of its table.
    pub(super) fn said(&self, unit: usize) -> Mask {
        self.own_of(unit) | self.columns.get(unit).copied().flatten().unwrap_or(0)
    }

    /// The words of the question in a unit.
    pub(super) fn own_of(&self, unit: usize) -> Mask {
        self.own.get(unit).copied().unwrap_or(0)
    }

    /// Whether the passage or its headings contain a word of the question.
    pub(super) fn has_words(&self) -> bool {
        self.words | self.above | self.title != 0
    }

    /// Weighs each unit by the words of the question in it, in the previous unit and in the
    /// headings.
    fn score(&mut self, matcher: &Matcher<'_>, asked: &Asked<'_>, terms: &[Mask], prior: f32) {
        let mut headings = Headings::new(self.above);
        let distinguishing = Distinguishing::of(&self.quoted, &self.own, matcher);
        let asked_for = matcher.weight(Mask::MAX);
        let total = asked_for.max(f32::MIN_POSITIVE);
        let mut before: (Option<usize>, Mask) = (None, 0);
        // Whether the first sentence or row of a section about the subject is still to come, and the first sentence after it.
        let (mut leads, mut first_sentence) = (false, false);
        // The last table with a header.
        let mut header = None;
        let masks = self.own.iter().zip(&self.columns).zip(terms);
        let units = self.quoted.units().iter().zip(masks).enumerate();
        for (index, (unit, ((own, columns), term))) in units {
            let text = self.quoted.text(unit);
            if unit.kind == Kind::Heading {
                headings.enter(text, *own);
                before = (None, 0);
                leads = asked.subject.as_ref().is_some_and(|subject| subject.is_heading(text));
                first_sentence = leads;
                self.scores.push(0.0);
                continue;
            }
            let heading = headings.words();
            let previous = if before.0 == Some(unit.block) { before.1 } else { 0 };
            let said = own | term;
            let titled = self.title | columns.unwrap_or(0);
            let context = BEFORE * matcher.weight(previous & !said)
                + TITLED * matcher.weight(titled & !previous & !said)
                + ABOVE * matcher.weight(heading & !titled & !previous & !said)
                + (1.0 - ABOVE) * matcher.weight(heading & distinguishing.words() & !said);
            let of_term = OF_TERM * matcher.weight(*term);
            let share = matcher.weight(said) / total;
            let mut score = share + (context + of_term) / total;
            if asked.may_be_shown() && self.quoted.reading.is_technical {
                score += share * self.bonus(index, unit, asked);
            }
            if score > 0.0 {
                score += asked.met_by(text, self.quoted.reading.is_technical);
            }
            if asked.subject.as_ref().is_some_and(|subject| subject.is_defined_by(text)) {
                score += DEFINES;
            }
            let is_measure = |measure: &Attribute| measure.is_name(name_of(unit, text));
            if score > 0.0 && asked.measure.is_some_and(is_measure) {
                score += MEASURES;
            }
            if asked.compares && columns.is_some_and(|columns| columns.count_ones() >= COMPARED) {
                score += COMPARES;
            }
            if leads || first_sentence {
                let is_sentence = unit.kind == Kind::Sentence;
                let says = match unit.kind {
                    _ if is_question(text) || self.quoted.is_dangling(index) => false,
                    // "Languages: en | fr" begins no section.
                    Kind::Sentence => ends_sentence(text) || text.len() > LABEL_BYTES,
                    Kind::Row => header != Some(unit.block) && text.starts_with('|'),
                    Kind::Heading | Kind::Item { .. } | Kind::Header | Kind::Code => false,
                };
                if leads && says {
                    score += LEADS;
                    leads = false;
                    first_sentence = !is_sentence;
                } else if is_sentence && says {
                    score += FIRST_SENTENCE;
                    first_sentence = false;
                }
            }
            if unit.kind == Kind::Code {
                let says_nothing = asked.subject.is_some() || text.contains(asked.question);
                let is_shown = || asked.may_be_shown() && matcher.weight(heading) / total >= SHOWN;
                score *= match says_nothing {
                    true => ASKS,
                    false if is_shown() => BELOW_SUBJECT,
                    false => SHOWS,
                };
            }
            if is_question(text) {
                // A question is not an answer, but the text after it may be.
                headings.enter(text, *own);
                score *= ASKS;
            }
            if let Some(share) = distinguishing.share(heading, matcher) {
                score *= ELSEWHERE + (1.0 - ELSEWHERE) * share;
            }
            if self.quoted.is_dangling(index) {
                score *= DANGLES;
            }
            if unit.kind == Kind::Header {
                score = 0.0;
                header = Some(unit.block);
            }
            // Of rows with the same words, the one that is named by them is meant.
            if score > 0.0 {
                score += NAMED * self.keys.get(index).copied().unwrap_or(0.0);
            }
            // If no word is informative, the first sentence is as good as any.
            if score > 0.0 || asked_for <= 0.0 {
                score +=
                    FIRST / f32::from(u16::try_from(self.scores.len() + 1).unwrap_or(u16::MAX));
            }
            before = (Some(unit.block), *own);
            self.scores.push(score * prior);
        }
    }
}

impl Read<'_> {
    /// The bonus of a unit of a technical passage, if the question asks how something is done.
    fn bonus(&self, index: usize, unit: &Unit, asked: &Asked<'_>) -> f32 {
        if unit.kind == Kind::Code {
            return 0.0;
        }
        let mut bonus = for_length(unit.range.len());
        if self.quoted.reading.defines_code(index) {
            bonus += DEFINITION;
        }
        if asked.is_negated && is_negated(self.quoted.text(unit)) {
            bonus += NEGATED;
        }
        bonus
    }
}

/// The score of a title that says what its subject is for, and that has words of the question with this `weight`: that of the
/// beginning of a definition.
pub(in crate::extractive) fn title_score(title: &str, weight: f32, matcher: &Matcher<'_>) -> f32 {
    let total = matcher.weight(Mask::MAX).max(f32::MIN_POSITIVE);
    weight / total * (1.0 + for_length(title.len()) + DEFINITION)
}

/// The bonus for being short.
fn for_length(bytes: usize) -> f32 {
    SHORT / (1.0 + f32::from(u16::try_from(bytes).unwrap_or(u16::MAX)) / SHORT_BYTES)
}

/// For each unit, the words of the question in the term that its paragraph or item defines.
fn terms(text: &str, units: &[Unit], within: impl Fn(&Range<usize>) -> Mask) -> Vec<Mask> {
    let mut of_block = (None, 0);
    let mask = |unit: &Unit| {
        let begins = matches!(unit.kind, Kind::Item { .. }) || of_block.0 != Some(unit.block);
        if begins {
            let line = text.get(unit.range.clone()).unwrap_or_default();
            let is_prose = matches!(unit.kind, Kind::Item { .. } | Kind::Sentence);
            let term = defined_term(line).filter(|_| is_prose);
            let end = |term: &str| term.as_ptr().addr() - text.as_ptr().addr() + term.len();
            let mask = term.map_or(0, |term| within(&(unit.range.start..end(term))));
            of_block = (Some(unit.block), mask);
        }
        of_block.1
    };
    units.iter().map(mask).collect()
}

/// Whether a passage with these words of the question is worth reading in addition to the previous
/// ones: a second one if it has nearly as much of the question, a third one only if it has words
/// that those do not have. For technical ones, half as much is enough.
fn is_worth_reading(
    words: Mask,
    matcher: &Matcher<'_>,
    before: &[Read<'_>],
    is_technical: bool,
) -> bool {
    let best = before.iter().map(|read| matcher.weight(read.words)).fold(0.0, f32::max);
    let known = before.iter().fold(0, |mask, read| mask | read.words);
    match before.len() {
        0 => true,
        _ if is_technical => matcher.weight(words) >= TECHNICAL_WORTH_READING * best,
        1 => matcher.weight(words) >= WORTH_READING * best,
        _ => words & !known != 0 && matcher.weight(words) >= WORTH_READING * best,
    }
}
