//! Cuts a text into stretches that can be found and cited on their own.

mod blocks;
mod pieces;

use std::ops::Range;
use std::sync::Arc;

use cicerone_domain::{Passage, limits};

use blocks::{Kind, blocks};
use pieces::{Piece, pieces};

/// The target length of a stretch, in characters.
const TARGET_CHARS: usize = 1_600;
/// A stretch may grow to this many characters if this completes its section, so that no short
/// remainder is left.
const MAX_CHARS: usize = 2_000;
/// A stretch of fewer characters is joined with its neighbour; in a long text the bound is higher.
const MIN_CHARS: usize = 200;
/// Replaces the outer headings that a path omits.
const LEFT_OUT: &str = "… › ";

/// A part of a text that can be found and cited on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Its bytes in the text, without white space around.
    pub range: Range<usize>,
    /// The headings above it, outermost first, joined by ` › `: at most 400 characters, each heading at most 200.
    /// Chunks of one section share it.
    pub heading: Option<Arc<str>>,
}

/// Cuts a text into chunks of about 1,600 and at most 2,000 characters, in order.
///
/// A chunk ends at a heading if possible, otherwise between blocks (paragraphs, lists, code), otherwise between
/// sentences; only a sentence that is longer than a chunk is cut. There are at most 20,000 chunks: in a text of more than
/// two million characters, more small sections share one. Headings take at most 4 MiB together; chunks beyond that have
/// none.
///
/// Invariant: every character that is not white space or a thematic break is in exactly one chunk.
///
/// # Examples
///
/// ```
/// let text = "# Tides\n\nThey come twice a day.";
/// let chunks = cicerone_ingestion::chunks(text);
/// assert_eq!(chunks.len(), 1);
/// assert_eq!(chunks[0].heading.as_deref(), Some("Tides"));
/// assert_eq!(&text[chunks[0].range.clone()], text);
/// ```
pub fn chunks(text: &str) -> Vec<Chunk> {
    // Any two neighbours together exceed the minimum, which bounds their number.
    let min = MIN_CHARS.max(text.chars().count() / (limits::DOCUMENT_PASSAGES / 2) + 1);
    let mut joined = Joined { stretches: Vec::new(), min };
    let mut section = Section::default();
    // The headings above the current place, with their levels.
    let mut open: Vec<(u8, Arc<str>)> = Vec::new();
    let mut end = 0;
    for block in blocks(text) {
        if let Kind::Heading { level, title } = &block.kind {
            std::mem::take(&mut section).pack(&mut joined);
            open.retain(|(above, _)| above < level);
            open.push((*level, title.as_str().into()));
            section.path = open.iter().map(|(_, title)| Arc::clone(title)).collect();
        }
        for mut piece in pieces(text, &block) {
            let gap = text.get(end..piece.range.start).unwrap_or_default();
            piece.gap = gap.chars().count();
            end = piece.range.end;
            section.pieces.push(piece);
        }
    }
    section.pack(&mut joined);
    with_headings(joined.finish())
}

/// Writes the path of each stretch, once for neighbours that share it.
fn with_headings(stretches: Vec<Stretch>) -> Vec<Chunk> {
    let mut left = limits::DOCUMENT_HEADING_BYTES;
    let mut last: Option<(Path, Option<Arc<str>>)> = None;
    let mut chunks = Vec::with_capacity(stretches.len());
    for Stretch { path, range, .. } in stretches {
        let heading = match last.take() {
            Some((same, heading)) if Arc::ptr_eq(&same, &path) => heading,
            _ => joined_path(&path),
        };
        let bytes = heading.as_ref().map_or(0, |heading| heading.len());
        let kept = heading.clone().filter(|_| bytes <= left);
        left = left.saturating_sub(bytes);
        last = Some((path, heading));
        chunks.push(Chunk { range, heading: kept });
    }
    chunks
}

/// The headings of a path in one line. If they are too long together, the outermost are omitted.
fn joined_path(path: &[Arc<str>]) -> Option<Arc<str>> {
    let innermost = path.last()?;
    let mut left = limits::HEADING_PATH_CHARS - LEFT_OUT.chars().count();
    left = left.saturating_sub(innermost.chars().count());
    let fits = |heading: &&Arc<str>| {
        let chars = heading.chars().count() + Passage::HEADING_SEPARATOR.chars().count();
        let fits = chars <= left;
        left = left.saturating_sub(chars);
        fits
    };
    let outer = path.iter().rev().skip(1).take_while(fits).count();
    let first = path.len() - 1 - outer;
    let joined = path.get(first..)?.join(Passage::HEADING_SEPARATOR);
    Some(if first == 0 { joined.into() } else { format!("{LEFT_OUT}{joined}").into() })
}

/// Headings, outermost first, shared by everything below them.
type Path = Arc<[Arc<str>]>;

/// The text below one heading, up to the next.
#[derive(Default)]
struct Section {
    path: Path,
    pieces: Vec<Piece>,
}

/// Pieces that are joined.
#[derive(Debug)]
struct Stretch {
    path: Path,
    range: Range<usize>,
    chars: usize,
    /// Characters between the stretch before and this one.
    gap: usize,
}

impl Section {
    /// Joins its pieces into stretches, as many to a stretch as fit.
    fn pack(self, stretches: &mut Joined) {
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
            let next = Stretch { path: Arc::clone(&self.path), range, chars, gap };
            if let Some(full) = current.replace(next) {
                stretches.add(full);
            }
        }
        if let Some(last) = current {
            stretches.add(last);
        }
    }
}

/// Joins stretches that are too small with the next one, and the last with the previous one.
struct Joined {
    stretches: Vec<Stretch>,
    /// A stretch of fewer characters is too small.
    min: usize,
}

impl Joined {
    fn add(&mut self, stretch: Stretch) {
        match self.stretches.last_mut() {
            Some(last) if last.chars < self.min && last.takes(&stretch) => last.join(stretch),
            Some(_) | None => self.stretches.push(stretch),
        }
    }

    fn finish(mut self) -> Vec<Stretch> {
        if let Some(last) = self.stretches.pop() {
            match self.stretches.last_mut() {
                Some(before) if last.chars < self.min && before.takes(&last) => before.join(last),
                Some(_) | None => self.stretches.push(last),
            }
        }
        self.stretches
    }
}

impl Stretch {
    /// Whether it can be joined with the next stretch without becoming too long.
    fn takes(&self, next: &Self) -> bool {
        self.chars + next.gap + next.chars <= MAX_CHARS
    }

    /// Joins the next stretch to this one. The path is that of the larger part if one is below the
    /// other, otherwise the part that both share.
    fn join(&mut self, next: Self) {
        let shared = self
            .path
            .iter()
            .zip(next.path.iter())
            .take_while(|(left, right)| left == right)
            .count();
        let nested = shared == self.path.len() || shared == next.path.len();
        if !nested {
            self.path = self.path.iter().take(shared).cloned().collect();
        } else if next.chars > self.chars {
            self.path = next.path;
        }
        self.range.end = next.range.end;
        self.chars += next.gap + next.chars;
    }
}

#[cfg(test)]
mod tests;
