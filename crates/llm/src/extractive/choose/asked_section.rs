//! Sections below a question: "## Can I pay in cash?". What answers it often has none of its words: "Yes.", "Write to us."

use std::ops::Range;

use cicerone_domain::retrieval::Hit;
use cicerone_language::{Language, terms};

use super::quoted::{Quoted, is_question};
use super::read::Read;
use crate::extractive::matcher::Matcher;
use crate::extractive::units::Kind;

/// A section answers if the question above it has this share of the question's weight, and if this share of its own words is in the
/// question.
const OF_QUESTION: f32 = 0.7;
const OF_HEADING: f32 = 0.5;
/// The longest sentence that only says yes or no, in words.
const OPENER_WORDS: usize = 4;
/// Words with which such a sentence begins.
const OPENERS: &[&str] = &[
    "yes",
    "no",
    "not",
    "sure",
    "certainly",
    "definitely",
    "absolutely",
    "never",
    "ja",
    "nein",
    "natürlich",
    "klar",
    "leider",
    "sí",
    "si",
    "oui",
    "non",
    "sim",
    "não",
    "sì",
    "nee",
    "tak",
    "nie",
    "да",
    "нет",
    "evet",
    "hayır",
];

/// A section that answers: the passage's place among those that are read, and its units.
pub(super) struct AskedSection {
    pub(super) passage: usize,
    pub(super) units: Range<usize>,
}

/// The units of the section whose question is most like the one that is asked, from its beginning, with at most `limit` characters
/// unless the first unit has more.
pub(super) fn asked_section(
    read: &[Read<'_>],
    passages: &[Hit],
    matcher: &Matcher<'_>,
    limit: usize,
) -> Option<AskedSection> {
    let mut best: Option<(f32, AskedSection)> = None;
    for (passage, read) in read.iter().enumerate() {
        let hit = passages.get(read.quoted.index).filter(|hit| !hit.is_pair);
        let Some(hit) = hit else { continue };
        let language = hit.language.as_deref().and_then(Language::from_code);
        for heading in (0..read.quoted.units().len()).filter(|unit| asks(&read.quoted, *unit)) {
            let own = read.own_of(heading);
            let share = matcher.share_of_question(own);
            if share < OF_QUESTION || best.as_ref().is_some_and(|(known, _)| *known >= share) {
                continue;
            }
            let words = terms(read.quoted.unit_text(heading), language);
            let words = words.iter().filter(|word| !word.is_stop_word && !word.is_compound).count();
            let is_asked = ratio(own.count_ones(), words) >= OF_HEADING;
            let units = section(&read.quoted, heading, limit);
            if is_asked && !units.is_empty() {
                best = Some((share, AskedSection { passage, units }));
            }
        }
    }
    best.map(|(_, section)| section)
}

fn ratio(part: u32, all: usize) -> f32 {
    let number = |count| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    number(usize::try_from(part).unwrap_or(usize::MAX)) / number(all.max(1))
}

/// Whether a unit is a question that stands above others: a heading, or a paragraph of its own.
fn asks(quoted: &Quoted<'_>, unit: usize) -> bool {
    let stands_alone = match quoted.kind(unit) {
        Some(Kind::Heading) => true,
        Some(Kind::Sentence) => quoted.is_alone(unit),
        _ => false,
    };
    stands_alone && is_question(quoted.unit_text(unit).trim_end_matches(['*', '_', ' ']))
}

/// The units below a question, up to the next one or the next heading.
fn section(quoted: &Quoted<'_>, heading: usize, limit: usize) -> Range<usize> {
    let start = heading + 1;
    let mut chars = 0;
    let is_below = |unit: &usize| {
        quoted.kind(*unit) != Some(Kind::Heading) && !asks(quoted, *unit) && {
            chars += quoted.unit_text(*unit).chars().count() + 1;
            *unit == start || chars <= limit
        }
    };
    let mut end = start + (start..quoted.units().len()).take_while(is_below).count();
    // What announces a list is not quoted without it.
    while end > start + 1 && quoted.announces(end - 1) {
        end -= 1;
    }
    start..end
}

/// The sentence that says yes or no at the beginning of the section with `unit`, if that is below a question.
pub(super) fn opener(quoted: &Quoted<'_>, unit: usize) -> Option<usize> {
    let is_above =
        |above: &usize| quoted.kind(*above) == Some(Kind::Heading) || asks(quoted, *above);
    let heading = (0..unit).rev().find(is_above).filter(|heading| asks(quoted, *heading))?;
    let first = heading + 1;
    let text = quoted.unit_text(first).to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let begins = words.next().is_some_and(|word| OPENERS.contains(&word));
    let is_short = words.count() < OPENER_WORDS;
    (first < unit && quoted.kind(first) == Some(Kind::Sentence) && begins && is_short)
        .then_some(first)
}
