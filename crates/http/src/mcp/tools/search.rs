//! The tool `search`: documents that match a query.

use cicerone_domain::content::cut_at_word;
use cicerone_domain::retrieval::{Hit, SearchLimit};
use cicerone_domain::{Error, Id, MessageText, kind, limits};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Tools;

/// The arguments.
#[derive(Debug, Deserialize, ToSchema)]
pub(super) struct Arguments {
    /// What to search for: a question or words.
    #[schema(min_length = 1, max_length = 4000)]
    query: String,
}

/// The documents that were found, best first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Results {
    #[schema(inline)]
    results: Vec<Found>,
}

/// A document that was found.
#[derive(Debug, Serialize, ToSchema)]
struct Found {
    /// The id of the document, for `fetch`.
    #[schema(value_type = String)]
    id: Id<kind::Document>,
    /// The title of the document; empty if it has none.
    title: String,
    /// The address of the document; empty if it has none.
    url: String,
    /// The passage of the document that fits best.
    text: String,
}

pub(super) async fn call(tools: &Tools, arguments: Arguments) -> Result<Results, Error> {
    let query = MessageText::parse_field("query", arguments.query)?;
    let limit = SearchLimit::default();
    let found = tools.sources.search(&tools.scope, tools.agent.id, query, limit).await?;
    let mut results: Vec<Found> = Vec::with_capacity(found.hits.len());
    for hit in &found.hits {
        if results.iter().all(|result| result.id != hit.document_id) {
            results.push(result(tools, hit));
        }
    }
    Ok(Results { results })
}

fn result(tools: &Tools, hit: &Hit) -> Found {
    Found {
        id: hit.document_id,
        title: hit.title.as_deref().unwrap_or_default().to_owned(),
        url: tools.address(hit.url.as_deref(), hit.document_id),
        text: cut_at_word(&hit.text, limits::MCP_RESULT_CHARS).into_owned(),
    }
}
