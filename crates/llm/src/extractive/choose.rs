//! Which sentences of the passages answer the question.

use std::collections::HashSet;

use cicerone_domain::ports::ReplyRequest;
use cicerone_domain::retrieval::Hit;
use cicerone_language::Language;

use super::definition::Subject;
use super::hints::Wanted;
use super::matcher::{Mask, Matcher};
use super::units::{self, Kind, Unit};

/// Characters that a reply has at most, unless one piece needs more.
const REPLY_CHARS: usize = 300;
/// Characters up to which a sentence is joined by the one before that it refers to.
const WITH_CONTEXT_CHARS: usize = 450;
/// Passages that are read.
const PASSAGES: usize = 3;
/// The share of the best passage's weight that another one needs to be read.
const WORTH_READING: f32 = 0.75;
/// What a word of the question counts in the sentence before, and in the headings.
const BEFORE: f32 = 0.4;
const ABOVE: f32 = 0.3;
/// What it counts that a sentence has the kind of thing that is asked for.
const MEETS: f32 = 0.1;
/// What it counts that a sentence says what the question asks the nature of.
const DEFINES: f32 = 0.5;
/// What is left of the score of a sentence that itself is a question, and of code that quotes the
/// question.
const ASKS: f32 = 0.01;
/// What standing at the very beginning of a passage counts.
const FIRST: f32 = 0.05;
/// What standing beside a chosen sentence counts.
const BESIDE: f32 = 0.1;
/// How much less a sentence counts whose words of the question are already covered.
const COVERED: f32 = 0.3;
/// The share of the best sentence's score that another one needs.
const WORTH_ADDING: f32 = 0.5;

/// The sentences to quote.
#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    /// Passages, the one with the best sentence first.
    pub(super) passages: Vec<Quoted<'a>>,
}

/// What is quoted of a passage.
#[derive(Debug)]
pub(super) struct Quoted<'a> {
    /// Its position among the request's.
    pub(super) index: usize,
    /// Its text.
    pub(super) text: &'a str,
    /// What it consists of.
    pub(super) units: Vec<Unit>,
    /// The numbers of the quoted units, in order.
    pub(super) chosen: Vec<usize>,
}

/// Chooses sentences for a request.
pub(super) fn sentences<'a>(request: &'a ReplyRequest, matcher: &Matcher<'_>) -> Choice<'a> {
    let asked = Asked::of(&request.question);
    let mut read: Vec<Read<'_>> = Vec::new();
    let top = request.passages.first().map_or(1.0, |hit| hit.score);
    for (index, hit) in request.passages.iter().enumerate().take(PASSAGES) {
        // A pair is quoted whole or not at all.
        if !hit.is_pair || index == 0 {
            let prior = if top > 0.0 { 0.7 + 0.3 * (hit.score / top).clamp(0.0, 1.0) } else { 1.0 };
            read.extend(Read::new(index, hit, matcher, &asked, prior, &read));
        }
    }
    let mut pick = Pick { read, matcher, order: Vec::new(), covered: 0, chars: 0 };
    pick.fill();
    pick.into_choice()
}

/// What a question asks for.
struct Asked<'a> {
    question: &'a str,
    wanted: Wanted,
    subject: Option<Subject>,
}

impl<'a> Asked<'a> {
    fn of(question: &'a str) -> Self {
        let question = question.trim();
        Self { question, wanted: Wanted::of(question), subject: Subject::of(question) }
    }
}

/// A passage that was read, its units weighed.
struct Read<'a> {
    quoted: Quoted<'a>,
    own: Vec<Mask>,
    scores: Vec<f32>,
    weight: f32,
}

impl<'a> Read<'a> {
    /// Reads a passage; none where it offers too little beside those before it.
    fn new(
        index: usize,
        hit: &'a Hit,
        matcher: &Matcher<'_>,
        asked: &Asked<'_>,
        prior: f32,
        before: &[Self],
    ) -> Option<Self> {
        let language = hit.language.as_deref().and_then(Language::from_code);
        let text = hit.text.as_str();
        let found = matcher.find(text, language);
        let weight = matcher.weight(found.iter().fold(0, |mask, one| mask | one.mask));
        let best = before.iter().map(|read| read.weight).fold(0.0, f32::max);
        if !before.is_empty() && weight < WORTH_READING * best {
            return None;
        }
        let titles = [hit.title.as_deref(), hit.heading.as_deref()];
        let above =
            titles.into_iter().flatten().fold(0, |mask, text| mask | matcher.mask(text, language));
        let units = units::of(text);
        let own = units
            .iter()
            .map(|unit| {
                let from = found.partition_point(|one| one.at < unit.range.start);
                let within = found.iter().skip(from).take_while(|one| one.at < unit.range.end);
                within.fold(0, |mask, one| mask | one.mask)
            })
            .collect();
        let quoted = Quoted { index, text, units, chosen: Vec::new() };
        let mut read = Self { quoted, own, scores: Vec::new(), weight };
        read.score(matcher, asked, above, prior);
        Some(read)
    }

    /// Weighs each unit by the words of the question in it, in the one before and in the headings.
    fn score(&mut self, matcher: &Matcher<'_>, asked: &Asked<'_>, above: Mask, prior: f32) {
        let total = matcher.weight(Mask::MAX).max(f32::MIN_POSITIVE);
        let mut heading = above;
        let mut before: (Option<usize>, Mask) = (None, 0);
        for (unit, own) in self.quoted.units.iter().zip(&self.own) {
            let text = self.quoted.text(unit);
            if unit.kind == Kind::Heading {
                heading = above | own;
                before = (None, 0);
                self.scores.push(0.0);
                continue;
            }
            let previous = if before.0 == Some(unit.block) { before.1 } else { 0 };
            let context = BEFORE * matcher.weight(previous & !own)
                + ABOVE * matcher.weight(heading & !previous & !own);
            let mut score = (matcher.weight(*own) + context) / total;
            if score > 0.0 && asked.wanted.is_met_by(text) {
                score += MEETS;
            }
            if asked.subject.as_ref().is_some_and(|subject| subject.is_defined_by(text)) {
                score += DEFINES;
            }
            if unit.kind == Kind::Code && text.contains(asked.question) {
                score *= ASKS;
            }
            if is_question(text) {
                // What asks does not answer; what follows it does.
                heading = above | own;
                score *= ASKS;
            }
            if unit.kind == Kind::Header {
                score = 0.0;
            }
            score += FIRST / f32::from(u16::try_from(self.scores.len() + 1).unwrap_or(u16::MAX));
            before = (Some(unit.block), *own);
            self.scores.push(score * prior);
        }
    }
}

impl<'a> Quoted<'a> {
    /// The text of a unit.
    pub(super) fn text(&self, unit: &Unit) -> &'a str {
        self.text.get(unit.range.clone()).unwrap_or_default()
    }

    fn kind(&self, unit: usize) -> Option<Kind> {
        self.units.get(unit).map(|unit| unit.kind)
    }

    fn unit_text(&self, unit: usize) -> &'a str {
        self.units.get(unit).map_or("", |unit| self.text(unit))
    }

    fn is_same_block(&self, a: usize, b: usize) -> bool {
        match (self.units.get(a), self.units.get(b)) {
            (Some(a), Some(b)) => a.block == b.block,
            _ => false,
        }
    }

    /// The last unit of the block of `unit`.
    fn block_end(&self, unit: usize) -> usize {
        (unit..self.units.len())
            .take_while(|next| self.is_same_block(unit, *next))
            .last()
            .unwrap_or(unit)
    }

    fn block_start(&self, unit: usize) -> usize {
        (0..=unit).rev().take_while(|next| self.is_same_block(unit, *next)).last().unwrap_or(unit)
    }

    /// The units that must stand with `unit` to be understood: first and last.
    fn whole(&self, unit: usize) -> (usize, usize) {
        let text = self.unit_text(unit);
        match self.kind(unit) {
            Some(Kind::Item { is_ordered }) => {
                let start = self.block_start(unit);
                let is_introduced = start > 0 && introduces(self.unit_text(start - 1));
                match (is_ordered, is_introduced) {
                    (true, true) => (start - 1, self.block_end(unit)),
                    (true, false) => (start, self.block_end(unit)),
                    (false, _) => (unit, unit),
                }
            }
            Some(Kind::Code) if unit > 0 && introduces(self.unit_text(unit - 1)) => {
                (unit - 1, unit)
            }
            Some(Kind::Sentence) if introduces(text) && unit + 1 < self.units.len() => {
                match self.kind(unit + 1) {
                    Some(Kind::Sentence | Kind::Heading) | None => (unit, unit + 1),
                    Some(_) => (unit, self.block_end(unit + 1)),
                }
            }
            Some(Kind::Sentence) => (self.antecedent(unit), unit),
            _ => (unit, unit),
        }
    }

    /// The sentence that `unit` needs before it: itself, unless it begins with a word such as "it".
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

/// The choice in the making.
struct Pick<'a, 'm> {
    read: Vec<Read<'a>>,
    matcher: &'m Matcher<'m>,
    /// Passages in the order in which they were first quoted.
    order: Vec<usize>,
    covered: Mask,
    chars: usize,
}

impl<'a> Pick<'a, '_> {
    /// Adds units, best first, as long as they are worth it and fit.
    fn fill(&mut self) {
        let mut refused: HashSet<(usize, usize)> = HashSet::new();
        let mut least = f32::MIN_POSITIVE;
        while let Some((passage, unit, value)) = self.best(&refused) {
            if value < least {
                break;
            }
            if self.order.is_empty() {
                least = WORTH_ADDING * value;
            }
            if !self.add(passage, unit) {
                refused.insert((passage, unit));
            }
        }
    }

    /// The best unit that is not chosen, with its value beside what is.
    fn best(&self, refused: &HashSet<(usize, usize)>) -> Option<(usize, usize, f32)> {
        let mut best: Option<(usize, usize, f32)> = None;
        for (passage, read) in self.read.iter().enumerate() {
            for (unit, (score, own)) in read.scores.iter().zip(&read.own).enumerate() {
                let chosen = &read.quoted.chosen;
                if *score <= 0.0 || chosen.contains(&unit) || refused.contains(&(passage, unit)) {
                    continue;
                }
                let weight = self.matcher.weight(*own);
                let repeated = self.matcher.weight(own & self.covered);
                let share = if weight > 0.0 { repeated / weight } else { 0.0 };
                let is_beside = chosen.iter().any(|other| other.abs_diff(unit) == 1);
                let value = score * (1.0 - COVERED * share) + if is_beside { BESIDE } else { 0.0 };
                if best.is_none_or(|(_, _, other)| value > other) {
                    best = Some((passage, unit, value));
                }
            }
        }
        best
    }

    /// Adds a unit with what it needs; false where that does not fit or says nothing new.
    fn add(&mut self, passage: usize, unit: usize) -> bool {
        let Some(read) = self.read.get(passage) else { return false };
        let (from, to) = read.quoted.whole(unit);
        let new: Vec<usize> = (from..=to)
            .filter(|unit| !read.quoted.chosen.contains(unit))
            .filter(|unit| read.quoted.kind(*unit) != Some(Kind::Heading))
            .collect();
        let chars: usize =
            new.iter().map(|unit| read.quoted.unit_text(*unit).chars().count() + 1).sum();
        let is_first = self.order.is_empty();
        if !is_first && (self.chars + chars > REPLY_CHARS || self.repeats(read, unit)) {
            return false;
        }
        self.chars += chars;
        if !self.order.contains(&passage) {
            self.order.push(passage);
        }
        if let Some(read) = self.read.get_mut(passage) {
            for unit in new {
                self.covered |= read.own.get(unit).copied().unwrap_or(0);
                read.quoted.chosen.push(unit);
            }
            read.quoted.chosen.sort_unstable();
        }
        true
    }

    /// Whether a chosen unit says the same in the same words.
    fn repeats(&self, read: &Read<'_>, unit: usize) -> bool {
        let words = words(read.quoted.unit_text(unit));
        self.read.iter().any(|other| {
            other.quoted.chosen.iter().any(|chosen| {
                let theirs = self::words(other.quoted.unit_text(*chosen));
                let common = words.intersection(&theirs).count();
                common * 10 >= words.len().min(theirs.len()) * 8
            })
        })
    }

    fn into_choice(self) -> Choice<'a> {
        let mut read: Vec<Option<Read<'a>>> = self.read.into_iter().map(Some).collect();
        let passages = self
            .order
            .iter()
            .filter_map(|passage| read.get_mut(*passage).and_then(Option::take))
            .map(|read| read.quoted)
            .collect();
        Choice { passages }
    }
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Whether a sentence promises something after it.
fn introduces(text: &str) -> bool {
    text.ends_with([':', '：'])
}

fn is_question(text: &str) -> bool {
    text.ends_with(['?', '？', '؟'])
}

/// Words that refer to the sentence before when a sentence begins with them.
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
