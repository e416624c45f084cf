//! The consequences of a visit: whether its page is kept, and which pages it links to.

use cicerone_domain::crawl::{FoundPage, PageReason, VisitedPage};
use cicerone_domain::source::CrawledPageStatus;
use url::Url;

use super::{Copy, Original, Run};
use crate::crawl::refusal::refusal;
use crate::crawl::visit::{Lead, Visit, skipped};

impl Run<'_> {
    /// Records a finished visit and its consequences.
    pub(super) fn record_visit(&mut self, visit: Visit) {
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
            Some(Lead::Canonical(name)) if self.may_be_copy_of(&page.url, &name, depth) => {
                page = skipped(page, PageReason::CanonicalCopy { of: name.into() });
            }
            Some(Lead::Canonical(_)) | None => {}
        }
        let mut page = self.unless_double(page);
        let original = self.original_of(&page);
        page.links = self.follow(page.links, depth.saturating_add(1));
        tracing::debug!(
            url = page.url,
            status = page.status.name(),
            http_status = page.http_status,
            "visited a page"
        );
        match original {
            Some(original) => self.copies.push(Copy { page, depth, original }),
            None => self.journal.visited(page),
        }
    }

    /// The page in favour of which a page was omitted, if it is decided at the end whether that one has text: it may be
    /// visited later, and may have changed.
    fn original_of(&self, page: &VisitedPage) -> Option<Original> {
        if page.status != CrawledPageStatus::Skipped {
            return None;
        }
        match page.reason.as_ref()? {
            PageReason::CanonicalCopy { of } => Some(Original::Page(of.clone())),
            PageReason::SameContent { .. } if page.http_status == Some(304) => {
                Some(Original::Content(page.content_hash.unwrap_or_default()))
            }
            _ => None,
        }
    }

    /// Settles the copies whose original has text. Returns those that must be read after all because their original has
    /// none; if originals wait for each other, the first of them.
    pub(super) fn parted_copies(&mut self) -> Vec<FoundPage> {
        let mut parted = Vec::new();
        let mut waiting = Vec::new();
        for copy in std::mem::take(&mut self.copies) {
            match &copy.original {
                Original::Content(hash) => match self.journal.same_content(hash) {
                    Some(first) => {
                        let reason = Some(PageReason::SameContent { of: first.to_owned() });
                        self.journal.visited(VisitedPage { reason, ..copy.page });
                    }
                    None => parted.push(copy.found()),
                },
                Original::Page(name) => match self.journal.has_text(name) {
                    Some(true) => self.journal.visited(copy.page),
                    Some(false) => parted.push(copy.found()),
                    None => waiting.push(copy),
                },
            }
        }
        if parted.is_empty() && !waiting.is_empty() {
            parted.push(waiting.remove(0).found());
        }
        self.copies = waiting;
        self.parted.extend(parted.iter().map(|page| page.url.clone()));
        parted
    }

    /// Adds the pages that a page links to, and returns the links that are kept.
    fn follow(&mut self, links: Vec<String>, depth: u32) -> Vec<String> {
        let bytes = links.iter().map(|link| link.len() + size_of::<String>()).sum();
        let are_kept = self.link_bytes.checked_sub(bytes).map(|left| self.link_bytes = left);
        let mut found = |link: &String| Url::parse(link).is_ok_and(|name| self.find(&name, depth));
        links.into_iter().filter(|link| found(link) || are_kept.is_some()).collect()
    }

    /// Adds a page by its name. Returns false if it is not new or there is no room.
    pub(super) fn find(&mut self, name: &Url, depth: u32) -> bool {
        let found = self.frontier.offer(name, depth);
        let is_new = found.is_some();
        found.into_iter().for_each(|found| self.journal.found(found));
        is_new
    }

    /// Whether a page may be omitted in favour of its canonical address: only if that page has text or may still turn
    /// out to have some, so that pages that point at each other or at a missing page are not lost.
    fn may_be_copy_of(&mut self, own: &str, name: &Url, depth: u32) -> bool {
        match self.journal.has_text(name.as_str()) {
            Some(has_text) => has_text,
            None if refusal(name).is_some() || !self.visitor.robots.allows(name) => false,
            // It was omitted once for a page that turned out to have no text.
            None if self.parted.contains(own) => false,
            None => {
                self.find(name, depth);
                self.frontier.has_seen(name.as_str())
            }
        }
    }

    /// The page, without its text if another page with the same content has been visited.
    fn unless_double(&self, page: VisitedPage) -> VisitedPage {
        let has_text = match page.status {
            CrawledPageStatus::Indexed | CrawledPageStatus::Unchanged => true,
            CrawledPageStatus::Skipped | CrawledPageStatus::Failed => false,
        };
        let hash = page.content_hash.filter(|_| has_text);
        match hash.and_then(|hash| self.journal.same_content(&hash)) {
            Some(first) => {
                let reason = PageReason::SameContent { of: first.to_owned() };
                skipped(page, reason)
            }
            None => page,
        }
    }
}
