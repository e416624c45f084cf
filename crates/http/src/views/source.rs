//! Sources, what was extracted from them, and what a search finds, on the wire.

use std::borrow::Cow;

use cicerone_domain::content::{Document, Passage};
use cicerone_domain::retrieval::Hit;
use cicerone_domain::source::{CrawledPage, Progress};
use cicerone_domain::{Id, Source, Timestamp, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// Content of an agent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub(crate) struct SourceView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    id: Id<kind::Source>,
    #[serde(rename = "type")]
    #[schema(pattern = "^(website|text|file|qa)$")]
    kind: &'static str,
    /// As it was given: an address, a text, a file's id, or a JSON array of pairs.
    #[schema(value_type = String)]
    content: Cow<'a, str>,
    /// What citations show; for `qa` the matched question takes its place.
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(pattern = "^(pending|processing|trained|failed)$")]
    status: &'static str,
    /// Characters extracted; null until trained. A refresh keeps it until it succeeds.
    #[schema(required)]
    character_count: Option<u64>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
    /// Why processing failed; null in every other state.
    #[schema(required)]
    error_message: Option<&'a str>,
    /// How far the crawl is while a website is processed.
    #[schema(required)]
    progress: Option<ProgressView>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

/// How far a crawl is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Progress)]
pub(crate) struct ProgressView {
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
            title: trained.and_then(|trained| trained.title.as_deref()),
            status: source.state.status().name(),
            character_count: trained.map(|trained| trained.character_count),
            agent_id: source.agent_id,
            error_message: source.state.error_message(),
            progress: source.progress.map(progress),
            created_at: source.created_at,
        }
    }
}

/// One readable whole that was extracted: a text, a file, a page, a pair.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Document)]
pub(crate) struct DocumentView<'a> {
    /// Where it came from, for a page of a website.
    #[schema(required)]
    url: Option<&'a str>,
    /// Its title; for a pair the question.
    #[schema(required)]
    title: Option<&'a str>,
    /// Its pages, where the format has them.
    #[schema(required)]
    page_count: Option<u32>,
    character_count: usize,
    /// Its text; for a pair the answer.
    text: &'a str,
}

impl<'a> From<&'a Document> for DocumentView<'a> {
    fn from(document: &'a Document) -> Self {
        let question = if document.is_pair { document.title.as_deref() } else { None };
        let question_chars = question.map_or(0, |question| question.chars().count());
        Self {
            url: document.url.as_deref(),
            title: document.title.as_deref(),
            page_count: document.page_count,
            character_count: question_chars + document.text.chars().count(),
            text: &document.text,
        }
    }
}

/// A stretch of a document that is found and cited as one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Passage)]
pub(crate) struct PassageView<'a> {
    /// Its number within the source, from 0.
    position: i64,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    url: Option<&'a str>,
    /// Its page, from 1, where the format has pages.
    #[schema(required)]
    page: Option<u32>,
    text: &'a str,
}

impl<'a> From<&'a Passage> for PassageView<'a> {
    fn from(passage: &'a Passage) -> Self {
        Self {
            position: passage.position,
            title: passage.title.as_deref(),
            url: passage.url.as_deref(),
            page: passage.page,
            text: &passage.text,
        }
    }
}

/// What became of one page of a website.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Page)]
pub(crate) struct PageView<'a> {
    url: &'a str,
    #[schema(pattern = "^(indexed|unchanged|skipped|failed)$")]
    status: &'static str,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    character_count: Option<u64>,
    /// The status that the page's server answered.
    #[schema(required)]
    http_status: Option<u16>,
    /// Why it was skipped or failed.
    #[schema(required)]
    reason: Option<&'a str>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    fetched_at: Option<Timestamp>,
}

impl<'a> From<&'a CrawledPage> for PageView<'a> {
    fn from(page: &'a CrawledPage) -> Self {
        Self {
            url: &page.url,
            status: page.status.name(),
            title: page.title.as_deref(),
            character_count: page.character_count,
            http_status: page.http_status,
            reason: page.reason.as_deref(),
            fetched_at: page.fetched_at,
        }
    }
}

/// What a search finds, best first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SearchResult)]
pub(crate) struct SearchView<'a> {
    #[schema(max_items = 50)]
    pub(crate) data: Vec<HitView<'a>>,
}

/// A passage that was found.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Hit)]
pub(crate) struct HitView<'a> {
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Id<kind::Source>,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    url: Option<&'a str>,
    #[schema(required)]
    page: Option<u32>,
    text: &'a str,
    /// How well it fits; comparable within one search only.
    score: f32,
}

impl<'a> From<&'a Hit> for HitView<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            source_id: hit.source_id,
            title: hit.title.as_deref(),
            url: hit.url.as_deref(),
            page: hit.page,
            text: &hit.text,
            score: hit.score,
        }
    }
}
