//! The sources that a reply names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::cut_at_word;
use crate::id::{Id, kind};
use crate::limits;
use crate::public_url::PublicUrl;
use crate::retrieval::Hit;

/// A source that a reply is based on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The source, which may have been deleted since.
    pub id: Id<kind::Source>,
    /// The title of the best passage's document; without one, its address or the source's id.
    pub title: String,
    /// The address of the first of the passages, if it has one that the reader can open.
    #[serde(default)]
    pub url: Option<String>,
    /// The document of the first of the passages; `None` if an earlier version stored the reply.
    #[serde(default)]
    pub document_id: Option<Id<kind::Document>>,
    /// Those of its passages that the reply is based on, best first. All citations of a reply together have at most
    /// [`REPLY_PASSAGES`](limits::REPLY_PASSAGES). Empty if an earlier version stored the reply.
    #[serde(default)]
    pub passages: Vec<CitedPassage>,
}

/// A passage that a reply is based on, as it was at the time of the reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedPassage {
    /// The document that it is a part of.
    pub document_id: Id<kind::Document>,
    /// Its position in the source, from 0.
    pub position: i64,
    /// The title of its document; for a pair the question.
    pub title: Option<String>,
    /// The address of its document, if it has one that the reader can open.
    pub url: Option<String>,
    /// Its page, from 1; `None` if the format has no pages.
    pub page: Option<u32>,
    /// The headings above it.
    pub heading: Option<String>,
    /// The beginning of its text, of at most [`CITED_CHARS`](limits::CITED_CHARS).
    pub text: String,
}

/// The citations of a reply that is based on these passages, best first: one for each source. `public` is the address
/// of the server if anyone may read the texts of the agent; documents without an address then get one on this server.
pub fn cite<'a>(
    passages: impl Iterator<Item = &'a Hit>,
    public: Option<&PublicUrl>,
) -> Vec<Citation> {
    let mut citations: Vec<Citation> = Vec::new();
    for hit in passages {
        let owned = |text: &Option<Arc<str>>| text.as_deref().map(str::to_owned);
        let url = owned(&hit.url).or_else(|| Some(public?.page_of(hit.document_id)));
        let passage = CitedPassage {
            document_id: hit.document_id,
            position: hit.position,
            title: owned(&hit.title),
            url: url.clone(),
            page: hit.page,
            heading: owned(&hit.heading),
            text: cut_at_word(&hit.text, limits::CITED_CHARS).into_owned(),
        };
        match citations.iter_mut().find(|citation| citation.id == hit.source_id) {
            Some(citation) => citation.passages.push(passage),
            None => {
                let title = owned(&hit.title).or_else(|| owned(&hit.url));
                citations.push(Citation {
                    id: hit.source_id,
                    title: title.unwrap_or_else(|| hit.source_id.to_string()),
                    url,
                    document_id: Some(hit.document_id),
                    passages: vec![passage],
                });
            }
        }
    }
    citations
}
