//! Crawls in tests: all pages are on one host, and the text of each is two passages.

use cicerone_domain::content::{CutDocument, Document, Stretch, Warnings};
use cicerone_domain::crawl::{
    CrawlSoFar, FoundPage, KnownPage, PageContent, PageReason, Validators, VisitedPage,
};
use cicerone_domain::job::Lease;
use cicerone_domain::ports::{CrawlStore as _, PassageFeed as _, SourceStore as _};
use cicerone_domain::source::{CrawledPage, CrawledPageStatus, Progress};
use cicerone_domain::{Agent, Source, Timestamp};

use super::fixture::{World, all_pages, counted, new_id, new_job, website};

/// The address of a page.
pub(super) fn url(path: &str) -> String {
    format!("https://example.com{path}")
}

/// A page that was found.
pub(super) fn found(path: &str, depth: u32) -> FoundPage {
    FoundPage { url: url(path), depth }
}

/// A page that was fetched and contains `text`.
pub(super) fn page(path: &str, text: &str) -> VisitedPage {
    let document = Document {
        position: 0,
        url: Some(url(path)),
        title: Some(format!("Page {path}")),
        page_count: None,
        table_count: Some(0),
        warnings: Warnings::default(),
        text: text.to_owned(),
        is_pair: false,
    };
    let stretch =
        Stretch { range: 0..text.len(), heading: Some("Top".into()), page: None, language: None };
    let cut = CutDocument { document, stretches: vec![stretch; 2] };
    let mut content_hash = [7; 32];
    content_hash.iter_mut().zip(text.bytes()).for_each(|(hash, byte)| *hash = byte);
    VisitedPage {
        url: url(path),
        status: CrawledPageStatus::Indexed,
        title: Some(format!("Page {path}")),
        character_count: Some(text.chars().count() as u64),
        http_status: Some(200),
        reason: None,
        fetched_at: Some(Timestamp::from_millis(1_800_000_000_500)),
        validators: Validators {
            etag: Some(format!("\"{text}\"")),
            last_modified: Some("Sat, 21 Nov 2026 14:00:00 GMT".to_owned()),
        },
        content_hash: Some(content_hash),
        links: vec![url("/"), url("/röm?a=\"b\"")],
        content: PageContent::New(cut),
    }
}

/// A page that was not modified and keeps its document.
pub(super) fn kept(known: &KnownPage) -> VisitedPage {
    VisitedPage {
        url: known.url.clone(),
        status: CrawledPageStatus::Unchanged,
        title: known.title.clone(),
        character_count: known.character_count,
        http_status: Some(304),
        reason: None,
        fetched_at: Some(Timestamp::from_millis(1_800_000_000_900)),
        validators: known.validators.clone(),
        content_hash: known.content_hash,
        links: known.links.clone(),
        content: known.document.map_or(PageContent::None, PageContent::Kept),
    }
}

/// A page without text, with a reason.
pub(super) fn without(path: &str, status: CrawledPageStatus, reason: &str) -> VisitedPage {
    VisitedPage {
        status,
        reason: Some(PageReason::Unreadable { message: reason.to_owned() }),
        content: PageContent::None,
        content_hash: None,
        character_count: None,
        title: None,
        validators: Validators::default(),
        ..page(path, "")
    }
}

/// A crawl in progress.
pub(super) struct Crawl {
    pub(super) lease: Lease,
    pub(super) so_far: CrawlSoFar,
    pub(super) known: Vec<KnownPage>,
}

impl World {
    /// Claims the only job, and begins or resumes its crawl.
    pub(super) async fn begin(&self) -> Crawl {
        let lease = self.claim_job().await.unwrap().lease;
        let so_far = self.storage.begin_crawl(&lease, self.now()).await.unwrap().unwrap();
        let known = self.storage.known_pages(&lease).await.unwrap().unwrap();
        Crawl { lease, so_far, known }
    }

    /// Begins a refresh.
    pub(super) async fn refresh(&self, source: &Source) -> Crawl {
        let (scope, now) = (self.scope(), self.now());
        self.storage.refresh_source(&scope, source.id, new_job(), now, None).await.unwrap();
        self.begin().await
    }

    /// Stores the outcome of pages.
    pub(super) async fn record(&self, crawl: &Crawl, visited: Vec<VisitedPage>) {
        self.record_found(crawl, visited, Vec::new()).await;
    }

    /// Stores the outcome of pages, and the pages that were found on them.
    pub(super) async fn record_found(
        &self,
        crawl: &Crawl,
        visited: Vec<VisitedPage>,
        found: Vec<FoundPage>,
    ) {
        let progress = Progress { pages_done: 1, pages_found: 2, pages_failed: 0 };
        let (storage, lease) = (&self.storage, &crawl.lease);
        assert!(storage.record_pages(lease, visited, found, progress).await.unwrap());
    }

    /// Ends a crawl successfully.
    pub(super) async fn end(&self, crawl: &Crawl) -> Source {
        let title = Some("Rome".to_owned());
        let end = self.storage.finish_crawl(&crawl.lease, title, new_id(), self.now()).await;
        end.unwrap().unwrap()
    }

    /// Crawls a site in which the text of each page is its path.
    pub(super) async fn crawled(&self, agent: &Agent, paths: &[&str]) -> Source {
        self.source(agent, website(true)).await;
        let crawl = self.begin().await;
        self.record(&crawl, paths.iter().map(|path| page(path, path)).collect()).await;
        self.end(&crawl).await
    }

    /// The documents of a source from its list: position and text.
    pub(super) async fn texts(&self, source: &Source) -> Vec<(i64, String)> {
        let (scope, id) = (self.scope(), source.id);
        let list = async |page| self.storage.list_documents(&scope, id, page).await;
        let all = all_pages(2, list).await.into_iter().map(|stored| stored.document);
        all.map(|document| (document.position, document.text)).collect()
    }

    /// The passages of a source from its list: position and text.
    pub(super) async fn passage_texts(&self, source: &Source) -> Vec<(i64, String)> {
        let (scope, id) = (self.scope(), source.id);
        let list = async |page| self.storage.list_passages(&scope, id, None, page).await;
        let all = all_pages(2, list).await.into_iter().map(|stored| stored.passage);
        all.map(|passage| (passage.position, passage.text)).collect()
    }

    /// The pages of a source from its list.
    pub(super) async fn pages(&self, source: &Source) -> Vec<CrawledPage> {
        let (scope, id) = (self.scope(), source.id);
        all_pages(2, async |page| self.storage.list_pages(&scope, id, page).await).await
    }

    /// The pages from the list: path and status.
    pub(super) async fn statuses(&self, source: &Source) -> Vec<(String, &'static str)> {
        let pages = self.pages(source).await.into_iter();
        let path = |url: String| url.trim_start_matches(&url_of_host()).to_owned();
        pages.map(|page| (path(page.url), page.status.name())).collect()
    }

    /// The documents that an index receives, each with the number of content changes at the time
    /// when it was stored.
    pub(super) async fn documents(&self, source: &Source) -> Vec<(i64, u64)> {
        let version = source.state.searchable().unwrap().version;
        let documents = self.storage.documents(source.id, version).await.unwrap().unwrap();
        documents.into_iter().map(|(position, version)| (position, counted(version))).collect()
    }
}

fn url_of_host() -> String {
    url("")
}
