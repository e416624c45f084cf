//! What a visit leads to: whether its page counts, and which pages it makes known.

use cicerone_domain::crawl::VisitedPage;
use cicerone_domain::source::CrawledPageStatus;
use url::Url;

use super::Run;
use crate::crawl::reasons;
use crate::crawl::refusal::refusal;
use crate::crawl::visit::{Lead, Visit, skipped};

impl Run<'_> {
    /// Takes in a visit that is over.
    pub(super) fn settle(&mut self, visit: Visit) {
        let Visit { mut page, depth, lead, is_outage } = visit;
        self.in_flight.remove(&page.url);
        self.outages = if is_outage { self.outages.saturating_add(1) } else { 0 };
        match lead {
            Some(Lead::Redirect(target)) => {
                if let Some(name) = self.visitor.site.name(&target) {
                    self.find(&name, depth);
                    page.links = vec![name.into()];
                }
            }
            Some(Lead::Canonical(name)) if self.is_copy_of(&name, depth) => {
                page = skipped(page, format!("a copy of `{name}`, its canonical address"));
            }
            Some(Lead::Canonical(_)) | None => {}
        }
        let page = self.unless_double(page);
        for link in &page.links {
            if let Ok(name) = Url::parse(link) {
                self.find(&name, depth.saturating_add(1));
            }
        }
        tracing::debug!(
            url = page.url,
            status = page.status.name(),
            http_status = page.http_status,
            "visited a page"
        );
        if page.http_status == Some(304)
            && page.reason.as_deref().is_some_and(reasons::is_same_content)
        {
            // The page that has its content may come later, and may have changed.
            self.copies.push((page, depth));
        } else {
            self.journal.visited(page);
        }
    }

    /// Takes in a page by its name, if it is new.
    pub(super) fn find(&mut self, name: &Url, depth: u32) {
        if let Some(found) = self.frontier.offer(name, depth) {
            self.journal.found(found);
        }
    }

    /// Whether a page may be left out for the one that it calls its canonical address: only if that has
    /// text or may still turn out to, so that pages that point at each other or at one that is gone
    /// are not lost.
    fn is_copy_of(&mut self, name: &Url, depth: u32) -> bool {
        match self.journal.outcome(name.as_str()) {
            Some(CrawledPageStatus::Indexed | CrawledPageStatus::Unchanged) => true,
            Some(CrawledPageStatus::Skipped | CrawledPageStatus::Failed) => false,
            None if refusal(name).is_some() || !self.robots.allows(name) => false,
            None => {
                self.find(name, depth);
                self.frontier.has_seen(name.as_str())
            }
        }
    }

    /// The page, without its text if another page of the same content has it already.
    fn unless_double(&self, page: VisitedPage) -> VisitedPage {
        let has_text = match page.status {
            CrawledPageStatus::Indexed | CrawledPageStatus::Unchanged => true,
            CrawledPageStatus::Skipped | CrawledPageStatus::Failed => false,
        };
        let hash = page.content_hash.filter(|_| has_text);
        match hash.and_then(|hash| self.journal.same_content(&hash)) {
            Some(first) => {
                let reason = reasons::same_content(first);
                skipped(page, reason)
            }
            None => page,
        }
    }
}
