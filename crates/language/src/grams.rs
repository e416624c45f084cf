//! Pieces of words, for comparing different spellings and inflections.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::fold::fold;

/// The length of a piece in characters.
const LENGTH: usize = 4;

/// Calls `each` with the folded pieces of four characters of the words of `text`, and with shorter words
/// as a whole. In scripts without spaces the pieces are single characters.
pub fn grams(text: &str, mut each: impl FnMut(&str)) {
    let folded = fold(text);
    for word in folded.unicode_words() {
        let starts = word.char_indices().map(|(start, _)| start);
        if starts.clone().nth(LENGTH).is_none() {
            each(word);
            continue;
        }
        let ends = starts.clone().skip(LENGTH).chain([word.len()]);
        starts.zip(ends).filter_map(|(start, end)| word.get(start..end)).for_each(&mut each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let mut pieces = Vec::new();
        grams(text, |piece| pieces.push(piece.to_owned()));
        pieces
    }

    #[test]
    fn words_are_cut_into_overlapping_pieces() {
        assert_eq!(
            of("Refund the Éclair"),
            ["refu", "efun", "fund", "the", "ecla", "clai", "lair"]
        );
        assert_eq!(of("退款"), ["退", "款"]);
        assert_eq!(of(""), Vec::<String>::new());
    }
}
