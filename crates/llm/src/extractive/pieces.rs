//! A reply in word-sized pieces.

use unicode_segmentation::UnicodeSegmentation as _;

/// A run without white space is cut at this many bytes, more than any word has in a language with spaces.
const LONG: usize = 24;
/// The length of a piece of a long run, in grapheme clusters.
const CHARACTERS: usize = 3;

/// Splits `text` into pieces: words with the white space before them, or a few characters of a script
/// without spaces.
pub(super) fn of(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| {
        let step = if word.len() > LONG && !word.is_ascii() { CHARACTERS } else { usize::MAX };
        runs(word, step)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        let after = rest.get(start..)?;
        let end = start + after.find(char::is_whitespace).unwrap_or(after.len());
        // White space at the end belongs to the last word.
        let end = if rest.get(end..)?.trim_start().is_empty() { rest.len() } else { end };
        let (word, others) = rest.split_at_checked(end)?;
        rest = others;
        (!word.is_empty()).then_some(word)
    })
}

fn runs(word: &str, step: usize) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let end = match step {
            usize::MAX => rest.len(),
            _ => rest.grapheme_indices(true).nth(step).map_or(rest.len(), |(at, _)| at),
        };
        let (piece, others) = rest.split_at_checked(end)?;
        rest = others;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn pieces_are_words_with_the_space_before_them() {
        assert_eq!(of("Two  words.\n\nMore").collect::<Vec<_>>(), ["Two", "  words.", "\n\nMore"]);
    }

    #[test]
    fn scripts_without_spaces_come_in_a_few_characters() {
        let pieces: Vec<&str> = of("退款政策是什么？请联系我们。").collect();
        assert_eq!(pieces, ["退款政", "策是什", "么？请", "联系我", "们。"]);
    }

    #[test]
    fn joined_they_are_the_text() {
        for text in ["", " ", " a ", "\n", "a\u{301}b 👩‍👩‍👧 x", "นโยบายการคืนเงินภายในสามสิบวัน ok\n"]
        {
            assert_eq!(of(text).collect::<String>(), text);
            assert!(of(text).all(|piece| !piece.is_empty()));
        }
    }
}
