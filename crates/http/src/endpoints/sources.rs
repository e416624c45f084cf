//! Sources: what their endpoints share.

pub(super) mod create;
pub(super) mod delete;
pub(super) mod document;
pub(super) mod documents;
pub(super) mod get;
pub(super) mod list;
pub(super) mod pages;
pub(super) mod pairs;
pub(super) mod passages;
pub(super) mod preview;
pub(super) mod refresh;
pub(super) mod search;
pub(super) mod update;

use std::borrow::Cow;

use actix_web::http::StatusCode;
use cicerone_domain::idempotency::Subject;
use cicerone_domain::source::{PartialReading, Progress};
use cicerone_domain::{Id, Source, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::managed::{ManagedBody, ManagedView};
use crate::response::{Quote, StoredResponse, keep};

/// The condition under which a managed identity is refused.
const SAME_VERSION: &str = "Another source of the agent has the same `managed` set, key and hash, or the same request is \
    still being carried out.";

/// Content that an agent answers from.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub(super) struct SourceView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    id: Id<kind::Source>,
    #[serde(rename = "type")]
    #[schema(pattern = "^(website|text|file|qa)$")]
    kind: &'static str,
    /// The content as it was given: a URL, a text, the id of a file, or a JSON array of pairs.
    #[schema(value_type = String)]
    content: Cow<'a, str>,
    /// Whether links within the host are followed; null for a source that is not a website.
    #[schema(required)]
    crawl_subpages: Option<bool>,
    /// The title that citations show. Citations of a `qa` source show the matched question instead.
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(pattern = "^(pending|processing|trained|failed)$")]
    status: &'static str,
    /// The number of characters extracted; null until the source is trained. A refresh changes it
    /// only when it succeeds.
    #[schema(required)]
    character_count: Option<u64>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// Why processing failed; null in every other state.
    #[schema(required)]
    error_message: Option<&'a str>,
    /// The progress of the crawl while a website is processed; otherwise null.
    #[schema(required)]
    progress: Option<ProgressView>,
    /// What is missing from the trained content; null if everything was read. The documents' `warnings` have the details.
    #[schema(required)]
    partially_read: Option<PartialView<'a>>,
    /// Whether a crawl replaces the content only if every check of the agent that passes now would still pass; always false
    /// for a source that is not a website.
    guarded: bool,
    /// The entry of a declaration file that manages this object; null if none does.
    #[schema(value_type = Option<ManagedBody>, required = true)]
    managed: Option<ManagedView<'a>>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// A source was not read completely.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PartialReading)]
struct PartialView<'a> {
    /// How many documents have warnings.
    documents: u64,
    /// For a file, the pages that were not read completely, from 1, in order; at most the first 100. Empty for other
    /// sources.
    pages: &'a [u32],
    /// The reasons, as a sentence.
    reason: String,
}

impl<'a> From<&'a PartialReading> for PartialView<'a> {
    fn from(partial: &'a PartialReading) -> Self {
        let reasons: Vec<String> = partial.reasons.iter().map(ToString::to_string).collect();
        Self { documents: partial.documents, pages: &partial.pages, reason: reasons.join("; ") }
    }
}

/// The progress of a crawl.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Progress)]
struct ProgressView {
    pages_done: u64,
    pages_found: u64,
    pages_failed: u64,
}

impl<'a> From<&'a Source> for SourceView<'a> {
    fn from(source: &'a Source) -> Self {
        let trained = source.state.searchable();
        let progress = |progress| {
            let Progress { pages_done, pages_found, pages_failed } = progress;
            ProgressView { pages_done, pages_found, pages_failed }
        };
        Self {
            id: source.id,
            kind: source.content.source_type().name(),
            content: source.content.as_text(),
            crawl_subpages: source.content.crawl_subpages(),
            title: trained.and_then(|trained| trained.title.as_deref()),
            status: source.state.status().name(),
            character_count: trained.map(|trained| trained.character_count),
            agent_id: source.agent_id,
            error_message: source.state.error_message(),
            progress: source.progress.map(progress),
            partially_read: trained
                .and_then(|trained| trained.partial.as_ref())
                .map(PartialView::from),
            guarded: source.guarded,
            managed: source.managed.as_ref().map(ManagedView::from),
            created_at: source.created_at,
        }
    }
}

/// The answer to a change of a source.
pub(super) fn kept(status: StatusCode, source: &Source) -> StoredResponse {
    let subject = Subject::of_agent(source.id, source.agent_id);
    let quote = Quote::of(source);
    let mut view = SourceView::from(source);
    if quote.is_some() {
        view.content = Cow::Borrowed("");
    }
    StoredResponse { quote, ..keep(status, &view, Some(subject)) }
}
