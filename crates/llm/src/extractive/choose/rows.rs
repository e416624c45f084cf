//! The rows of tables and the items of lists: what they are about, and which belong together.

use std::ops::Range;

use cicerone_language::defined_term;

use super::read::Read;
use crate::extractive::attributes::Attribute;
use crate::extractive::matcher::{Mask, Occurrence};
use crate::extractive::units::{Kind, Unit};

/// The longest table or list that is quoted as a whole, in rows or items and in characters.
const BLOCK_UNITS: usize = 10;
const BLOCK_CHARS: usize = 900;

impl Read<'_> {
    /// Whether a row of the same table that is chosen has the same words of the question, and either more of them or a first cell
    /// that is asked for more exactly: "Ireland" and not "Northern Ireland". Rows of a table without a header are no
    /// alternatives of each other.
    pub(super) fn is_outdone(&self, row: usize) -> bool {
        let units = self.quoted.units();
        let Some(of_row) = units.get(row).filter(|unit| unit.kind == Kind::Row) else {
            return false;
        };
        let key = |unit: usize| self.keys.get(unit).copied().unwrap_or(0.0);
        if self.columns.get(row).copied().flatten().is_none() {
            return false;
        }
        let own = self.own_of(row);
        self.quoted.chosen.iter().any(|other| {
            let is_beside = units
                .get(*other)
                .is_some_and(|unit| unit.kind == Kind::Row && unit.block == of_row.block);
            let theirs = self.own_of(*other);
            is_beside && own & !theirs == 0 && (theirs != own || key(*other) > key(row))
        })
    }

    /// The first and last unit of a short table or list in which no unit has a word of the question. Its heading or header was
    /// asked for, so all of it is the answer. The heading of a list must have words of the question, or
    /// the sentence that introduces it.
    pub(super) fn whole_block(&self, unit: usize) -> Option<(usize, usize)> {
        let units = self.quoted.units();
        let is_alike = |one: Kind, other: Kind| match one {
            Kind::Item { .. } => matches!(other, Kind::Item { .. }),
            one => one == Kind::Row && other == Kind::Row,
        };
        let Unit { block, kind, .. } = units.get(unit)?;
        let is_of_block =
            |(_, other): &(usize, &Unit)| other.block == *block && is_alike(other.kind, *kind);
        let mut all = units.iter().enumerate().filter(is_of_block).map(|(index, _)| index);
        let first = all.next()?;
        let last = all.next_back().unwrap_or(first);
        let chars: usize =
            (first..=last).map(|unit| self.quoted.unit_text(unit).chars().count()).sum();
        let is_plain = (first..=last).all(|unit| self.own_of(unit) & !self.of_measure == 0);
        let is_short = last - first < BLOCK_UNITS && chars <= BLOCK_CHARS;
        let is_asked = match kind {
            Kind::Row => !self.is_definition_asked,
            _ => self.is_introduced(first),
        };
        (is_plain && is_short && is_asked).then_some((first, last))
    }

    /// Whether the heading above a list, or the sentence that introduces it, has words of the question.
    fn is_introduced(&self, first: usize) -> bool {
        let before = first.checked_sub(1).filter(|before| self.quoted.announces(*before));
        let is_heading = |unit: &usize| self.quoted.kind(*unit) == Some(Kind::Heading);
        let heading = (0..first).rev().find(is_heading);
        let words = before.map_or(0, |before| self.own_of(before))
            | heading.map_or(self.above, |heading| self.own_of(heading));
        words != 0
    }
}

/// What a row or definition is about: its first cell, or its term.
pub(super) fn name_of<'t>(unit: &Unit, text: &'t str) -> &'t str {
    match unit.kind {
        Kind::Row => first_cell(text),
        Kind::Sentence | Kind::Item { .. } => defined_term(text).unwrap_or_default(),
        Kind::Heading | Kind::Header | Kind::Code => "",
    }
}

fn first_cell(row: &str) -> &str {
    let cells = row.trim_start_matches(['|', ' ']);
    cells.split(['|', '\t']).next().unwrap_or_default()
}

/// The share of the words of a row's first cell that are among the occurrences of the question's words.
pub(super) fn key(text: &str, row: &Range<usize>, found: &[Occurrence]) -> f32 {
    let line = text.get(row.clone()).unwrap_or_default();
    let cell = first_cell(line);
    let start = cell.as_ptr().addr() - text.as_ptr().addr();
    let words = cell.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
    let from = found.partition_point(|one| one.at < start);
    let asked = found.iter().skip(from).take_while(|one| one.at < start + cell.len()).count();
    let share = |count: usize| f32::from(u16::try_from(count).unwrap_or(u16::MAX));
    (share(asked) / share(words.max(1))).min(1.0)
}

/// For each row, the words of the question in the header of its table; `None` for other units and without a header.
pub(super) fn columns(units: &[Unit], own: &[Mask]) -> Vec<Option<Mask>> {
    let mut header = (None, 0);
    let of = |(unit, own): (&Unit, &Mask)| {
        if unit.kind == Kind::Header {
            header = (Some(unit.block), *own);
        }
        let is_row = unit.kind == Kind::Row && header.0 == Some(unit.block);
        is_row.then_some(header.1)
    };
    units.iter().zip(own).map(of).collect()
}

/// Counts the words that only ask for a measure, as in "What does a berth cost?", as present in units with a value of it, and as
/// absent in all others. Nothing changes if no unit has a value.
pub(super) fn value_as_word(
    measure: &Attribute,
    words: Mask,
    own: &mut [Mask],
    text: &str,
    units: &[Unit],
) {
    let has_value = |unit: &Unit| {
        let said = || text.get(unit.range.clone()).unwrap_or_default();
        !matches!(unit.kind, Kind::Heading | Kind::Header)
            && measure.has_value(said()) == Some(true)
    };
    let values: Vec<bool> = units.iter().map(has_value).collect();
    if !values.contains(&true) {
        return;
    }
    for ((unit, own), has_value) in units.iter().zip(own).zip(values) {
        match unit.kind {
            Kind::Heading | Kind::Header => {}
            _ if has_value => *own |= words,
            _ => *own &= !words,
        }
    }
}
