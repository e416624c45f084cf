//! The readability of a text.

use std::iter::Sum;
use std::ops::Add;

/// A text with more than this fraction of characters that no font maps is gibberish.
const UNREADABLE_SHARE: f64 = 0.15;
/// A text with more than this fraction of single-letter words is gibberish: English has 5 %.
const SINGLE_SHARE: f64 = 0.6;
/// With fewer words, their lengths are ignored.
const FEW_WORDS: usize = 30;
/// Above this fraction of either, the other reader is tried.
const DOUBTFUL_SHARE: f64 = 0.02;
const DOUBTFUL_SINGLE_SHARE: f64 = 0.5;

/// Counts of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Quality {
    /// Characters other than blanks.
    chars: usize,
    /// Those without meaning: replacement, control and private-use characters.
    unreadable: usize,
    /// Letters and digits.
    alphanumeric: usize,
    /// Runs of letters of scripts that write words apart.
    words: usize,
    /// Those of a single letter.
    singles: usize,
    /// The letters in such words.
    spaced_letters: usize,
}

impl Quality {
    pub(super) fn of(text: &str) -> Self {
        let mut quality = Self::default();
        for char in text.chars().filter(|char| !char.is_whitespace()) {
            quality.chars += 1;
            quality.unreadable += usize::from(is_unreadable(char));
            quality.alphanumeric += usize::from(char.is_alphanumeric());
        }
        for word in text.split(|char: char| !is_spaced_letter(char)) {
            let letters = word.chars().count();
            quality.spaced_letters += letters;
            quality.words += usize::from(letters > 0);
            quality.singles += usize::from(letters == 1);
        }
        quality
    }

    /// Whether there is anything to read.
    pub(super) fn has_words(self) -> bool {
        self.alphanumeric > 0 || self.unreadable > 0
    }

    /// Whether it is gibberish rather than text.
    pub(super) fn is_gibberish(self) -> bool {
        self.share(self.unreadable) > UNREADABLE_SHARE || self.single_share() > SINGLE_SHARE
    }

    /// Whether there is no text, or it looks doubtful.
    pub(super) fn is_doubtful(self) -> bool {
        self.alphanumeric == 0
            || self.share(self.unreadable) > DOUBTFUL_SHARE
            || self.single_share() > DOUBTFUL_SINGLE_SHARE
    }

    /// The amount of readable text; unreadable characters and split words are subtracted.
    pub(super) fn score(self) -> f64 {
        let readable = self.alphanumeric as f64 - 3.0 * self.unreadable as f64;
        readable.max(0.0) * (1.0 - self.single_share())
    }

    fn share(self, part: usize) -> f64 {
        part as f64 / self.chars.max(1) as f64
    }

    /// The share of words of a single letter; 0 if there are few of them or they are a small part of the text.
    fn single_share(self) -> f64 {
        if self.words < FEW_WORDS || 2 * self.spaced_letters < self.alphanumeric {
            return 0.0;
        }
        self.singles as f64 / self.words as f64
    }
}

impl Add for Quality {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            chars: self.chars + other.chars,
            unreadable: self.unreadable + other.unreadable,
            alphanumeric: self.alphanumeric + other.alphanumeric,
            words: self.words + other.words,
            singles: self.singles + other.singles,
            spaced_letters: self.spaced_letters + other.spaced_letters,
        }
    }
}

impl Sum for Quality {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::add)
    }
}

/// The characters that are shown for those of a font without a mapping.
fn is_unreadable(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// A letter of a script that writes words apart: Chinese, Japanese, Thai and the like have words of one.
fn is_spaced_letter(char: char) -> bool {
    char.is_alphabetic()
        && !matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..)
}
