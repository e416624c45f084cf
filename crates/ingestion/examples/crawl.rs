//! Crawls a site and shows what becomes of its pages: status, characters, address, title or reason.
//!
//! ```sh
//! cargo run --package cicerone-ingestion --example crawl -- https://example.com/docs
//! cargo run --package cicerone-ingestion --example crawl -- http://127.0.0.1:8000/ 127.0.0.0/8
//! ```
//!
//! Further arguments are networks that may be asked although they are not public.

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use cicerone_domain::crawl::{CrawlSoFar, FoundPage, KnownPage, VisitedPage};
use cicerone_domain::job::Lease;
use cicerone_domain::ports::CrawlStore;
use cicerone_domain::source::Progress;
use cicerone_domain::{Id, Source, SystemClock, SystemEntropy, Timestamp, kind};
use cicerone_egress::{Egress, EgressSettings, SystemResolver};
use cicerone_ingestion::{
    CrawlEnd, CrawlPorts, CrawlSettings, Crawler, EgressFetch, Readers, SandboxSettings,
    serve_reader,
};
use url::Url;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    // Pages are read by this program, started again behind walls.
    if std::env::args().nth(1).as_deref() == Some("read-worker") {
        return Ok(serve_reader());
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(crawl())
}

async fn crawl() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let start: Url = arguments.next().ok_or("usage: crawl URL [NETWORK…]")?.parse()?;
    let allow = arguments.map(|network| network.parse()).collect::<Result<_, _>>()?;

    let egress = EgressSettings { allow, ..EgressSettings::default() };
    let ports = CrawlPorts {
        store: Arc::new(Printer),
        fetch: Arc::new(EgressFetch::new(Egress::new(egress, Arc::new(SystemResolver))?)),
        read: Arc::new(Readers::new(SandboxSettings::default())),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
    };
    let lease = Lease {
        job_id: Id::random(&SystemEntropy),
        source_id: Id::random(&SystemEntropy),
        token: String::new(),
    };
    let crawler = Crawler::new(ports, CrawlSettings::default());
    let account = Id::random(&SystemEntropy);
    match crawler.crawl(account, &lease, &start, true).await? {
        CrawlEnd::Finished { .. } | CrawlEnd::Lost => Ok(ExitCode::SUCCESS),
        CrawlEnd::Failed(message) => Err(message.into()),
    }
}

/// A store that keeps nothing and prints what it is given.
struct Printer;

#[async_trait]
impl CrawlStore for Printer {
    async fn begin_crawl(
        &self,
        _lease: &Lease,
        now: Timestamp,
    ) -> Result<Option<CrawlSoFar>, cicerone_domain::Error> {
        let progress = Progress::default();
        let (waiting, visited) = (Vec::new(), Vec::new());
        Ok(Some(CrawlSoFar { began_at: now, waiting, visited, progress, crashes: 0 }))
    }

    async fn known_pages(
        &self,
        _lease: &Lease,
    ) -> Result<Option<Vec<KnownPage>>, cicerone_domain::Error> {
        Ok(Some(Vec::new()))
    }

    async fn record_pages(
        &self,
        _lease: &Lease,
        visited: Vec<VisitedPage>,
        _found: Vec<FoundPage>,
        _progress: Progress,
    ) -> Result<bool, cicerone_domain::Error> {
        let mut out = std::io::stdout().lock();
        for page in visited {
            let (status, characters) = (page.status.name(), page.character_count.unwrap_or(0));
            let remark = page.reason.or(page.title).unwrap_or_default();
            // Whoever reads this may have gone; the crawl then ends.
            if writeln!(out, "{status:9} {characters:>8} {} {remark}", page.url).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn finish_crawl(
        &self,
        _lease: &Lease,
        _title: Option<String>,
        _event: Id<kind::Event>,
        _now: Timestamp,
    ) -> Result<Option<Source>, cicerone_domain::Error> {
        Ok(None)
    }
}
