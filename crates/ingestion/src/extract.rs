//! Extracts documents and passages from content.

#[cfg(feature = "office")]
pub(crate) mod book;
pub(crate) mod csv;
mod decode;
mod detect;
pub(crate) mod docx;
#[cfg(feature = "office")]
pub(crate) mod file;
#[cfg(feature = "html")]
pub(crate) mod html;
mod links;
#[cfg(feature = "office")]
pub(crate) mod mail;
#[cfg(any(feature = "office", feature = "pdf"))]
pub(crate) mod ocr;
#[cfg(feature = "office")]
pub(crate) mod open_text;
#[cfg(feature = "pdf")]
pub(crate) mod pdf;
mod reading;
#[cfg(feature = "office")]
pub(crate) mod rich;
mod rows;
mod script;
#[cfg(feature = "office")]
pub(crate) mod slides;
mod table;
pub(crate) mod text;
mod title;
#[cfg(feature = "office")]
pub(crate) mod workbook;

use cicerone_domain::content::Warnings;
use cicerone_domain::source::{QaPair, qa_pairs};
use cicerone_domain::text::is_blank;
use cicerone_domain::{CutDocument, Document, Extracted, Stretch, limits};
use cicerone_language::Language;

use crate::chunk::chunks;
use reading::{one_stretch, tables_in};

pub use decode::decode;
pub use detect::detect_upload_type;
#[cfg(feature = "crawl")]
pub(crate) use detect::is_html;
pub use reading::{PageReading, Prepared, Reading};

/// An answer with more than this many characters is split into several passages.
const PAIR_PASSAGE_CHARS: usize = 6_400;

/// Content to extract from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Material<'a> {
    /// Plain text or Markdown.
    Text(&'a str),
    /// A JSON array of question/answer pairs.
    Pairs(&'a str),
    /// A file, read.
    File {
        /// The file name, which becomes the title.
        name: &'a str,
        /// The text of the file, cut into stretches.
        prepared: Prepared,
    },
}

/// Content cannot be read. The text is a sentence that a person can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl Unreadable {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Extracts the documents and passages of a source.
///
/// A text or file is one document in passages of about 1,600 characters; a pair is a document of its own with one
/// passage.
///
/// # Errors
///
/// If the content has no text.
///
/// # Examples
///
/// ```
/// use cicerone_ingestion::{Material, extract};
///
/// let pairs = r#"[{"question": "When does it open?", "answer": "At nine."}]"#;
/// let extracted = extract(Material::Pairs(pairs))?;
/// let (_, passage) = extracted.passages().next().expect("one passage");
/// assert_eq!(passage.title.as_deref(), Some("When does it open?"));
/// assert_eq!(passage.text, "At nine.");
/// # Ok::<(), cicerone_ingestion::Unreadable>(())
/// ```
pub fn extract(material: Material<'_>) -> Result<Extracted, Unreadable> {
    match material {
        Material::Text(text) => {
            let prepared = Reading::plain(text.to_owned()).cut(limits::DOCUMENT_TEXT_BYTES)?;
            Ok(whole(title::of_text(text).as_deref(), prepared))
        }
        Material::Pairs(text) => {
            let pairs = qa_pairs(text).map_err(|error| Unreadable::new(error.to_string()))?;
            Ok(paired(pairs))
        }
        Material::File { name, prepared } => {
            if is_blank(&prepared.text) {
                return Err(Unreadable::new("the file contains no text"));
            }
            Ok(whole(Some(name), prepared))
        }
    }
}

/// One document and its passages.
fn whole(title: Option<&str>, prepared: Prepared) -> Extracted {
    let cut = prepared.into_document(title, None);
    Extracted { title: cut.document.title.clone(), documents: vec![cut] }
}

/// A document for each pair; the title of the source is the first question.
fn paired(pairs: Vec<QaPair>) -> Extracted {
    let title = pairs.first().and_then(|pair| title::of_text(pair.question()));
    let documents = (0..).zip(pairs).map(|(position, pair)| {
        let stretches = stretches_of_pair(&pair);
        let (question, answer) = pair.into_parts();
        let document = Document {
            position,
            url: None,
            title: Some(question),
            page_count: None,
            table_count: Some(tables_in(&answer)),
            warnings: Warnings::default(),
            text: answer,
            is_pair: true,
        };
        CutDocument { document, stretches }
    });
    Extracted { title, documents: documents.collect() }
}

/// The complete answer; in several stretches only if it is too long for a prompt.
fn stretches_of_pair(pair: &QaPair) -> Vec<Stretch> {
    let (question, answer) = (pair.question(), pair.answer());
    let start = answer.char_indices().nth(PAIR_PASSAGE_CHARS);
    let is_long = start.is_some();
    let start = start.and_then(|(end, _)| answer.get(..end)).unwrap_or(answer);
    let language = Language::detect(&format!("{question}\n{start}"));
    if !is_long {
        return vec![one_stretch(0..answer.len(), language)];
    }
    chunks(answer).into_iter().map(|chunk| one_stretch(chunk.range, language)).collect()
}

#[cfg(test)]
mod tests;
