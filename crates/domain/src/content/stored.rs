//! Documents and passages as they are stored: with the ids of documents.

use std::collections::HashMap;

use super::{Document, Passage};
use crate::id::{Id, kind};

/// A document of a source, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// `doc_` and 10 characters. See [`DocumentIds`].
    pub id: Id<kind::Document>,
    /// Its source.
    pub source_id: Id<kind::Source>,
    /// The agent of the source.
    pub agent_id: Id<kind::Agent>,
    /// The document.
    pub document: Document,
}

/// A passage with the id of its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPassage {
    /// The document that it belongs to.
    pub document_id: Id<kind::Document>,
    /// The passage.
    pub passage: Passage,
}

/// A document as anybody may read it, without its end if it is long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicText {
    /// Its title; for a pair the question.
    pub title: Option<String>,
    /// The beginning of its text, or all of it.
    pub text: String,
    /// Whether the text goes on.
    pub is_cut: bool,
}

/// Derives the ids of a source's documents from their names, in the order of the documents.
///
/// The name of a page is its address, that of a pair its question and the number of pairs before it with the same
/// question, and the one document of a text or file has none. So a page keeps its id when a refresh stores it again,
/// and has its old id if it vanished and comes back.
#[derive(Debug, Clone)]
pub struct DocumentIds {
    source: Id<kind::Source>,
    /// The questions so far, with the number of pairs that have them.
    questions: HashMap<String, u64>,
}

impl DocumentIds {
    /// The ids of the documents of a source.
    pub fn new(source: Id<kind::Source>) -> Self {
        Self { source, questions: HashMap::new() }
    }

    /// The id of the next document, which has this address or is a pair with this question.
    pub fn next(&mut self, url: Option<&str>, question: Option<&str>) -> Id<kind::Document> {
        let source = self.source.to_string();
        match question {
            Some(question) => {
                let count = self.questions.entry(question.to_owned()).or_default();
                let number = count.to_string();
                *count += 1;
                Id::derived(&[&source, question, &number])
            }
            None => Id::derived(&[&source, url.unwrap_or_default()]),
        }
    }

    /// The id of this document, if it is the next one.
    pub fn next_of(&mut self, document: &Document) -> Id<kind::Document> {
        let question = document.is_pair.then(|| document.title.as_deref().unwrap_or_default());
        self.next(document.url.as_deref(), question)
    }
}

#[cfg(test)]
mod tests {
    use super::DocumentIds;
    use crate::{Id, SystemEntropy};

    #[test]
    fn a_document_of_the_same_name_has_the_same_id_in_its_source_only() {
        let source = Id::random(&SystemEntropy);
        let page = |source, url| DocumentIds::new(source).next(Some(url), None);
        assert_eq!(page(source, "https://a.example/"), page(source, "https://a.example/"));
        assert_ne!(page(source, "https://a.example/"), page(source, "https://a.example/b"));
        let other = Id::random(&SystemEntropy);
        assert_ne!(page(source, "https://a.example/"), page(other, "https://a.example/"));
        // A text and a page differ.
        assert_ne!(DocumentIds::new(source).next(None, None), page(source, "https://a.example/"));
    }

    #[test]
    fn equal_questions_are_told_apart_by_their_order() {
        let source = Id::random(&SystemEntropy);
        let ids = |questions: &[&str]| {
            let mut ids = DocumentIds::new(source);
            questions.iter().map(|question| ids.next(None, Some(question))).collect::<Vec<_>>()
        };
        let all = ids(&["a", "b", "a", "a"]);
        assert!((0..4).all(|one| (0..one).all(|other| all[one] != all[other])), "{all:?}");
        // Other questions between them change nothing.
        assert_eq!(ids(&["a", "a"]), [all[0], all[2]]);
        assert_eq!(ids(&["b"]), [all[1]]);
    }
}
