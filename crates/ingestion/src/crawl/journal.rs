//! The journal of a crawl, which records it page by page so that an interruption costs little.

use std::collections::HashMap;

use async_trait::async_trait;
use cicerone_domain::Error;
use cicerone_domain::crawl::{
    CrawlSoFar, FoundPage, KnownPage, PageContent, PageReason, SeenPage, VisitedPage,
};
use cicerone_domain::source::{CrawledPageStatus, Progress};
use tokio::time::{Duration, Instant};

use super::Stop;

/// Records the progress of a crawl of one source.
///
/// A journal that only implements [`record`](Self::record) gets every page of a site once. If it
/// also stores the pages, it can have an interrupted crawl continued ([`begin`](Self::begin)) and
/// only changed pages fetched ([`known_pages`](Self::known_pages)).
#[async_trait]
pub trait CrawlJournal: Send + Sync {
    /// Returns what an interrupted crawl recorded, so that it is continued. By default this is
    /// empty, and a new crawl begins.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read, or the crawl is no longer wanted.
    async fn begin(&self) -> Result<CrawlSoFar, JournalError> {
        Ok(CrawlSoFar::default())
    }

    /// Returns the pages of the last successful crawl. By default there are none, and every page is
    /// new.
    ///
    /// # Errors
    ///
    /// Those of [`begin`](Self::begin).
    async fn known_pages(&self) -> Result<Vec<KnownPage>, JournalError> {
        Ok(Vec::new())
    }

    /// Records what was done. This is called about twice a second; each page is visited once, unless the crawl is
    /// interrupted.
    ///
    /// # Errors
    ///
    /// Those of [`begin`](Self::begin).
    async fn record(&self, batch: CrawlBatch) -> Result<(), JournalError>;
}

/// What a crawl has done since it last recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CrawlBatch {
    /// Visited pages, with their outcome and text.
    pub visited: Vec<VisitedPage>,
    /// Pages that were found. Some of them may have been visited since.
    pub found: Vec<FoundPage>,
    /// How far the crawl is after this batch.
    pub progress: Progress,
}

/// Why a journal ends a crawl.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The crawl is no longer wanted and ends with
    /// [`CrawlEnd::Abandoned`](super::CrawlEnd::Abandoned).
    #[error("the crawl is no longer wanted")]
    Abandoned,
    /// The journal cannot be read or written: the crawl ends with this error.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// The most pages that are recorded at once.
const BATCH_PAGES: usize = 64;
/// The most text and links that wait to be recorded, in bytes.
const BATCH_BYTES: usize = 4 * 1_024 * 1_024;

/// The pages of the crawl so far, and those that are not recorded yet.
pub(super) struct Journal<'a> {
    keeper: &'a dyn CrawlJournal,
    visited: Vec<VisitedPage>,
    found: Vec<FoundPage>,
    bytes: usize,
    recorded_at: Instant,
    outcomes: HashMap<String, CrawledPageStatus>,
    /// The first page of each content.
    contents: HashMap<[u8; 32], String>,
    failed: u64,
    readable: u64,
    requested: usize,
    redirects: usize,
}

impl<'a> Journal<'a> {
    pub(super) fn new(keeper: &'a dyn CrawlJournal, so_far: &CrawlSoFar) -> Self {
        let mut journal = Self {
            keeper,
            visited: Vec::new(),
            found: Vec::new(),
            bytes: 0,
            recorded_at: Instant::now(),
            outcomes: HashMap::new(),
            contents: HashMap::new(),
            failed: 0,
            readable: 0,
            requested: 0,
            redirects: 0,
        };
        for SeenPage { url, status, content_hash, is_redirect } in &so_far.visited {
            // A skipped page without a hash was left out or is a redirect. Every other page was requested.
            let was_requested = content_hash.is_some() || *status != CrawledPageStatus::Skipped;
            journal.redirects += usize::from(*is_redirect);
            journal.count(url, *status, *content_hash, was_requested);
        }
        journal
    }

    fn count(
        &mut self,
        url: &str,
        status: CrawledPageStatus,
        hash: Option<[u8; 32]>,
        was_requested: bool,
    ) {
        self.outcomes.insert(url.to_owned(), status);
        self.requested += usize::from(was_requested);
        match status {
            CrawledPageStatus::Indexed | CrawledPageStatus::Unchanged => {
                self.readable += 1;
                if let Some(hash) = hash {
                    self.contents.entry(hash).or_insert_with(|| url.to_owned());
                }
            }
            CrawledPageStatus::Failed => self.failed += 1,
            CrawledPageStatus::Skipped => {}
        }
    }

    /// Adds a page that was visited.
    pub(super) fn visited(&mut self, page: VisitedPage) {
        let is_redirect = page.reason.as_ref().is_some_and(PageReason::is_redirect);
        self.redirects += usize::from(is_redirect);
        let was_requested = page.fetched_at.is_some() && !is_redirect;
        self.count(&page.url, page.status, page.content_hash, was_requested);
        if let PageContent::New(cut) = &page.content {
            self.bytes += cut.document.text.len();
        }
        self.bytes += page.links.iter().map(String::len).sum::<usize>();
        self.visited.push(page);
    }

    /// Adds a page that was found.
    pub(super) fn found(&mut self, page: FoundPage) {
        self.found.push(page);
    }

    /// Whether a page has text. `None` if it was not visited.
    pub(super) fn has_text(&self, name: &str) -> Option<bool> {
        self.outcomes.get(name).map(|status| match status {
            CrawledPageStatus::Indexed | CrawledPageStatus::Unchanged => true,
            CrawledPageStatus::Skipped | CrawledPageStatus::Failed => false,
        })
    }

    /// The page that has this content and was visited before.
    pub(super) fn same_content(&self, hash: &[u8; 32]) -> Option<&str> {
        self.contents.get(hash).map(String::as_str)
    }

    /// Pages that were requested. Redirects are not among them: a site whose links all lack a final slash has as many
    /// redirects as pages, and how many addresses are found is limited anyway.
    pub(super) const fn requested(&self) -> usize {
        self.requested
    }

    /// Pages with text.
    pub(super) const fn readable(&self) -> u64 {
        self.readable
    }

    /// Pages that were visited, without redirects.
    pub(super) fn pages(&self) -> usize {
        self.done().saturating_sub(self.redirects)
    }

    /// Pages that were visited.
    fn done(&self) -> usize {
        self.outcomes.len()
    }

    /// Records what is not recorded yet, if there is a lot of it or it has waited for `every`.
    pub(super) async fn record_if_due(
        &mut self,
        every: Duration,
        pages_found: usize,
    ) -> Result<(), Stop> {
        let is_due = self.visited.len() >= BATCH_PAGES
            || self.bytes >= BATCH_BYTES
            || self.recorded_at.elapsed() >= every;
        if is_due { self.record(pages_found).await } else { Ok(()) }
    }

    /// Records what is not recorded yet.
    pub(super) async fn record(&mut self, pages_found: usize) -> Result<(), Stop> {
        self.recorded_at = Instant::now();
        if self.visited.is_empty() && self.found.is_empty() {
            return Ok(());
        }
        let progress = Progress {
            pages_done: number(self.done()),
            pages_found: number(pages_found),
            pages_failed: self.failed,
        };
        let (visited, found) = (std::mem::take(&mut self.visited), std::mem::take(&mut self.found));
        self.bytes = 0;
        Ok(self.keeper.record(CrawlBatch { visited, found, progress }).await?)
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
