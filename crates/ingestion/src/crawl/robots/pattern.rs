//! The pattern of a rule: a beginning of paths, in which `*` matches anything and a final `$` matches the end.

use crate::crawl::site::normal_encoding;

/// A rule's pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    /// Without the final `$`, and with one star for several in a row.
    text: String,
    is_anchored: bool,
    len: usize,
}

impl Pattern {
    /// Parses a pattern; every text is valid.
    pub(super) fn parse(text: &str) -> Self {
        let mut text = normal_encoding(&encode(text));
        let len = text.len();
        let is_anchored = text.ends_with('$');
        if is_anchored {
            text.pop();
        }
        let mut is_after_star = false;
        text.retain(|char| {
            let is_star = char == '*';
            let is_repeated = is_star && is_after_star;
            is_after_star = is_star;
            !is_repeated
        });
        Self { text, is_anchored, len }
    }

    /// How specific it is: its length in bytes, stars and `$` counted.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The bytes that a path is compared with.
    pub(super) const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Whether it matches only the whole path.
    pub(super) const fn is_anchored(&self) -> bool {
        self.is_anchored
    }

    pub(super) fn has_star(&self) -> bool {
        self.text.contains('*')
    }

    /// Its text before the first star; all of it but a final `$` if it has none.
    pub(super) fn beginning(&self) -> &str {
        self.text.split('*').next().unwrap_or_default()
    }

    /// Whether a path with its query matches.
    ///
    /// Each piece is matched at its first occurrence, which leaves the most text for the following pieces. So the time
    /// is bounded by the lengths of the path and the pattern together.
    pub(super) fn matches(&self, path: &str) -> bool {
        let mut pieces = self.text.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let Some(last) = pieces.next_back() else {
            return !self.is_anchored || rest.is_empty();
        };
        for piece in pieces {
            let Some((_, after)) = rest.split_once(piece) else { return false };
            rest = after;
        }
        if self.is_anchored { rest.ends_with(last) } else { rest.contains(last) }
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
