//! A job whose source is a website.

use cicerone_domain::job::ClaimedJob;
use cicerone_domain::source::WebsiteUrl;
use cicerone_ingestion::CrawlEnd;

use super::Worker;
use super::attempt::Outcome;

impl Worker {
    /// Crawls a website, or goes on with a crawl that was interrupted.
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
        let (account, lease) = (job.source.account_id, &job.lease);
        match self.ports.crawler.crawl(account, lease, &start, crawl_subpages).await {
            Ok(CrawlEnd::Finished { title }) => Outcome::Crawled(title),
            Ok(CrawlEnd::Failed(message)) => Outcome::Unreadable(message),
            Ok(CrawlEnd::Lost) => Outcome::Lost,
            Err(error) => Outcome::Fault(error),
        }
    }
}
