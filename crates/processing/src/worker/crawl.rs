//! A job whose source is a website.

use async_trait::async_trait;
use cicerone_domain::Clock;
use cicerone_domain::crawl::{CrawlSoFar, KnownPage};
use cicerone_domain::job::{ClaimedJob, Lease};
use cicerone_domain::ports::CrawlStore;
use cicerone_domain::source::WebsiteUrl;
use cicerone_ingestion::{CrawlBatch, CrawlEnd, CrawlJournal, JournalError};

use super::Worker;
use super::attempt::Outcome;

impl Worker {
    /// Crawls a website, or continues a crawl that was interrupted.
    pub(super) async fn crawl(
        &self,
        job: &ClaimedJob,
        url: &WebsiteUrl,
        crawl_subpages: bool,
    ) -> Outcome {
        let start = match url.to_url() {
            Ok(start) => start,
            Err(error) => return Outcome::Unreadable(error.to_string()),
        };
        let (account, ports) = (job.source.account_id, &self.ports);
        let (crawls, clock, lease) = (&*ports.crawls, &*ports.clock, &job.lease);
        let journal = LeasedJournal { crawls, clock, lease };
        match ports.crawler.crawl_for(account, &start, crawl_subpages, &journal).await {
            Ok(CrawlEnd::Finished { title }) => self.guard(job, title).await,
            Ok(CrawlEnd::Failed(message)) => Outcome::Unreadable(message),
            Ok(CrawlEnd::Abandoned) => Outcome::Lost,
            Err(error) => Outcome::Fault(error),
        }
    }
}

/// Records a crawl in the store for as long as the lease lasts.
struct LeasedJournal<'a> {
    crawls: &'a dyn CrawlStore,
    clock: &'a dyn Clock,
    lease: &'a Lease,
}

#[async_trait]
impl CrawlJournal for LeasedJournal<'_> {
    async fn begin(&self) -> Result<CrawlSoFar, JournalError> {
        let so_far = self.crawls.begin_crawl(self.lease, self.clock.now()).await?;
        so_far.ok_or(JournalError::Abandoned)
    }

    async fn known_pages(&self) -> Result<Vec<KnownPage>, JournalError> {
        self.crawls.known_pages(self.lease).await?.ok_or(JournalError::Abandoned)
    }

    async fn record(&self, batch: CrawlBatch) -> Result<(), JournalError> {
        let CrawlBatch { visited, found, progress, .. } = batch;
        for page in &visited {
            let status = page.status.name();
            metrics::counter!("cicerone_crawled_pages_total", "status" => status).increment(1);
        }
        match self.crawls.record_pages(self.lease, visited, found, progress).await? {
            true => Ok(()),
            false => Err(JournalError::Abandoned),
        }
    }
}
