//! Stretches of a text, each fit to be found and cited on its own.

mod blocks;
mod pieces;

use std::ops::Range;

use blocks::{Kind, blocks};
use pieces::{Piece, pieces};

/// A stretch aims at this many characters.
const TARGET_CHARS: usize = 1_600;
/// A stretch takes what is left of its section up to this many characters, so that no crumb remains.
const MAX_CHARS: usize = 2_000;
/// A stretch below this many characters is joined with its neighbour.
const MIN_CHARS: usize = 200;
/// What joins the headings of a path.
const PATH_SEPARATOR: &str = " › ";

/// A stretch of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its bytes in the text, without white space around.
    pub range: Range<usize>,
    /// The headings that it stands under, outermost first, joined by ` › `.
    pub heading: Option<String>,
}

/// Splits a text into stretches of about 1,600 and at most 2,000 characters, in order.
///
/// A stretch ends at a heading where it can, else between blocks (paragraphs, lists, code), else
/// between sentences; only a sentence that is longer than a stretch is split within.
///
/// Invariant: every character that is not white space or a thematic break lies in exactly one of
/// them.
pub fn chunks(text: &str) -> Vec<Chunk> {
    let mut stretches = Vec::new();
    for section in sections(text) {
        section.pack(&mut stretches);
    }
    join_small(stretches)
        .into_iter()
        .map(|stretch| Chunk {
            range: stretch.range,
            heading: (!stretch.path.is_empty()).then(|| stretch.path.join(PATH_SEPARATOR)),
        })
        .collect()
}

/// What stands under one heading, up to the next.
struct Section {
    path: Vec<String>,
    pieces: Vec<Piece>,
}

/// Pieces put together.
#[derive(Debug)]
struct Stretch {
    path: Vec<String>,
    range: Range<usize>,
    chars: usize,
    /// Characters between the stretch before and this one.
    gap: usize,
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    // The headings above the current place, with their levels.
    let mut open: Vec<(u8, String)> = Vec::new();
    for block in blocks(text) {
        if let Kind::Heading { level, title } = &block.kind {
            open.retain(|(above, _)| above < level);
            open.push((*level, title.clone()));
        }
        let starts = matches!(block.kind, Kind::Heading { .. }) || sections.is_empty();
        if starts {
            let path = open.iter().map(|(_, title)| title.clone()).collect();
            sections.push(Section { path, pieces: Vec::new() });
        }
        if let Some(section) = sections.last_mut() {
            section.pieces.extend(pieces(text, &block));
        }
    }
    measure_gaps(text, &mut sections);
    sections
}

/// Counts what stands before each piece, back to the one before.
fn measure_gaps(text: &str, sections: &mut [Section]) {
    let mut end = 0;
    for piece in sections.iter_mut().flat_map(|section| &mut section.pieces) {
        let gap = text.get(end..piece.range.start).unwrap_or_default();
        piece.gap = gap.chars().count();
        end = piece.range.end;
    }
}

impl Section {
    /// Puts its pieces together, as many to a stretch as fit.
    fn pack(self, stretches: &mut Vec<Stretch>) {
        let mut left: usize = self.pieces.iter().map(|piece| piece.gap + piece.chars).sum();
        let mut current: Option<Stretch> = None;
        for piece in self.pieces {
            left -= piece.gap + piece.chars;
            if let Some(stretch) = &mut current {
                let grown = stretch.chars + piece.gap + piece.chars;
                if grown + left <= MAX_CHARS || grown <= TARGET_CHARS {
                    stretch.range.end = piece.range.end;
                    stretch.chars = grown;
                    continue;
                }
            }
            let Piece { range, chars, gap } = piece;
            let next = Stretch { path: self.path.clone(), range, chars, gap };
            stretches.extend(current.replace(next));
        }
        stretches.extend(current);
    }
}

/// Joins stretches too small to stand alone with the next one, and the last with the one before.
fn join_small(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let mut joined: Vec<Stretch> = Vec::new();
    for stretch in stretches {
        match joined.last_mut() {
            Some(last) if last.chars < MIN_CHARS && last.takes(&stretch) => {
                last.join(stretch);
            }
            Some(_) | None => joined.push(stretch),
        }
    }
    if let Some(last) = joined.pop() {
        match joined.last_mut() {
            Some(before) if last.chars < MIN_CHARS && before.takes(&last) => {
                before.join(last);
            }
            Some(_) | None => joined.push(last),
        }
    }
    joined
}

impl Stretch {
    /// Whether it is not too long together with the stretch after it.
    fn takes(&self, next: &Self) -> bool {
        self.chars + next.gap + next.chars <= MAX_CHARS
    }

    /// Takes in the stretch after it. The path is that of the larger part where one stands under the
    /// other, else what both share.
    fn join(&mut self, next: Self) {
        let shared =
            self.path.iter().zip(&next.path).take_while(|(left, right)| left == right).count();
        let nested = shared == self.path.len() || shared == next.path.len();
        if !nested {
            self.path.truncate(shared);
        } else if next.chars > self.chars {
            self.path = next.path;
        }
        self.range.end = next.range.end;
        self.chars += next.gap + next.chars;
    }
}

#[cfg(test)]
mod tests;
