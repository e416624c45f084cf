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
use cicerone_ingestion::{
    CrawlBatch, CrawlEnd, CrawlJournal, CrawlPorts, CrawlSettings, Crawler, EgressFetch,
    JournalError, Readers, SandboxSettings, serve_reader,
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
    let allow = arguments.map(|network| network.parse()).collect::<Result<Vec<_>, _>>()?;

    let fetch = EgressFetch::open(allow)?;
    let readers = Readers::new(SandboxSettings::default());
    let ports = CrawlPorts::new(Arc::new(fetch), Arc::new(readers));
    let crawler = Crawler::new(ports, CrawlSettings::default());
    match crawler.crawl(&start, true, &Printer).await? {
        CrawlEnd::Finished { .. } | CrawlEnd::Abandoned => Ok(ExitCode::SUCCESS),
        CrawlEnd::Failed(message) => Err(message.into()),
    }
}

/// A journal that keeps nothing and prints what it is given.
struct Printer;

#[async_trait]
impl CrawlJournal for Printer {
    async fn record(&self, batch: CrawlBatch) -> Result<(), JournalError> {
        let mut out = std::io::stdout().lock();
        for page in batch.visited {
            let (status, characters) = (page.status.name(), page.character_count.unwrap_or(0));
            let remark =
                page.reason.map(|reason| reason.to_string()).or(page.title).unwrap_or_default();
            // If standard output is closed, nobody reads on.
            if writeln!(out, "{status:9} {characters:>8} {} {remark}", page.url).is_err() {
                return Err(JournalError::Abandoned);
            }
        }
        Ok(())
    }
}
