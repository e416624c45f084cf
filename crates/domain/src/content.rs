//! The result of processing a source: documents, and passages to search.

mod stored;
mod warning;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::limits;
use crate::text::is_direction_control;

pub use stored::{PublicText, StoredDocument, StoredPassage};
pub use warning::{NoWarning, Parts, Warning, WarningReason, Warnings};

/// What was extracted from a source, before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The title that citations show: the page's title, the file's name, the first line.
    pub title: Option<String>,
    /// The documents, in order.
    pub documents: Vec<CutDocument>,
}

impl Extracted {
    /// The number of characters of all documents: of the text for a text, file or page; of question and answer for a
    /// pair.
    pub fn character_count(&self) -> u64 {
        self.documents.iter().map(|cut| cut.document.character_count()).sum()
    }

    /// The passages in order, numbered across all documents, each with the position of its document. They are created
    /// lazily.
    pub fn passages(&self) -> impl Iterator<Item = (i64, Passage)> {
        let mut next = 0;
        self.documents.iter().flat_map(move |cut| {
            let first = next;
            next += cut.passage_count();
            cut.passages(first).map(|passage| (cut.document.position, passage))
        })
    }
}

/// A document and the stretches of its text that form its passages. The text is stored once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutDocument {
    /// The text and its metadata.
    pub document: Document,
    /// The stretches, in order. Each begins and ends at character boundaries of the document's text.
    pub stretches: Vec<Stretch>,
}

impl CutDocument {
    /// How many passages it has.
    pub fn passage_count(&self) -> i64 {
        i64::try_from(self.stretches.len()).unwrap_or(i64::MAX)
    }

    /// The passages, numbered from `first`. They are created lazily.
    ///
    /// A passage has the title of its document. The question of a pair whose answer is several passages is cut like a
    /// title, because each of them repeats it.
    pub fn passages(&self, first: i64) -> impl Iterator<Item = Passage> {
        self.passages_after(0, first)
    }

    /// The passages after the first `skipped` ones, numbered from `first`.
    pub fn passages_after(&self, skipped: usize, first: i64) -> impl Iterator<Item = Passage> {
        let stretches = self.stretches.get(skipped..).unwrap_or_default();
        let document = &self.document;
        let title = match &document.title {
            Some(title) if self.stretches.len() > 1 => Some(cut_title(title)),
            title => title.as_deref().map(Cow::Borrowed),
        };
        (first..).zip(stretches).map(move |(position, stretch)| Passage {
            position,
            title: title.as_deref().map(str::to_owned),
            heading: stretch.heading.as_deref().map(str::to_owned),
            url: document.url.clone(),
            page: stretch.page,
            text: document.text.get(stretch.range.clone()).unwrap_or_default().to_owned(),
            is_pair: document.is_pair,
            language: stretch.language.map(str::to_owned),
        })
    }
}

/// A part of a document's text that is found and cited as a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Its bytes in the document's text.
    pub range: Range<usize>,
    /// The headings above it, as in [`Passage::heading`]. Stretches under the same headings share them.
    pub heading: Option<Arc<str>>,
    /// Its page, from 1; `None` if the format has no pages.
    pub page: Option<u32>,
    /// The language that it is written in, as an ISO 639-3 code.
    pub language: Option<&'static str>,
}

/// A title or heading as it is stored: at most [`HEADING_CHARS`](limits::HEADING_CHARS) characters, cut at a word and
/// ended with `…` if it is longer. Characters that change the direction of writing are omitted, and so is NUL, which
/// database texts cannot contain.
pub fn cut_title(title: &str) -> Cow<'_, str> {
    let is_omitted = |char| char == '\0' || is_direction_control(char);
    if title.contains(is_omitted) {
        let title = title.replace(is_omitted, "");
        return cut_at_word(&title, limits::HEADING_CHARS).into_owned().into();
    }
    cut_at_word(title, limits::HEADING_CHARS)
}

/// At most `limit` characters of a text. A longer text is cut to its first words and `…`, or to as much of its first
/// word as fits.
pub fn cut_at_word(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return text.into();
    }
    let last = text.char_indices().nth(limit.saturating_sub(1));
    let start = last.and_then(|(end, _)| text.get(..end)).unwrap_or_default();
    // A word that the cut would split is omitted.
    let ends_word =
        text.get(start.len()..).is_some_and(|rest| rest.starts_with(char::is_whitespace));
    let space = start.trim_end().rfind(char::is_whitespace).filter(|_| !ends_word);
    let words = space.and_then(|end| start.get(..end)).map(str::trim_end);
    let kept = words.filter(|words| !words.is_empty()).unwrap_or(start.trim_end());
    [kept, "…"].concat().into()
}

/// One readable unit: a text, a file, a page of a website, a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The position in the source, from 0.
    pub position: i64,
    /// The address that it came from, for a page of a website.
    pub url: Option<String>,
    /// Its title; for a pair the question.
    pub title: Option<String>,
    /// Number of pages; `None` if the format has none.
    pub page_count: Option<u32>,
    /// Number of tables in its text; `None` if an earlier version read it.
    pub table_count: Option<u32>,
    /// What is missing in its text.
    pub warnings: Warnings,
    /// Its text; for a pair the answer.
    pub text: String,
    /// Whether it is a question/answer pair.
    pub is_pair: bool,
}

impl Document {
    /// Characters of its text, and of the question if it is a pair.
    pub fn character_count(&self) -> u64 {
        let count = |text: &str| u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        let question = if self.is_pair { self.title.as_deref().map_or(0, count) } else { 0 };
        question + count(&self.text)
    }
}

/// A stretch of a document as it is stored, found and cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The position in the source, from 0.
    pub position: i64,
    /// What a citation of it shows; for a pair the question.
    pub title: Option<String>,
    /// The headings above it, outermost first, joined by [`HEADING_SEPARATOR`](Self::HEADING_SEPARATOR).
    pub heading: Option<String>,
    /// The address that it came from, for a page of a website.
    pub url: Option<String>,
    /// Its page, from 1; `None` if the format has no pages.
    pub page: Option<u32>,
    /// Its text; for a pair the answer.
    pub text: String,
    /// Whether it is a question/answer pair, whose title is searched with a separate weight.
    pub is_pair: bool,
    /// The language that it is written in, as an ISO 639-3 code; `None` if it is unknown.
    pub language: Option<String>,
}

impl Passage {
    /// What is between two headings of the path above a passage.
    pub const HEADING_SEPARATOR: &str = " › ";
}

#[cfg(test)]
mod tests {
    use super::{CutDocument, Document, Extracted, Stretch, Warnings, cut_at_word, cut_title};
    use crate::limits;

    #[test]
    fn a_title_is_cut_at_a_word() {
        assert_eq!(cut_at_word("one two three", 13), "one two three");
        assert_eq!(cut_at_word("one two three", 12), "one two…");
        assert_eq!(cut_at_word("one two three", 8), "one two…");
        assert_eq!(cut_at_word("one two three", 7), "one…");
        assert_eq!(cut_at_word("one two three", 2), "o…");
        assert_eq!(cut_at_word("ééééé", 4), "ééé…");
        let long = "a heading of several words ".repeat(30_000);
        let cut = cut_title(&long);
        assert!(cut.chars().count() <= limits::HEADING_CHARS && cut.ends_with(" a…"), "{cut}");
        assert_eq!(cut_title(&"x".repeat(1_000)).chars().count(), limits::HEADING_CHARS);
        assert_eq!(cut_title("\u{202e}gnp.exe"), "gnp.exe");
        assert_eq!(cut_title("M\0useum guide\0"), "Museum guide");
    }

    fn pair(position: i64, question: &str, answer: &str, parts: usize) -> CutDocument {
        let length = answer.len() / parts;
        let stretch = |part| Stretch {
            range: part * length..(part + 1) * length,
            heading: None,
            page: None,
            language: Some("eng"),
        };
        let document = Document {
            position,
            url: None,
            title: Some(question.to_owned()),
            page_count: None,
            table_count: Some(0),
            warnings: Warnings::default(),
            text: answer.to_owned(),
            is_pair: true,
        };
        CutDocument { document, stretches: (0..parts).map(stretch).collect() }
    }

    #[test]
    fn passages_are_numbered_through_all_documents() {
        let documents = vec![pair(0, "a", "onetwo", 2), pair(1, "a", "six", 1)];
        let extracted = Extracted { title: None, documents };
        let passages: Vec<_> = extracted
            .passages()
            .map(|(document, passage)| (document, passage.position, passage.text))
            .collect();
        let expected = [(0, 0, "one"), (0, 1, "two"), (1, 2, "six")];
        assert_eq!(passages, expected.map(|(at, number, text)| (at, number, text.to_owned())));
    }

    #[test]
    fn a_long_question_is_whole_on_one_passage_and_cut_on_several() {
        let question = "why ".repeat(400);
        let titles = |parts| -> Vec<usize> {
            let passages = pair(0, &question, "ab", parts).passages(0).collect::<Vec<_>>();
            passages.iter().map(|passage| passage.title.as_deref().unwrap().len()).collect()
        };
        assert_eq!(titles(1), [question.len()]);
        assert!(titles(2).into_iter().all(|length| length <= limits::HEADING_CHARS + 2));
    }
}
