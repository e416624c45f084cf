//! The default sentence boundaries of Unicode (UAX #29, section 5).
//!
//! The library looks up each character and, after a full stop, reads ahead from every mark and space that follows,
//! which takes quadratic time on a long run of them. This code handles lines of the most common characters, and looks
//! at their terminators only. Lines with other characters go to the library, and are cut within very long runs of
//! marks.

use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation as _;

/// A run of this many characters without a letter or digit is cut before it goes to the library.
const RUN_CHARS: usize = 200;

/// The role of a character in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Category {
    Letter {
        is_upper: bool,
    },
    Numeric,
    /// A full stop, which also occurs within sentences.
    FullStop,
    /// A mark that ends a sentence.
    Terminator,
    /// A mark after which a sentence continues.
    Continues,
    /// Quotes and brackets.
    Close,
    Space,
    /// The end of a line or paragraph.
    Separator,
    Other,
}

/// Calls `each` with every boundary of `text`, in order.
pub(super) fn ends(text: &str, mut each: impl FnMut(usize)) {
    let mut start = 0;
    for line in text.split_inclusive(is_separator) {
        // A carriage return and a line feed after it are one line end.
        let is_split_pair = line.ends_with('\r')
            && text.get(start + line.len()..).is_some_and(|rest| rest.starts_with('\n'));
        ends_of_line(line, |end| {
            if end < line.len() || !is_split_pair {
                each(start + end);
            }
        });
        start += line.len();
    }
}

/// The boundaries within a line, and its end.
fn ends_of_line(line: &str, mut each: impl FnMut(usize)) {
    if line.is_ascii() || line.chars().all(|character| category(character).is_some()) {
        return ends_of_plain(line, each);
    }
    let (mut start, mut last) = (0, 0);
    for piece in pieces(line) {
        for (at, sentence) in piece.split_sentence_bound_indices() {
            let end = start + at + sentence.len();
            // No sentence ends before a space: if a long run of them was cut, the boundary is after the whole run.
            if end > last {
                last = after_spaces(line, end);
                each(last);
            }
        }
        start += piece.len();
    }
}

/// The first index from `from` on at which there is no space.
fn after_spaces(line: &str, from: usize) -> usize {
    let is_space = |character: char| character.is_whitespace() && !is_separator(character);
    line.len() - line.get(from..).unwrap_or_default().trim_start_matches(is_space).len()
}

/// A line, cut within long runs of characters that are neither letters nor digits. Marks count among these, even the
/// vowel signs that Unicode calls alphabetic: the library passes over them in the same way.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut run = 0;
    line.split_inclusive(move |character: char| {
        run = if character.is_alphanumeric() && !is_mark(character) { 0 } else { run + 1 };
        run > 0 && run % RUN_CHARS == 0
    })
}

fn is_mark(character: char) -> bool {
    is_combining_mark(character) || matches!(character, '\u{FF9E}' | '\u{FF9F}')
}

/// Calls `each` with the boundaries of a line in which every character has a category.
fn ends_of_plain(line: &str, mut each: impl FnMut(usize)) {
    let mut from = 0;
    let bytes = line.as_bytes();
    while let Some(found) = bytes
        .get(from..)
        .and_then(|rest| rest.iter().position(|byte| matches!(byte, b'.' | b'!' | b'?')))
    {
        let at = from + found;
        let closed = skip(line, at + 1, Category::Close);
        let end = skip(line, closed, Category::Space);
        if is_boundary(line, at, end) {
            each(end);
        }
        from = end;
    }
    if !line.is_empty() {
        each(line.len());
    }
}

/// Whether a sentence ends at `end`, after the terminator at `at` and its closing marks (rules SB6 to
/// SB11).
fn is_boundary(line: &str, at: usize, end: usize) -> bool {
    let Some(next) = category_at(line, end) else { return false };
    let is_full_stop = line.as_bytes().get(at) == Some(&b'.');
    let is_adjacent = end == at + 1;
    let follows_letter = || {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        matches!(before.and_then(category), Some(Category::Letter { .. }))
    };
    match next {
        Category::Separator | Category::Continues | Category::FullStop | Category::Terminator => {
            false
        }
        Category::Numeric if is_full_stop && is_adjacent => false,
        Category::Letter { is_upper: true } if is_full_stop && is_adjacent && follows_letter() => {
            false
        }
        _ => !(is_full_stop && goes_on_in_lower_case(line, end)),
    }
}

/// Whether the first letter after `from` is in lower case and precedes any end of a sentence (rule SB8).
fn goes_on_in_lower_case(line: &str, from: usize) -> bool {
    let rest = line.get(from..).unwrap_or_default();
    let telling = rest.chars().filter_map(category).find(|category| {
        matches!(
            category,
            Category::Letter { .. }
                | Category::Separator
                | Category::FullStop
                | Category::Terminator
        )
    });
    telling == Some(Category::Letter { is_upper: false })
}

/// The first index from `from` on at which the character is not of this category.
fn skip(line: &str, from: usize, skipped: Category) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    let is_other = |character: &(usize, char)| category(character.1) != Some(skipped);
    rest.char_indices().find(is_other).map_or(line.len(), |(at, _)| from + at)
}

fn category_at(line: &str, at: usize) -> Option<Category> {
    line.get(at..).and_then(|rest| rest.chars().next()).and_then(category)
}

/// Whether a character ends a line or paragraph.
pub(super) fn is_separator(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The category of a character, if it is one of the most common characters of text in the Latin alphabet.
fn category(character: char) -> Option<Category> {
    Some(match character {
        'a'..='z' => Category::Letter { is_upper: false },
        'A'..='Z' => Category::Letter { is_upper: true },
        '0'..='9' => Category::Numeric,
        '.' => Category::FullStop,
        '!' | '?' => Category::Terminator,
        ',' | '-' | ':' | ';' | '–' | '—' => Category::Continues,
        '"'
        | '\''
        | '('
        | ')'
        | '['
        | ']'
        | '{'
        | '}'
        | '«'
        | '»'
        | '\u{2018}'..='\u{201F}'
        | '‹'
        | '›' => Category::Close,
        ' ' | '\t' | '\u{B}' | '\u{C}' | '\u{A0}' => Category::Space,
        _ if is_separator(character) => Category::Separator,
        '\0'..='\u{7F}' => Category::Other,
        // A soft hyphen is ignored.
        '\u{AD}' => return None,
        '\u{80}'..='\u{17F}' if character.is_lowercase() => Category::Letter { is_upper: false },
        '\u{80}'..='\u{17F}' if character.is_uppercase() => Category::Letter { is_upper: true },
        '\u{80}'..='\u{BF}' | '×' | '÷' | '•' | '…' | '€' | '™' | '→' => {
            Category::Other
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation as _;

    use super::{category, ends};

    fn of(text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        ends(text, |end| found.push(end));
        found
    }

    fn library(text: &str) -> Vec<usize> {
        text.split_sentence_bound_indices().map(|(at, piece)| at + piece.len()).collect()
    }

    /// All characters that this code knows, and some that it does not know.
    fn alphabet() -> Vec<char> {
        let judged = ('\0'..='\u{FFFF}').filter(|character| category(*character).is_some());
        judged.chain(['。', '\u{301}', 'я', 'Я', '中', '\u{AD}', '١']).collect()
    }

    #[test]
    fn each_character_has_the_effect_that_the_standard_gives_it() {
        for character in alphabet() {
            for (before, after) in [
                ("a.", "B c"),
                ("a. ", "B"),
                ("a", ". B"),
                ("A.", "A"),
                ("a?", "b"),
                ("a? ", " B"),
                ("1.", "b"),
                ("a.) ", " C"),
                ("a", "? B"),
                ("a. ", ""),
                ("a.", " 1 b"),
                ("", "b. C"),
            ] {
                let text = format!("{before}{character}{after}");
                assert_eq!(of(&text), library(&text), "{text:?}");
            }
        }
    }

    #[test]
    fn random_texts_end_where_the_standard_says() {
        let alphabet: Vec<char> =
            "aB1.?! )\"',-\n\r\t\u{2028}é«»’—\u{A0}中。\u{301}".chars().collect();
        let mut state = 7_u64;
        for _ in 0..50_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push(alphabet[(state >> 33) as usize % alphabet.len()]);
            }
            assert_eq!(of(&text), library(&text), "{text:?}");
        }
    }

    #[test]
    fn long_runs_of_marks_take_no_longer_than_other_text() {
        for mark in [")", "».", " ", "”я.", "\u{93E} "] {
            for letter in ["a", "я"] {
                let text = format!("{letter}.{}b", mark.repeat(300_000));
                assert_eq!(of(&text).last(), Some(&text.len()));
            }
        }
    }
}
