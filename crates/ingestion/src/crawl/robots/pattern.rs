//! The pattern of a rule: a beginning of paths, in which `*` matches anything and a final `$` matches the end.

use crate::crawl::site::normal_encoding;

/// A rule's pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The pieces between the stars, in order; one piece if there is no star.
    pieces: Vec<String>,
    is_anchored: bool,
    len: usize,
}

impl Pattern {
    /// Parses a pattern; every text is valid.
    pub(super) fn parse(text: &str) -> Self {
        let text = normal_encoding(&encode(text));
        let (body, is_anchored) = match text.strip_suffix('$') {
            Some(body) => (body, true),
            None => (text.as_str(), false),
        };
        let pieces = body.split('*').map(str::to_owned).collect();
        Self { pieces, is_anchored, len: text.len() }
    }

    /// How specific it is: its length in bytes, stars and `$` counted.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Whether a path with its query matches.
    ///
    /// Each piece is matched at its first occurrence, which leaves the most text for the following pieces. So the time
    /// is bounded by the product of the lengths, for every pattern.
    pub(super) fn matches(&self, path: &str) -> bool {
        let Some((first, others)) = self.pieces.split_first() else { return false };
        let Some(mut rest) = path.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = others.split_last() else {
            return !self.is_anchored || rest.is_empty();
        };
        for piece in middle {
            let Some((_, after)) = rest.split_once(piece.as_str()) else { return false };
            rest = after;
        }
        if self.is_anchored { rest.ends_with(last.as_str()) } else { rest.contains(last.as_str()) }
    }
}

/// Percent-encodes non-ASCII characters, as in every address.
fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_ascii() {
            encoded.push(char);
        } else {
            let mut buffer = [0; 4];
            for byte in char.encode_utf8(&mut buffer).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    encoded
}
