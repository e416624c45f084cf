//! The words of a text, for [`Matcher`](super::matcher::Matcher).

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// The byte at which it begins.
    at: u32,
    /// The length in bytes.
    length: u16,
    /// The first byte.
    pub(super) first: u8,
    /// Whether it consists of other words, which follow it.
    pub(super) is_whole: bool,
}

impl Word {
    /// Its position in the text, and its spelling.
    pub(super) fn within<'t>(&self, text: &'t str) -> Option<(usize, &'t str)> {
        let at = self.at as usize;
        Some((at, text.get(at..at + usize::from(self.length))?))
    }
}

/// The words of a text, cut more coarsely than by the analysis. Before words that are joined, as in `rate_limit` and "2.7.0", there
/// is the whole. Runs of 64 KiB and longer, which are words of no language, are skipped, and so is everything beyond 4 GiB.
pub(super) fn words(text: &str) -> impl Iterator<Item = Word> {
    let mut at = 0;
    // The end of the last words that are joined.
    let mut joined = 0;
    let spans = std::iter::from_fn(move || {
        let start = at + extent(text.get(at..)?, false);
        let end = start + extent(text.get(start..)?, true);
        if start >= joined {
            joined = joined_end(text, end);
            if joined > end {
                at = start;
                return Some((start, joined - start, true));
            }
        }
        at = end;
        (start < at).then_some((start, at - start, false))
    });
    spans.filter_map(|(start, length, is_whole)| {
        Some(Word {
            at: u32::try_from(start).ok()?,
            length: u16::try_from(length).ok()?,
            first: *text.as_bytes().get(start)?,
            is_whole,
        })
    })
}

/// The end of the words that are joined with the one before `end`: by an underscore, or by a full stop between two letters or two
/// digits. `end` if there are none.
fn joined_end(text: &str, end: usize) -> usize {
    let mut end = end;
    let around = |end: usize| text.as_bytes().get(end.checked_sub(1)?..);
    while let Some([before, mark, after, ..]) = around(end) {
        let is_joined = match mark {
            b'_' => after.is_ascii_alphanumeric(),
            b'.' => {
                before.is_ascii_digit() && after.is_ascii_digit()
                    || before.is_ascii_alphabetic() && after.is_ascii_alphabetic()
            }
            _ => false,
        };
        if !is_joined {
            break;
        }
        end += 1 + extent(text.get(end + 1..).unwrap_or_default(), true);
    }
    end
}

/// The number of bytes at the start of `text` that belong to a word, or that do not.
fn extent(text: &str, of_word: bool) -> usize {
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        if byte.is_ascii() {
            if byte.is_ascii_alphanumeric() != of_word {
                break;
            }
            at += 1;
        } else {
            let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else {
                break;
            };
            if is_separator(character) == of_word {
                break;
            }
            at += character.len_utf8();
        }
    }
    at
}

/// Whether a character beyond ASCII separates words.
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{2010}'..='\u{206F}' | '\u{3000}'..='\u{3004}' | '\u{3008}'..='\u{303F}')
        || matches!(c, '\u{FF00}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}')
        || "¡¿«»·،؛؟۔।॥".contains(c)
}
