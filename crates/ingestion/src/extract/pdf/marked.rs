//! Marked content (ISO 32000-2, 14.6): parts that are not shown, and text that stands in for glyphs.

use hayro_syntax::object::{Dict, String as Bytes};

use super::glyph::{Characters, UNKNOWN};
use super::strings::text_string;

/// Sequences that lie in each other deeper are not looked at.
const DEPTH: usize = 256;

/// The sequences around the current place, from the outermost.
#[derive(Debug, Default)]
pub(super) struct Marked {
    sequences: Vec<Sequence>,
    /// How many are open beyond the depth that is looked at.
    deeper: usize,
}

#[derive(Debug)]
struct Sequence {
    is_seen: bool,
    /// The text that stands in for its glyphs.
    replacement: Option<Replacement>,
}

#[derive(Debug)]
struct Replacement {
    text: Option<Characters>,
    is_used: bool,
}

impl Marked {
    pub(super) fn begin(&mut self, is_seen: bool, properties: Option<&Dict<'_>>) {
        if self.sequences.len() >= DEPTH {
            self.deeper += 1;
            return;
        }
        let actual = properties.and_then(|properties| properties.get::<Bytes<'_>>(b"ActualText"));
        let replacement = actual.and_then(|actual| {
            let stated = text_string(actual.as_bytes());
            let text: String = stated.chars().filter(|char| !is_noise(*char)).collect();
            // A replacement that is nothing but noise is the mistake of a program.
            let is_sound = stated.is_empty() || !text.is_empty();
            is_sound.then(|| Replacement { text: Characters::of(&text), is_used: false })
        });
        let is_seen = is_seen && self.is_seen();
        self.sequences.push(Sequence { is_seen, replacement });
    }

    pub(super) fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.sequences.pop();
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.sequences.len()
    }

    /// Closes what a content stream has left open.
    pub(super) fn truncate(&mut self, depth: usize) {
        self.sequences.truncate(depth);
        self.deeper = 0;
    }

    pub(super) fn is_seen(&self) -> bool {
        self.sequences.last().is_none_or(|sequence| sequence.is_seen)
    }

    /// What a glyph at this place says: itself, or the text that stands in for it and its neighbours, once.
    pub(super) fn replaced(&mut self, own: Characters) -> Option<Characters> {
        let replacement =
            self.sequences.iter_mut().find_map(|sequence| sequence.replacement.as_mut());
        let Some(replacement) = replacement else { return Some(own) };
        if std::mem::replace(&mut replacement.is_used, true) {
            return None;
        }
        replacement.text.clone()
    }
}

fn is_noise(char: char) -> bool {
    char.is_control() && !char.is_whitespace() || char == UNKNOWN || char == '\u{feff}'
}
