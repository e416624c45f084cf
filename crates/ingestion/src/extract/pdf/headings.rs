//! Headings: lines of larger or bolder type than the text.

use std::collections::BTreeMap;

use super::rows::Row;

/// Type that is larger than the text by this factor is a heading.
const LARGER: f64 = 1.15;
/// The maximum number of characters of a heading, and of one in the size of the text.
const CHARS: usize = 150;
const BOLD_CHARS: usize = 90;
/// A font size that more than this fraction of the characters have is text.
const TEXT_SHARE: f64 = 0.2;
/// If more than this fraction of the characters are bold, boldness is ignored.
const BOLD_SHARE: f64 = 0.3;
/// Documents with fewer characters in the size of the text have no headings.
const FEW_CHARS: usize = 120;
/// The number of heading sizes that are distinguished.
const LEVELS: usize = 4;

/// The sizes of a document's type, in half points.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    /// The size of the text; 0 if there is too little of it.
    body: u64,
    /// The sizes of headings, largest first.
    larger: Vec<u64>,
    bold_tells: bool,
}

impl Sizes {
    pub(super) fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        let mut chars: BTreeMap<u64, usize> = BTreeMap::new();
        let (mut all, mut bold) = (0, 0);
        for run in rows.flat_map(|row| &row.cells) {
            let count = run.text.chars().filter(|char| char.is_alphanumeric()).count();
            *chars.entry(half_points(run.size)).or_default() += count;
            all += count;
            bold += if run.is_bold { count } else { 0 };
        }
        let Some((body, most)) = chars.iter().max_by_key(|(_, count)| **count) else {
            return Self::default();
        };
        if *most < FEW_CHARS {
            return Self::default();
        }
        let is_heading = |(size, count): &(&u64, &usize)| {
            **size as f64 >= LARGER * *body as f64
                && (**count as f64) <= TEXT_SHARE * all as f64
                && **count > 0
        };
        let mut larger: Vec<u64> = chars.iter().filter(is_heading).map(|(size, _)| *size).collect();
        larger.reverse();
        Self { body: *body, larger, bold_tells: (bold as f64) < BOLD_SHARE * all as f64 }
    }

    /// The level of a row as a heading, from 1. `None` if it is text. A row of bold type must begin a block and not be a
    /// line of a bold paragraph.
    pub(super) fn level(&self, row: &Row, begins: bool, next: Option<&Row>) -> Option<usize> {
        let [run] = row.cells.as_slice() else { return None };
        let (chars, text) = (run.text.chars().count(), run.text.trim());
        let letters = text.chars().filter(|char| char.is_alphabetic()).count();
        if self.body == 0 || chars > CHARS || letters < 2 || 2 * letters < chars {
            return None;
        }
        let size = half_points(run.size);
        if let Some(rank) = self.larger.iter().position(|larger| *larger == size) {
            return Some(rank.min(LEVELS - 1) + 1);
        }
        let is_last = next.is_none_or(|next| {
            let is_same = next.is_bold() && half_points(next.size()) == size;
            !is_same
        });
        let is_bold = self.bold_tells
            && run.is_bold
            && begins
            && is_last
            && size >= self.body
            && chars <= BOLD_CHARS
            && next.is_some()
            && !text.ends_with(['.', ',', ';', ':', '!']);
        is_bold.then(|| self.larger.len().min(LEVELS) + 1)
    }
}

fn half_points(size: f64) -> u64 {
    (2.0 * size).round().clamp(0.0, 10_000.0) as u64
}
