//! What a crawl has done, kept page by page so that an interruption costs little.

use std::collections::HashMap;
use std::sync::Arc;

use cicerone_domain::crawl::{CrawlSoFar, FoundPage, PageContent, VisitedPage};
use cicerone_domain::job::Lease;
use cicerone_domain::ports::CrawlStore;
use cicerone_domain::source::{CrawledPageStatus, Progress};
use tokio::time::{Duration, Instant};

use super::Stop;

/// Most pages that are kept in one transaction.
const BATCH_PAGES: usize = 64;
/// Most text and links that wait to be kept, in bytes.
const BATCH_BYTES: usize = 4 * 1_024 * 1_024;

/// What was done, and the part of it that is not recorded yet.
pub(super) struct Journal {
    store: Arc<dyn CrawlStore>,
    lease: Lease,
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
}

impl Journal {
    pub(super) fn new(store: Arc<dyn CrawlStore>, lease: Lease, so_far: &CrawlSoFar) -> Self {
        let mut journal = Self {
            store,
            lease,
            visited: Vec::new(),
            found: Vec::new(),
            bytes: 0,
            recorded_at: Instant::now(),
            outcomes: HashMap::new(),
            contents: HashMap::new(),
            failed: 0,
            readable: 0,
            requested: 0,
        };
        for (url, status, hash) in &so_far.visited {
            // Whatever has a hash was fetched, and only what was left out has none otherwise.
            let was_requested = hash.is_some() || *status != CrawledPageStatus::Skipped;
            journal.count(url, *status, *hash, was_requested);
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

    /// Takes in a page that was visited.
    pub(super) fn visited(&mut self, page: VisitedPage) {
        self.count(&page.url, page.status, page.content_hash, page.fetched_at.is_some());
        if let PageContent::New(cut) = &page.content {
            self.bytes += cut.document.text.len();
        }
        self.bytes += page.links.iter().map(String::len).sum::<usize>();
        self.visited.push(page);
    }

    /// Takes in a page that was found.
    pub(super) fn found(&mut self, page: FoundPage) {
        self.found.push(page);
    }

    /// Whether a page has text; none where it was not visited.
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

    /// Pages that were requested.
    pub(super) const fn requested(&self) -> usize {
        self.requested
    }

    /// Pages with text.
    pub(super) const fn readable(&self) -> u64 {
        self.readable
    }

    /// Pages that were visited.
    pub(super) fn done(&self) -> usize {
        self.outcomes.len()
    }

    /// Records what is not recorded yet, once it is much or waits for so long.
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
        for page in &visited {
            let status = page.status.name();
            metrics::counter!("cicerone_crawled_pages_total", "status" => status).increment(1);
        }
        match self.store.record_pages(&self.lease, visited, found, progress).await? {
            true => Ok(()),
            false => Err(Stop::Lost),
        }
    }
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
