//! Crawls kept in memory.

use async_trait::async_trait;
use cicerone_domain::crawl::{
    CrawlSoFar, FoundPage, KnownPage, PageContent, PageReason, SeenPage, VisitedPage,
};
use cicerone_domain::source::{CrawledPageStatus, Progress};
use cicerone_ingestion::{CrawlBatch, CrawlJournal, JournalError};
use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Default)]
struct State {
    is_abandoned: bool,
    waiting: Vec<FoundPage>,
    visited: Vec<VisitedPage>,
    progress: Vec<Progress>,
    known: Vec<KnownPage>,
    next_document: i64,
}

/// The crawl under way, and what the last one left.
#[derive(Default)]
pub(crate) struct Store {
    state: Mutex<State>,
    recorded: Notify,
}

impl Store {
    /// Ends the crawl under way as the real store does: its pages replace those of the last.
    pub(crate) fn finish(&self) {
        let mut state = self.state.lock();
        let visited = std::mem::take(&mut state.visited);
        state.waiting.clear();
        state.progress.clear();
        let mut next = state.next_document;
        let known = visited.into_iter().map(|page| {
            let document = match page.content {
                PageContent::None => None,
                PageContent::Kept(document) => Some(document),
                PageContent::New(_) => {
                    next += 1;
                    Some(next)
                }
            };
            KnownPage {
                url: page.url,
                validators: page.validators,
                content_hash: page.content_hash,
                links: page.links,
                title: page.title,
                character_count: page.character_count,
                document,
                status: page.status,
                reason: page.reason,
            }
        });
        state.known = known.collect();
        state.next_document = next;
    }

    /// Throws the crawl under way away, as a failed one is.
    pub(crate) fn discard(&self) {
        let mut state = self.state.lock();
        state.visited.clear();
        state.waiting.clear();
        state.progress.clear();
    }

    /// From now on nobody wants the crawl.
    pub(crate) fn abandon(&self) {
        self.state.lock().is_abandoned = true;
    }

    /// The pages that were visited, in order.
    pub(crate) fn visited(&self) -> Vec<VisitedPage> {
        self.state.lock().visited.clone()
    }

    /// The documents of the last crawl that was finished, by address.
    pub(crate) fn documents(&self) -> Vec<(String, i64)> {
        let state = self.state.lock();
        let documents = state.known.iter();
        let mut documents: Vec<_> =
            documents.filter_map(|page| Some((page.url.clone(), page.document?))).collect();
        documents.sort_unstable();
        documents
    }

    /// Every progress that was recorded.
    pub(crate) fn progress(&self) -> Vec<Progress> {
        self.state.lock().progress.clone()
    }

    /// Waits until this many pages are recorded as visited.
    pub(crate) async fn recorded(&self, count: usize) {
        loop {
            let next = self.recorded.notified();
            if self.state.lock().visited.len() >= count {
                return;
            }
            next.await;
        }
    }
}

#[async_trait]
impl CrawlJournal for Store {
    async fn begin(&self) -> Result<CrawlSoFar, JournalError> {
        let state = self.state.lock();
        if state.is_abandoned {
            return Err(JournalError::Abandoned);
        }
        let visited = |page: &VisitedPage| SeenPage {
            url: page.url.clone(),
            status: page.status,
            content_hash: page.content_hash,
            is_redirect: page.reason.as_ref().is_some_and(PageReason::is_redirect),
        };
        Ok(CrawlSoFar {
            waiting: state.waiting.clone(),
            visited: state.visited.iter().map(visited).collect(),
            crashes: 0,
        })
    }

    async fn known_pages(&self) -> Result<Vec<KnownPage>, JournalError> {
        Ok(self.state.lock().known.clone())
    }

    async fn record(&self, batch: CrawlBatch) -> Result<(), JournalError> {
        let CrawlBatch { visited, found, progress, .. } = batch;
        let mut state = self.state.lock();
        if state.is_abandoned {
            return Err(JournalError::Abandoned);
        }
        for page in found {
            let is_known = state.waiting.iter().any(|known| known.url == page.url)
                || state.visited.iter().any(|known| known.url == page.url);
            if !is_known {
                state.waiting.push(page);
            }
        }
        for page in visited {
            let before = state.waiting.len();
            state.waiting.retain(|waiting| waiting.url != page.url);
            assert_eq!(state.waiting.len() + 1, before, "`{}` was not waiting", page.url);
            let has_text =
                matches!(page.status, CrawledPageStatus::Indexed | CrawledPageStatus::Unchanged);
            assert!(!has_text || page.content != PageContent::None, "`{}`", page.url);
            state.visited.push(page);
        }
        let (done, all) = (state.visited.len(), state.visited.len() + state.waiting.len());
        assert_eq!(progress.pages_done, u64::try_from(done).unwrap());
        assert_eq!(progress.pages_found, u64::try_from(all).unwrap());
        state.progress.push(progress);
        self.recorded.notify_waiters();
        Ok(())
    }
}
