//! What a source holds, made into documents and passages.

mod decode;
mod detect;
pub(crate) mod docx;
pub(crate) mod html;
mod passages;
pub(crate) mod pdf;
mod reading;
pub(crate) mod text;
mod title;

use cicerone_domain::source::{QaPair, qa_pairs};
use cicerone_domain::{Document, Extracted, Passage};
use cicerone_language::Language;

use crate::chunk::chunks;
use passages::code;

pub use decode::decode;
pub use detect::detect_upload_type;
pub(crate) use passages::passages_of;
pub use reading::{PageReading, Reading};

/// An answer beyond this many characters is searched in several passages.
const PAIR_PASSAGE_CHARS: usize = 6_400;

/// What a source holds, at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Material<'a> {
    /// A text.
    Text(&'a str),
    /// A JSON array of question/answer pairs.
    Pairs(&'a str),
    /// A file, read.
    File {
        /// Its name, which becomes the title.
        name: &'a str,
        /// What it holds.
        reading: &'a Reading,
    },
}

/// Nothing can be extracted, and why: a sentence that a person can act on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl Unreadable {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Documents and passages of a source.
///
/// A text or file is one document in passages of about 1,600 characters; a pair is a document of its
/// own, and one passage. Fails with [`Unreadable`] where the content holds no text.
pub fn extract(material: Material<'_>) -> Result<Extracted, Unreadable> {
    match material {
        Material::Text(text) => Ok(whole(title::of_text(text), &Reading::plain(text.to_owned()))),
        Material::Pairs(text) => {
            let pairs = qa_pairs(text).map_err(|error| Unreadable::new(error.to_string()))?;
            Ok(paired(pairs))
        }
        Material::File { name, reading } => {
            if reading.text.trim().is_empty() {
                return Err(Unreadable::new("the file contains no text"));
            }
            Ok(whole(Some(name.to_owned()), reading))
        }
    }
}

/// One document and its passages.
fn whole(title: Option<String>, reading: &Reading) -> Extracted {
    let (document, passages) = passages_of(reading, title.as_deref(), None);
    Extracted { title, documents: vec![document], passages }
}

/// A document a pair, and its passage; the source's title is the first question.
fn paired(pairs: Vec<QaPair>) -> Extracted {
    let title = pairs.first().and_then(|pair| title::of_text(&pair.question));
    let mut documents = Vec::with_capacity(pairs.len());
    let mut passages = Vec::with_capacity(pairs.len());
    for (pair, position) in pairs.into_iter().zip(0..) {
        let language = code(Language::detect(&format!("{}\n{}", pair.question, pair.answer)));
        for text in answer_texts(&pair.answer) {
            passages.push(Passage {
                position: i64::try_from(passages.len()).unwrap_or(i64::MAX),
                title: Some(pair.question.clone()),
                heading: None,
                url: None,
                page: None,
                text,
                is_pair: true,
                language: language.clone(),
            });
        }
        documents.push(Document {
            position,
            url: None,
            title: Some(pair.question),
            page_count: None,
            text: pair.answer,
            is_pair: true,
        });
    }
    Extracted { title, documents, passages }
}

/// The answer whole; in stretches only where no prompt would hold it.
fn answer_texts(answer: &str) -> Vec<String> {
    if answer.chars().nth(PAIR_PASSAGE_CHARS).is_none() {
        return vec![answer.to_owned()];
    }
    let stretches = chunks(answer).into_iter();
    stretches.filter_map(|chunk| answer.get(chunk.range).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests;
