//! Crawling a website: breadth first from its start page, within its host, politely.
//!
//! [`Crawler`] is the engine. It reaches the network through [`Fetch`], the readers through
//! [`ReadPage`] and what it keeps through the domain's `CrawlStore`. Its rules are pure functions:
//! [`Site`] (which addresses belong together), [`refusal`] (which are left out), [`Robots`],
//! [`Sitemap`], [`RobotsTag`], [`retry_after`].
//!
//! Invariant: everything that a crawl does happens within the future that [`Crawler::crawl`] gives, so
//! that dropping it ends the crawl.

mod directives;
mod egress;
mod entrance;
mod fetch;
mod frontier;
mod hosts;
mod journal;
mod read;
mod reasons;
mod refusal;
mod requests;
mod robots;
mod run;
mod settings;
mod site;
mod sitemap;
mod visit;

use std::sync::Arc;

use cicerone_domain::job::Lease;
use cicerone_domain::ports::CrawlStore;
use cicerone_domain::{Clock, Entropy, Error, Id, kind};
use url::Url;

use hosts::Hosts;

pub use directives::RobotsTag;
pub use egress::EgressFetch;
pub use fetch::{Excess, Fetch, FetchError, FetchRequest, Fetched};
pub use read::ReadPage;
pub use refusal::refusal;
pub use robots::Robots;
pub use settings::CrawlSettings;
pub use site::Site;
pub use sitemap::Sitemap;

/// The name that `robots.txt` and other directives know the crawler by.
pub const PRODUCT_TOKEN: &str = "Cicerone";

/// What a crawler reaches the world through.
#[derive(Clone)]
pub struct CrawlPorts {
    /// Where crawls are kept.
    pub store: Arc<dyn CrawlStore>,
    /// The network.
    pub fetch: Arc<dyn Fetch>,
    /// The readers.
    pub read: Arc<dyn ReadPage>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
}

/// How a crawl ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrawlEnd {
    /// Its pages are recorded, and the store's `finish_crawl` may put them in place.
    Finished {
        /// The start page's title, or its address; none where it was visited before an interruption:
        /// the store then knows it.
        title: Option<String>,
    },
    /// The source cannot be crawled, for a reason that its owner is told.
    Failed(String),
    /// The lease was lost: the source is gone, or another worker has the job.
    Lost,
}

/// Crawls websites. Share one: its crawls together keep to what a host bears.
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

    /// Crawls a source of `account`: its start page, and with `crawl_subpages` the pages of its site that can be
    /// reached from there. Goes on where an interrupted crawl of the same job stopped.
    ///
    /// Pages are recorded as they are done; ending the crawl is left to the caller. Dropping the future
    /// ends the crawl at once, and what was not recorded yet is fetched again by the next.
    ///
    /// Fails as the store does.
    pub async fn crawl(
        &self,
        account: Id<kind::Account>,
        lease: &Lease,
        start: &Url,
        crawl_subpages: bool,
    ) -> Result<CrawlEnd, Error> {
        match run::run(self, account, lease, start, crawl_subpages).await {
            Ok(title) => Ok(CrawlEnd::Finished { title }),
            Err(Stop::Failed(message)) => Ok(CrawlEnd::Failed(message)),
            Err(Stop::Lost) => Ok(CrawlEnd::Lost),
            Err(Stop::Store(error)) => Err(error),
        }
    }
}

/// Why a crawl does not go on.
enum Stop {
    Failed(String),
    Lost,
    Store(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
