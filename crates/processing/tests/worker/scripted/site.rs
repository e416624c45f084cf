//! A site with one page of plain text, and a store that discards crawls.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::check::{Check, Comparison};
use cicerone_domain::crawl::{CrawlSoFar, FoundPage, KnownPage, VisitedPage};
use cicerone_domain::job::Lease;
use cicerone_domain::ports::CrawlStore;
use cicerone_domain::source::{Progress, Trained};
use cicerone_domain::{Error, Id, Source, SourceState, Timestamp, kind};
use cicerone_ingestion::crawl::{Fetch, FetchError, FetchRequest, Fetched};
use cicerone_ingestion::{CrawlPorts, CrawlSettings, Crawler, ReadPage};

use super::{Script, out_of_reach};

impl Script {
    pub(super) fn crawler(&self, read: Arc<dyn ReadPage>) -> Crawler {
        let ports = CrawlPorts {
            clock: Arc::new(self.clone()),
            ..CrawlPorts::new(Arc::new(self.clone()), read)
        };
        Crawler::new(ports, CrawlSettings::default())
    }
}

#[async_trait]
impl Fetch for Script {
    async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        if self.0.objects_stalled.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if request.url.path() != "/hours" {
            return Ok(Fetched { status: 404, ..Fetched::default() });
        }
        Ok(Fetched {
            status: 200,
            content_type: Some("text/plain".to_owned()),
            body: Some(Bytes::from_static(b"The museum opens at nine o'clock.")),
            ..Fetched::default()
        })
    }
}

#[async_trait]
impl CrawlStore for Script {
    async fn begin_crawl(
        &self,
        _lease: &Lease,
        _now: Timestamp,
    ) -> Result<Option<CrawlSoFar>, Error> {
        Ok(Some(CrawlSoFar::default()))
    }

    async fn known_pages(&self, _lease: &Lease) -> Result<Option<Vec<KnownPage>>, Error> {
        Ok(Some(Vec::new()))
    }

    async fn record_pages(
        &self,
        _lease: &Lease,
        _visited: Vec<VisitedPage>,
        _found: Vec<FoundPage>,
        _progress: Progress,
    ) -> Result<bool, Error> {
        Ok(!self.0.lease_lost.load(Ordering::SeqCst))
    }

    async fn finish_crawl(
        &self,
        lease: &Lease,
        title: Option<String>,
        _event: Id<kind::Event>,
        _now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        if self.0.finish_broken.load(Ordering::SeqCst) {
            return Err(out_of_reach());
        }
        let line = format!("crawled {}", title.as_deref().unwrap_or_default());
        let trained = Trained { character_count: 0, title, version: 1, partial: None };
        Ok(self.end(lease, line, SourceState::Trained(trained)))
    }

    async fn guarding(&self, _lease: &Lease) -> Result<Vec<Check>, Error> {
        Ok(self.checks())
    }

    async fn finish_compared(
        &self,
        lease: &Lease,
        _title: Option<String>,
        comparison: Comparison,
        _events: (Id<kind::Event>, Id<kind::Event>),
        _now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        let line = comparison.refusal().unwrap_or_else(|| "compared".to_owned());
        let state = SourceState::Failed { message: line.clone(), last: None };
        Ok(self.end(lease, line, state))
    }
}
