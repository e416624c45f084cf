//! How similar two texts are, word for word.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

/// The words of a text and how often each occurs. Words are runs of letters and digits, in lower
/// case and in the composed form of Unicode, because the same letters can be encoded in several
/// ways.
#[derive(Debug, Default)]
pub(super) struct Words {
    counts: HashMap<String, usize>,
    total: usize,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self::default();
        let text: String = text.nfc().collect();
        let runs = text.split(|char: char| !char.is_alphanumeric()).filter(|run| !run.is_empty());
        for word in runs {
            *words.counts.entry(word.to_lowercase()).or_default() += 1;
            words.total += 1;
        }
        words
    }

    pub(super) fn len(&self) -> usize {
        self.total
    }

    /// The harmonic mean of precision and recall, where each word counts as often as it occurs; 1
    /// if both are empty.
    pub(super) fn f1(&self, other: &Self) -> f64 {
        if self.total + other.total == 0 {
            return 1.0;
        }
        let common = |(word, count): (&String, &usize)| {
            other.counts.get(word).map_or(0, |theirs| *count.min(theirs))
        };
        let common: usize = self.counts.iter().map(common).sum();
        2.0 * common as f64 / (self.total + other.total) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn words_count_as_often_as_they_stand_there() {
        let f1 = |one: &str, other: &str| Words::of(one).f1(&Words::of(other));
        assert_eq!(f1("To be, or not to be", "to BE or not to be"), 1.0);
        assert_eq!(f1("to be to be", "to be"), 2.0 * 2.0 / 6.0);
        assert_eq!(f1("Exa mp le", "Example"), 0.0);
        assert_eq!(f1("", ""), 1.0);
        assert_eq!(f1("ت\u{651}\u{64e}", "ت\u{64e}\u{651}"), 1.0);
    }
}
