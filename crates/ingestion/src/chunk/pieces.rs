//! Blocks cut into pieces that fit a stretch.

use std::ops::Range;

use cicerone_language::sentences;

use super::blocks::{Block, Kind};
use super::{MAX_CHARS, TARGET_CHARS};

/// A part of a block that is kept in one stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its bytes in the text, without white space around.
    pub(super) range: Range<usize>,
    /// Its length in characters.
    pub(super) chars: usize,
    /// Characters between the previous piece and this one; not known yet while a block is cut.
    pub(super) gap: usize,
}

/// The pieces of a block, in order: the whole block if it fits, otherwise its sentences, or its lines if it is a list,
/// table or code. A piece that is still too long is cut between words.
pub(super) fn pieces(text: &str, block: &Block) -> Vec<Piece> {
    let Some(whole) = piece(text, block.range.clone()) else { return Vec::new() };
    if whole.chars <= MAX_CHARS {
        return vec![whole];
    }
    let body = text.get(whole.range.clone()).unwrap_or_default();
    let starts: Vec<usize> = match block.kind {
        Kind::Heading { .. } | Kind::Paragraph => {
            sentences(body).into_iter().map(|range| range.start).collect()
        }
        Kind::List | Kind::Table | Kind::Code => {
            body.match_indices('\n').map(|(end, _)| end + 1).collect()
        }
    };
    // Text between two sentences stays with the first.
    let inner = starts.into_iter().filter(|start| *start > 0 && *start < body.len());
    let bounds: Vec<usize> = std::iter::once(0)
        .chain(inner)
        .chain(std::iter::once(body.len()))
        .map(|bound| whole.range.start + bound)
        .collect();
    bounds
        .iter()
        .zip(bounds.iter().skip(1))
        .filter_map(|(start, end)| piece(text, *start..*end))
        .flat_map(|piece| fitting(text, piece))
        .collect()
}

/// The bytes of `range` without surrounding white space. `None` if it is only white space.
fn piece(text: &str, range: Range<usize>) -> Option<Piece> {
    let body = text.get(range.clone())?;
    let start = range.start + (body.len() - body.trim_start().len());
    let trimmed = body.trim();
    let range = start..start + trimmed.len();
    (!trimmed.is_empty()).then(|| Piece { range, chars: trimmed.chars().count(), gap: 0 })
}

/// The piece itself if it fits, otherwise parts of it that end between words if possible. The time
/// is linear in the length of the piece.
fn fitting(text: &str, whole: Piece) -> Vec<Piece> {
    let mut parts = Vec::new();
    let mut rest = whole;
    while rest.chars > MAX_CHARS {
        let body = text.get(rest.range.clone()).unwrap_or_default();
        let (part, behind) = body.split_at_checked(cut_at(body)).unwrap_or((body, ""));
        let next = behind.trim_start();
        parts.extend(piece(text, rest.range.start..rest.range.start + part.len()));
        let passed = body.get(..body.len() - next.len()).unwrap_or_default();
        rest.range.start += passed.len();
        rest.chars -= passed.chars().count();
    }
    parts.push(rest);
    parts
}

/// Where to cut a text that is longer than a stretch: after the last white space of its first
/// [`TARGET_CHARS`] characters, or after these if they contain none.
fn cut_at(body: &str) -> usize {
    let limit = body.char_indices().nth(TARGET_CHARS).map_or(body.len(), |(index, _)| index);
    let space = body.get(..limit).and_then(|start| start.rfind(char::is_whitespace));
    space.filter(|index| *index > 0).unwrap_or(limit)
}
