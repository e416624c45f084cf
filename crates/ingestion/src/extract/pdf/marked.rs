//! Marked content (ISO 32000-2, 14.6): parts that are not shown, and text that replaces glyphs.

use hayro_syntax::object::{Dict, String as Bytes};

use super::glyph::{Characters, UNKNOWN};
use super::strings::text_string;

/// Sequences that are nested more deeply are ignored.
const DEPTH: usize = 256;

/// The sequences around the current place, from the outermost.
#[derive(Debug, Default)]
pub(super) struct Marked {
    sequences: Vec<Sequence>,
    /// The number of open sequences beyond that depth.
    deeper: usize,
}

#[derive(Debug)]
struct Sequence {
    is_seen: bool,
    /// The text that replaces its glyphs.
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
            // A replacement that is only noise is a bug of the producing program.
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

    /// Closes the sequences that a content stream left open.
    pub(super) fn truncate(&mut self, depth: usize) {
        self.sequences.truncate(depth);
        self.deeper = 0;
    }

    pub(super) fn is_seen(&self) -> bool {
        self.sequences.last().is_none_or(|sequence| sequence.is_seen)
    }

    /// The text of a glyph at this place: its own, or once the text that replaces it and its neighbours.
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
