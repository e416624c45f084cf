//! Cuts a file into passages, or crawls a website: `reading FILE`, or `reading URL [NETWORK]…`.
use std::{env, error::Error, fs, process::ExitCode, sync::Arc};

use cicerone_ingestion::*;

struct Printer;

#[async_trait::async_trait]
impl CrawlJournal for Printer {
    async fn record(&self, batch: CrawlBatch) -> Result<(), JournalError> {
        batch.visited.iter().for_each(|page| println!("{} {}", page.status.name(), page.url));
        Ok(())
    }
}

pub fn main() -> Result<ExitCode, Box<dyn Error>> {
    if env::args().nth(1).as_deref() == Some("read-worker") {
        return Ok(serve_reader()); // A child process of this program reads documents.
    }
    tokio::runtime::Runtime::new()?.block_on(read(env::args().nth(1).ok_or("what?")?))
}

async fn read(what: String) -> Result<ExitCode, Box<dyn Error>> {
    let readers = Readers::new(SandboxSettings::default());
    if let Ok(start) = what.parse() {
        let allow = env::args().skip(2).map(|network| network.parse());
        let fetch = EgressFetch::open(allow.collect::<Result<Vec<_>, _>>()?)?;
        let ports = CrawlPorts::new(Arc::new(fetch), Arc::new(readers));
        let crawler = Crawler::new(ports, CrawlSettings::default());
        println!("{:?}", crawler.crawl(&start, true, &Printer).await?);
    } else {
        let bytes = fs::read(&what)?;
        let kind = detect_upload_type(&bytes).ok_or("it is of no type that is read")?;
        let prepared = readers.file(kind, bytes.into(), None).await?;
        let extracted = extract(Material::File { name: &what, prepared })?;
        extracted.passages().for_each(|(_, passage)| println!("- {}", passage.text));
    }
    Ok(ExitCode::SUCCESS)
}
