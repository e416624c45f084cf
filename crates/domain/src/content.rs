//! What processing makes of a source: documents, and passages to search.

/// What was extracted from a source, before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The title that citations show: the page's title, the file's name, the first line.
    pub title: Option<String>,
    /// The documents, in order.
    pub documents: Vec<Document>,
    /// The passages, in order.
    pub passages: Vec<Passage>,
}

impl Extracted {
    /// Characters over all documents: text for a text, file or page; question and answer for a pair.
    pub fn character_count(&self) -> u64 {
        self.documents.iter().map(Document::character_count).sum()
    }
}

/// One readable whole: a text, a file, a page of a website, a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its number within the source, from 0.
    pub position: i64,
    /// Where it came from, for a page of a website.
    pub url: Option<String>,
    /// Its title; for a pair the question.
    pub title: Option<String>,
    /// Pages, where the format has them.
    pub page_count: Option<u32>,
    /// Its text; for a pair the answer.
    pub text: String,
    /// Whether it is a question/answer pair.
    pub is_pair: bool,
}

impl Document {
    /// Characters of its text, and of the question where it is a pair.
    pub fn character_count(&self) -> u64 {
        let count = |text: &str| u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        let question = if self.is_pair { self.title.as_deref().map_or(0, count) } else { 0 };
        question + count(&self.text)
    }
}

/// A stretch of a document that is found and cited as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its number within the source, from 0.
    pub position: i64,
    /// What a citation of it shows; for a pair the question.
    pub title: Option<String>,
    /// The headings that it stands under, outermost first, joined by ` › `.
    pub heading: Option<String>,
    /// Where it came from, for a page of a website.
    pub url: Option<String>,
    /// Its page, from 1, where the format has pages.
    pub page: Option<u32>,
    /// Its text; for a pair the answer.
    pub text: String,
    /// Whether it is a question/answer pair, whose title is searched with a weight of its own.
    pub is_pair: bool,
    /// The language that it is written in, as an ISO 639-3 code; none where it could not be told.
    pub language: Option<String>,
}
