//! Documents and passages as they are stored: with the ids of documents.

use super::{Document, Passage};
use crate::Error;
use crate::id::{Id, kind};

/// A document of a source, with its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// `doc_` and 10 characters. A page keeps its id when a refresh stores it again.
    pub id: Id<kind::Document>,
    /// The source that the document was extracted from.
    pub source_id: Id<kind::Source>,
    /// The agent of the source.
    pub agent_id: Id<kind::Agent>,
    /// The document as it was extracted.
    pub document: Document,
}

impl StoredDocument {
    /// The document for the clients of one agent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if it belongs to another agent.
    pub fn for_agent(self, agent: Id<kind::Agent>) -> Result<Self, Error> {
        if self.agent_id == agent { Ok(self) } else { Err(Error::not_found("document", self.id)) }
    }
}

/// A passage with the id of its document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPassage {
    /// The document that it belongs to.
    pub document_id: Id<kind::Document>,
    /// The passage as it was cut.
    pub passage: Passage,
}

/// A document as anyone may read it; a long one is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicText {
    /// Its title; for a pair the question.
    pub title: Option<String>,
    /// The beginning of its text, or all of it.
    pub text: String,
    /// Whether the text continues.
    pub is_cut: bool,
}
