//! The tool `fetch`: one document.

use cicerone_domain::{Error, Id, kind, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Tools;
use crate::body::shown;

/// The arguments.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Arguments {
    /// The id of a document, from a result of `search`.
    #[schema(min_length = 1, max_length = 100)]
    id: String,
}

/// A document with its whole text.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Document {
    #[schema(value_type = String)]
    id: Id<kind::Document>,
    /// The title; for a question/answer pair the question, and empty if there is none.
    title: String,
    /// The text; for a question/answer pair the answer.
    text: String,
    /// The address; empty if there is none.
    url: String,
    #[schema(inline)]
    metadata: Metadata,
}

/// What else is known of the document.
#[derive(Debug, Serialize, ToSchema)]
struct Metadata {
    #[schema(value_type = String)]
    source_id: Id<kind::Source>,
    /// `true` if the end of the text is missing because it is too long, otherwise `false`.
    truncated: &'static str,
}

pub(super) async fn call(tools: &Tools, arguments: Arguments) -> Result<Document, Error> {
    let unknown = || Error::not_found("document", shown(&arguments.id));
    let id = arguments.id.parse().map_err(|_| unknown())?;
    let found = tools.sources.document(&tools.scope, id).await?.for_agent(tools.agent.id)?;
    let document = found.document;
    let mut text = document.text;
    let cut = text.char_indices().nth(limits::MCP_DOCUMENT_CHARS).map(|(end, _)| end);
    if let Some(end) = cut {
        text.truncate(end);
    }
    Ok(Document {
        id,
        title: document.title.unwrap_or_default(),
        url: tools.address(document.url.as_deref(), id),
        text,
        metadata: Metadata {
            source_id: found.source_id,
            truncated: if cut.is_some() { "true" } else { "false" },
        },
    })
}
