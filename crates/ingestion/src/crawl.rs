//! Crawling a website: breadth first from its start page, within its host, politely.
//!
//! A [`Crawler`] reaches the network through [`Fetch`] and the readers through [`ReadPage`], and
//! reports its progress to a [`CrawlJournal`]. Its [`rules`] are pure functions.
//!
//! Invariant: everything that a crawl does happens within the future that [`Crawler::crawl`]
//! returns, so that dropping it ends the crawl.

mod directives;
mod egress;
mod entrance;
mod fetch;
mod frontier;
mod hosts;
mod journal;
mod preview;
mod refusal;
mod requests;
mod robots;
mod run;
mod settings;
mod site;
mod sitemap;
mod visit;

use std::sync::Arc;

use cicerone_domain::{Clock, Entropy, Error, Id, SystemClock, SystemEntropy, kind};
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use url::Url;

use crate::read::ReadPage;
use hosts::Hosts;
use requests::Requests;
use site::Site;

pub use egress::EgressFetch;
pub use fetch::{Excess, Fetch, FetchError, FetchRequest, Fetched};
pub use journal::{CrawlBatch, CrawlJournal, JournalError};
pub use settings::CrawlSettings;

/// The rules of the crawler, as pure functions and types of their own.
pub mod rules {
    pub use super::directives::RobotsTag;
    pub use super::refusal::refusal;
    pub use super::robots::Robots;
    pub use super::site::Site;
    pub use super::sitemap::Sitemap;
}

/// The name of the crawler in `robots.txt` and other directives.
pub const PRODUCT_TOKEN: &str = "Cicerone";

/// A party that shares hosts and readers with others: an account, or the program as a whole.
type Party = Option<Id<kind::Account>>;

/// The ports of a crawler.
#[derive(Clone)]
pub struct CrawlPorts {
    /// The network.
    pub fetch: Arc<dyn Fetch>,
    /// The readers.
    pub read: Arc<dyn ReadPage>,
    /// The time: [`SystemClock`] unless set otherwise.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for pauses: [`SystemEntropy`] unless set otherwise.
    pub entropy: Arc<dyn Entropy>,
}

impl CrawlPorts {
    /// Ports with this network and these readers, and with the time and the randomness of the
    /// machine.
    pub fn new(fetch: Arc<dyn Fetch>, read: Arc<dyn ReadPage>) -> Self {
        Self { fetch, read, clock: Arc::new(SystemClock), entropy: Arc::new(SystemEntropy) }
    }
}

/// How a crawl ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrawlEnd {
    /// All pages are recorded.
    Finished {
        /// The start page's title, or its address. `None` if it was visited before an interruption: then it is among
        /// the pages that were recorded.
        title: Option<String>,
    },
    /// The site cannot be crawled, with a reason for the person who asked for it.
    Failed(String),
    /// The journal no longer wants the crawl ([`JournalError::Abandoned`]).
    Abandoned,
}

/// Crawls websites. Use one crawler for all crawls, so that they respect the limits for each host
/// together.
pub struct Crawler {
    ports: CrawlPorts,
    settings: CrawlSettings,
    hosts: Hosts,
}

impl Crawler {
    /// A crawler over these ports.
    pub fn new(ports: CrawlPorts, settings: CrawlSettings) -> Self {
        Self { ports, settings, hosts: Hosts::default() }
    }

    /// Crawls a site: its start page and, with `crawl_subpages`, the pages that can be reached from there. Continues
    /// where the journal was interrupted.
    ///
    /// Pages are recorded while the crawl runs. Dropping the future ends the crawl at once; pages
    /// that were not recorded yet are fetched again by the next crawl.
    ///
    /// # Errors
    ///
    /// Those of the journal ([`JournalError::Failed`]). A site that cannot be crawled is not an error but an
    /// [end](CrawlEnd::Failed).
    pub async fn crawl(
        &self,
        start: &Url,
        crawl_subpages: bool,
        journal: &dyn CrawlJournal,
    ) -> Result<CrawlEnd, Error> {
        self.crawl_as(None, start, crawl_subpages, journal).await
    }

    /// Like [`Crawler::crawl`], for an account: accounts that crawl the same host, or have documents read, get equal
    /// shares of it.
    ///
    /// # Errors
    ///
    /// Those of [`Crawler::crawl`].
    pub async fn crawl_for(
        &self,
        account: Id<kind::Account>,
        start: &Url,
        crawl_subpages: bool,
        journal: &dyn CrawlJournal,
    ) -> Result<CrawlEnd, Error> {
        self.crawl_as(Some(account), start, crawl_subpages, journal).await
    }

    async fn crawl_as(
        &self,
        party: Party,
        start: &Url,
        crawl_subpages: bool,
        journal: &dyn CrawlJournal,
    ) -> Result<CrawlEnd, Error> {
        match run::run(self, party, start, crawl_subpages, journal).await {
            Ok(title) => Ok(CrawlEnd::Finished { title }),
            Err(Stop::Failed(message)) => Ok(CrawlEnd::Failed(message)),
            Err(Stop::Journal(JournalError::Abandoned)) => Ok(CrawlEnd::Abandoned),
            Err(Stop::Journal(JournalError::Failed(error))) => Err(error),
        }
    }
}

/// The number of pages, texts, PDFs and sitemaps of more than 1 MiB that a crawl holds at a time.
const LARGE_BODIES: usize = 2;

impl Crawler {
    /// Requests to a site, before its `robots.txt` is known.
    fn requests(&self, party: Party, site: &Site, settings: CrawlSettings) -> Requests {
        Requests {
            fetch: Arc::clone(&self.ports.fetch),
            party,
            gate: self.hosts.gate(site.host_key(), settings.parallel),
            delay: None,
            places: Arc::new(Semaphore::new(LARGE_BODIES)),
            answered_at: Mutex::new(Instant::now()),
            settings,
            clock: Arc::clone(&self.ports.clock),
            entropy: Arc::clone(&self.ports.entropy),
        }
    }
}

/// Why a start page that `robots.txt` forbids is not read.
fn not_allowed(url: &str) -> String {
    format!(
        "the site's `robots.txt` does not allow `{url}` to be read; allow it there for the user agent \
         `{PRODUCT_TOKEN}`, or add the text as a `text` source"
    )
}

/// Why a crawl stops.
enum Stop {
    Failed(String),
    Journal(JournalError),
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}
