//! A crawler over a store in memory, and the questions that tests ask of it.

use std::sync::Arc;
use std::time::Duration;

use cicerone_egress::{Egress, EgressSettings, SystemResolver};
use cicerone_ingestion::crawl::Fetch;
use cicerone_ingestion::{CrawlEnd, CrawlPorts, CrawlSettings, Crawler, EgressFetch};
use url::Url;

use crate::reader::Reader;
use crate::store::Store;

/// Settings that keep tests quick.
pub(crate) fn quick() -> CrawlSettings {
    CrawlSettings {
        retry_pause: Duration::from_millis(1),
        record_every: Duration::from_millis(5),
        ..CrawlSettings::default()
    }
}

/// A source that is crawled, again and again.
pub(crate) struct Bench {
    pub(crate) store: Arc<Store>,
    pub(crate) reader: Arc<Reader>,
    crawler: Crawler,
}

impl Bench {
    /// Over real HTTP, with loopback allowed.
    pub(crate) fn new() -> Self {
        Self::with(quick())
    }

    pub(crate) fn with(settings: CrawlSettings) -> Self {
        let allow = vec!["127.0.0.0/8".parse().unwrap()];
        let egress = EgressSettings { allow, ..EgressSettings::default() };
        let egress = Egress::new(egress, Arc::new(SystemResolver)).unwrap();
        Self::over(Arc::new(EgressFetch::new(egress)), settings)
    }

    pub(crate) fn over(fetch: Arc<dyn Fetch>, settings: CrawlSettings) -> Self {
        let (store, reader) = (Arc::new(Store::default()), Arc::new(Reader::default()));
        let ports = CrawlPorts::new(fetch, reader.clone());
        Self { store, reader, crawler: Crawler::new(ports, settings) }
    }

    /// Crawls a site with its subpages.
    pub(crate) async fn crawl(&self, start: &str) -> CrawlEnd {
        self.crawl_with(start, true).await
    }

    pub(crate) async fn crawl_with(&self, start: &str, crawl_subpages: bool) -> CrawlEnd {
        let start = Url::parse(start).unwrap();
        self.crawler.crawl(&start, crawl_subpages, &*self.store).await.unwrap()
    }

    /// Crawls a site, which must succeed, and puts its pages in place.
    pub(crate) async fn train(&self, start: &str) -> String {
        match self.crawl(start).await {
            CrawlEnd::Finished { title } => {
                self.store.finish();
                title.unwrap_or_default()
            }
            other => panic!("the crawl ended as {other:?}"),
        }
    }

    /// Crawls a site, which must fail, and gives the message.
    pub(crate) async fn fail(&self, start: &str) -> String {
        match self.crawl(start).await {
            CrawlEnd::Failed(message) => {
                self.store.discard();
                message
            }
            other => panic!("the crawl ended as {other:?}"),
        }
    }

    /// What became of the pages of the crawl under way, as `path status reason`, in order of path.
    pub(crate) fn pages(&self) -> Vec<String> {
        let line = |page: &cicerone_domain::crawl::VisitedPage| {
            let path = Url::parse(&page.url).unwrap();
            let path = &path[url::Position::BeforePath..];
            let reason = page.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{path} {} {reason}", page.status.name()).trim_end().to_owned()
        };
        let mut lines: Vec<_> = self.store.visited().iter().map(line).collect();
        lines.sort_unstable();
        lines
    }
}
