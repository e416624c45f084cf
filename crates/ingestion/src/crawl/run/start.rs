//! The start page: its final address, and the pages that it and the sitemaps lead to.

use std::sync::Arc;

use cicerone_domain::content::cut_title;
use cicerone_domain::crawl::{FoundPage, PageReason};
use cicerone_domain::source::CrawledPageStatus;
use url::Url;

use super::{FOUND_A_PAGE, Run, enter};
use crate::crawl::entrance::listed_pages;
use crate::crawl::site::Site;
use crate::crawl::visit::{Lead, Visit, Visiting, Visitor};
use crate::crawl::{Stop, not_allowed};

/// The most redirects from the start page.
const HOPS: usize = 10;

impl Run<'_> {
    /// Visits the start page, following redirects within its host, and reads the sitemaps. All pages are then named
    /// with the scheme and host that responded.
    ///
    /// Fails if the start page cannot be read, or if it redirects to another host: its owner must decide which site is
    /// meant.
    pub(super) async fn open(&mut self) -> Result<(), Stop> {
        let mut address = self.start.clone();
        for hop in 0..=HOPS {
            let Some(found) = self.found_start(&address) else { break };
            if hop == 0 {
                self.journal.record(self.frontier.found()).await?;
            }
            self.check_allowed(&found)?;
            let visit = self.visitor.visit(found, Visiting::Start).await;
            let Some(Lead::Redirect(target)) = visit.lead else {
                return self.opened(visit).await;
            };
            self.journal.visited(visit.page);
            if !self.visitor.site.contains(&target) {
                return Err(Stop::Failed(format!(
                    "`{}` redirects to another host, `{}`; add that address instead",
                    self.start,
                    cut_title(target.as_str())
                )));
            }
            self.move_to(&target).await?;
            address = target;
        }
        let start = &self.start;
        Err(Stop::Failed(format!("`{start}` redirects without end; check it in a browser")))
    }

    /// The start page under the name of an address, if it was not found under that name before.
    fn found_start(&mut self, address: &Url) -> Option<FoundPage> {
        let name = self.visitor.site.name(address)?;
        self.journal.found(self.frontier.offer(&name, 0)?);
        self.frontier.next()
    }

    fn check_allowed(&self, start: &FoundPage) -> Result<(), Stop> {
        if Url::parse(&start.url).is_ok_and(|url| self.visitor.robots.allows(&url)) {
            return Ok(());
        }
        Err(Stop::Failed(not_allowed(&start.url)))
    }

    /// From now on, pages are named with the scheme and host of this address.
    async fn move_to(&mut self, address: &Url) -> Result<(), Stop> {
        let visitor = &self.visitor;
        if let Some(site) = Site::of(address).filter(|site| *site != visitor.site) {
            let known = Arc::clone(&visitor.known);
            let party = visitor.requests.party;
            self.visitor = enter(self.crawler, party, site, known, visitor.follows_links).await?;
        }
        Ok(())
    }

    /// Adds the start page and what the sitemaps list.
    async fn opened(&mut self, visit: Visit) -> Result<(), Stop> {
        let page = &visit.page;
        let (url, status, reason) = (page.url.clone(), page.status, page.reason.clone());
        self.title = Some(page.title.clone().unwrap_or_else(|| cut_title(&url).into_owned()));
        self.record_visit(visit);
        if status == CrawledPageStatus::Failed {
            self.journal.record(self.frontier.found()).await?;
            return Err(Stop::Failed(failure(&url, reason.as_ref())));
        }
        self.start_reason = reason;
        if self.visitor.follows_links {
            let most = self.crawler.settings.pages.saturating_mul(FOUND_A_PAGE);
            let Visitor { site, requests, robots, .. } = &*self.visitor;
            let listed = listed_pages(site, requests, robots, most).await;
            for name in &listed.pages {
                self.find(name, 1);
            }
            self.is_listed = listed.is_whole;
        }
        self.journal.record(self.frontier.found()).await
    }
}

/// The reason for which a crawl fails if its start page failed.
fn failure(url: &str, reason: Option<&PageReason>) -> String {
    match reason {
        Some(reason @ PageReason::NeedsJavascript) => format!(
            "`{url}` shows its text only by running JavaScript (`{reason}`), which the crawler does not do; add \
             an address that answers with the text itself, or add it as a `text` source"
        ),
        Some(reason) => format!("the start page `{url}` could not be read: {reason}"),
        None => format!("the start page `{url}` could not be read"),
    }
}
