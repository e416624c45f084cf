//! One crawl from its start page to its end.

mod start;
mod visited;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cicerone_domain::crawl::{
    CrawlSoFar, FoundPage, KnownPage, PageReason, Validators, VisitedPage,
};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::task::yield_now;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout_at};
use url::Url;

use super::entrance::robots;
use super::fetch::{Excess, FetchRequest};
use super::frontier::Frontier;
use super::journal::Journal;
use super::refusal::refusal;
use super::requests::is_transient_status;
use super::site::Site;
use super::visit::{Visiting, Visitor, left_out, not_got_to};
use super::{CrawlJournal, Crawler, Party, Stop};

/// The maximum number of found pages for each page that may be visited.
const FOUND_A_PAGE: usize = 4;
/// After this many consecutive pages that fail as if the site were down, the start page is requested to find out.
const OUTAGES: u32 = 10;

/// After a crash of the program, this many pages are visited one by one, each recorded before the next: more than can
/// have been in progress or not yet recorded. So a page that crashes the program is identified by the crashes without
/// progress that follow.
const PAGES_ALONE: usize = 128;
/// The most links of pages that are kept for a refresh, in bytes (8 MiB, including their overhead). Beyond that, a page
/// keeps only the links that led to new pages.
const LINK_BYTES: usize = 8 * 1_024 * 1_024;

/// Why a crawl visits no further pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// It has visited all pages.
    None,
    Pages,
    Time,
    Outage,
}

/// A crawl in progress.
struct Run<'a> {
    crawler: &'a Crawler,
    visitor: Arc<Visitor>,
    frontier: Frontier,
    journal: Journal<'a>,
    /// Pages that are being visited.
    in_flight: HashSet<String>,
    /// The number of consecutive pages that failed as if the site were down.
    outages: u32,
    /// The start page, requested again to see whether the site is up.
    start: Url,
    title: Option<String>,
    /// Why the start page has no text, if so.
    start_reason: Option<PageReason>,
    /// Pages that are omitted in favour of another one, if that turns out to have text.
    copies: Vec<Copy>,
    /// Copies that were read because their original has no text.
    parted: HashSet<String>,
    /// Whether all sitemaps could be read.
    is_listed: bool,
    /// How many more pages are visited one by one.
    alone: usize,
    /// How many more bytes of links are kept.
    link_bytes: usize,
}

/// A page that is omitted in favour of another one.
struct Copy {
    page: VisitedPage,
    depth: u32,
    original: Original,
}

/// The page in favour of which a copy is omitted.
enum Original {
    /// The page with this content.
    Content([u8; 32]),
    /// The page with this name.
    Page(String),
}

impl Copy {
    fn found(&self) -> FoundPage {
        FoundPage { url: self.page.url.clone(), depth: self.depth }
    }
}

/// Crawls a site and returns its title.
pub(super) async fn run(
    crawler: &Crawler,
    party: Party,
    start: &Url,
    crawl_subpages: bool,
    journal: &dyn CrawlJournal,
) -> Result<Option<String>, Stop> {
    let deadline = Instant::now() + crawler.settings.time;
    let so_far = journal.begin().await?;
    let known = journal.known_pages().await?;
    let known: HashMap<_, _> = known.into_iter().map(|page| (page.url.clone(), page)).collect();

    let site = site_of(start, &so_far)?;
    let too_slow = || {
        let seconds = crawler.settings.time.as_secs();
        Stop::Failed(format!(
            "the robots.txt, the sitemaps and the start page of `{start}` were not read within {seconds} s; the website \
             answers slowly, or asks for long pauses"
        ))
    };
    let entering = enter(crawler, party, site, Arc::new(known), crawl_subpages);
    let visitor = timeout_at(deadline, entering).await.map_err(|_| too_slow())??;
    let mut run = Run {
        crawler,
        visitor,
        frontier: Frontier::new(crawler.settings.pages.saturating_mul(FOUND_A_PAGE)),
        journal: Journal::new(journal, &so_far),
        in_flight: HashSet::new(),
        outages: 0,
        start: start.clone(),
        title: None,
        start_reason: None,
        copies: Vec::new(),
        parted: HashSet::new(),
        is_listed: !crawl_subpages,
        alone: if so_far.crashes > 0 { PAGES_ALONE } else { 0 },
        link_bytes: LINK_BYTES,
    };
    // The start page is recorded together with the pages that it and the sitemaps list.
    if so_far.visited.is_empty() {
        timeout_at(deadline, run.open()).await.map_err(|_| too_slow())??;
    } else {
        run.resume(so_far);
    }
    let limit = run.visit_all(deadline).await?;
    run.end(limit).await?;
    Ok(run.title)
}

/// The site of a start page, with the spelling that the crawl so far uses.
fn site_of(start: &Url, so_far: &CrawlSoFar) -> Result<Site, Stop> {
    let waiting = so_far.waiting.first().map(|page| page.url.as_str());
    let visited = so_far.visited.last().map(|page| page.url.as_str());
    let spelled = waiting.or(visited).and_then(|name| Url::parse(name).ok());
    let site = spelled.as_ref().and_then(Site::of).or_else(|| Site::of(start));
    site.ok_or_else(|| Stop::Failed(format!("`{start}` is not the address of a website")))
}

/// Reads a site's `robots.txt`, and creates the visitor that obeys it.
async fn enter(
    crawler: &Crawler,
    party: Party,
    site: Site,
    known: Arc<HashMap<String, KnownPage>>,
    follows_links: bool,
) -> Result<Arc<Visitor>, Stop> {
    let mut requests = crawler.requests(party, &site, crawler.settings);
    let robots = robots(&site, &requests).await.map_err(Stop::Failed)?;
    requests.obey(&robots);
    let reader = match party {
        Some(account) => crawler.ports.read.for_account(account),
        None => Arc::clone(&crawler.ports.read),
    };
    Ok(Arc::new(Visitor { site, robots, requests, reader, known, follows_links }))
}

impl Run<'_> {
    /// Continues an interrupted crawl.
    fn resume(&mut self, so_far: CrawlSoFar) {
        for page in &so_far.visited {
            self.frontier.note(&page.url);
        }
        for page in so_far.waiting {
            self.frontier.restore(page);
        }
    }

    /// Visits the waiting pages and those that are found on the way, several at a time, until none
    /// is left or a limit is reached.
    async fn visit_all(&mut self, deadline: Instant) -> Result<Limit, Stop> {
        let settings = self.crawler.settings;
        let visitor = Arc::clone(&self.visitor);
        let mut flights = FuturesUnordered::new();
        let mut tick = interval(settings.record_every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            while flights.len() < self.parallel()
                && let Some(found) = self.next_page().await
            {
                flights.push(visitor.visit(found, Visiting::Again));
            }
            if flights.is_empty() && self.outages > 0 {
                if !self.is_alive().await {
                    return Ok(Limit::Outage);
                }
                // A part of the site may be broken while the rest works.
                self.outages = 0;
                continue;
            }
            if flights.is_empty() {
                // It is known which of these are copies only after all others have been visited.
                for page in self.parted_copies() {
                    self.in_flight.insert(page.url.clone());
                    flights.push(visitor.visit(page, Visiting::Afresh));
                }
            }
            if flights.is_empty() {
                if self.find_unlisted() {
                    continue;
                }
                return Ok(self.limit());
            }
            tokio::select! {
                biased;
                () = sleep_until(deadline) => return Ok(Limit::Time),
                Some(visit) = flights.next() => {
                    self.record_visit(visit);
                    if self.alone > 0 {
                        self.alone -= 1;
                        self.journal.record(self.frontier.found()).await?;
                    }
                }
                _ = tick.tick() => {}
            }
            self.journal.record_if_due(settings.record_every, self.frontier.found()).await?;
        }
    }

    /// How many pages are visited at a time.
    fn parallel(&self) -> usize {
        if self.alone > 0 { 1 } else { self.crawler.settings.parallel.max(1) }
    }

    /// If not all sitemaps could be read, adds the pages of the last crawl that have text and that this one did not
    /// find: they may be listed there. Returns whether there are any.
    fn find_unlisted(&mut self) -> bool {
        if std::mem::replace(&mut self.is_listed, true) || self.limit() != Limit::None {
            return false;
        }
        let pages = self.never_found();
        let are_some = !pages.is_empty();
        pages.into_iter().for_each(|page| self.journal.found(page));
        are_some
    }

    /// Whether the site still responds, after pages without a response.
    async fn is_alive(&self) -> bool {
        let request = FetchRequest {
            url: self.visitor.site.name(&self.start).unwrap_or_else(|| self.start.clone()),
            accept: "*/*",
            validators: Validators::default(),
            wanted: |_| false,
            limit: 0,
            excess: Excess::Cut,
            places: Arc::clone(&self.visitor.requests.places),
        };
        match self.visitor.requests.send(request).await {
            Ok(answer) => !is_transient_status(answer.status),
            Err(error) => !error.is_outage,
        }
    }

    /// The next page to request. Skipped pages before it are recorded.
    async fn next_page(&mut self) -> Option<FoundPage> {
        loop {
            if self.outages >= OUTAGES || self.limit() != Limit::None {
                return None;
            }
            let found = self.frontier.next()?;
            if let Some(reason) = self.objection(&found) {
                self.journal.visited(left_out(&found, reason));
                // Thousands may be skipped in a row, and each is compared with the rules of `robots.txt`.
                yield_now().await;
                continue;
            }
            self.in_flight.insert(found.url.clone());
            return Some(found);
        }
    }

    /// The limit that the crawl has reached, if any.
    fn limit(&self) -> Limit {
        let requested = self.journal.requested() + self.in_flight.len();
        if requested >= self.crawler.settings.pages { Limit::Pages } else { Limit::None }
    }

    /// Why a page is not requested, if so.
    fn objection(&self, found: &FoundPage) -> Option<PageReason> {
        let url = Url::parse(&found.url).ok()?;
        if let Some(reason) = refusal(&url) {
            return Some(reason);
        }
        if !self.visitor.robots.allows(&url) {
            return Some(PageReason::Disallowed);
        }
        let links = self.crawler.settings.depth;
        (found.depth > links).then_some(PageReason::TooFar { links })
    }

    /// Records the rest. Fails if the crawl found nothing readable.
    async fn end(&mut self, limit: Limit) -> Result<(), Stop> {
        if limit == Limit::Outage && !self.visitor.known.is_empty() {
            self.journal.record(self.frontier.found()).await?;
            let message = "the site stopped answering while it was read; refresh it again later";
            return Err(Stop::Failed(message.to_owned()));
        }
        self.leave_copies();
        self.leave_rest(limit);
        self.journal.record(self.frontier.found()).await?;
        if self.journal.readable() > 0 {
            return Ok(());
        }
        let reason = self.start_reason.as_ref().map(PageReason::to_string);
        let reason = reason.as_deref().unwrap_or("no page of it has text");
        Err(Stop::Failed(format!("nothing readable was found at `{}`: {reason}", self.start)))
    }

    /// Settles the remaining copies: those whose original has no text keep the text that they had.
    fn leave_copies(&mut self) {
        let known = Arc::clone(&self.visitor.known);
        for copy in std::mem::take(&mut self.copies) {
            let has_original = match &copy.original {
                Original::Content(hash) => self.journal.same_content(hash).is_some(),
                Original::Page(name) => self.journal.has_text(name) == Some(true),
            };
            let had_text = known.get(&copy.page.url).filter(|known| known.document.is_some());
            let page = match had_text {
                Some(known) if !has_original => {
                    not_got_to(&copy.found(), known, copy.page.reason.clone())
                }
                Some(_) | None => copy.page,
            };
            self.journal.visited(page);
        }
    }

    /// Records the reason for each page that was not visited. If the reason is the site or the
    /// time, and not the number of pages, pages keep the text that they had.
    fn leave_rest(&mut self, limit: Limit) {
        let settings = self.crawler.settings;
        let reason = match limit {
            Limit::None | Limit::Pages => {
                PageReason::PageLimit { pages: u64::try_from(settings.pages).unwrap_or(u64::MAX) }
            }
            Limit::Time => PageReason::TimeLimit { minutes: settings.time.as_secs().div_ceil(60) },
            Limit::Outage => PageReason::SiteDown,
        };
        let in_flight = std::mem::take(&mut self.in_flight).into_iter();
        let mut rest: Vec<FoundPage> = in_flight.map(|url| FoundPage { url, depth: 0 }).collect();
        rest.extend(std::iter::from_fn(|| self.frontier.next()));
        if limit == Limit::Time {
            rest.extend(self.never_found());
        }
        let known = Arc::clone(&self.visitor.known);
        for found in rest {
            let had_text = known.get(&found.url).filter(|known| known.document.is_some());
            let page = match had_text {
                Some(known) if limit != Limit::Pages && self.journal.pages() < settings.pages => {
                    not_got_to(&found, known, Some(reason.clone()))
                }
                Some(_) | None => left_out(&found, reason.clone()),
            };
            self.journal.visited(page);
        }
    }

    /// Pages of the last crawl that have text and that this one did not find.
    fn never_found(&mut self) -> Vec<FoundPage> {
        let known = Arc::clone(&self.visitor.known);
        let has_text = |page: &&KnownPage| page.document.is_some();
        let mut names: Vec<_> = known.values().filter(has_text).map(|page| &page.url).collect();
        names.sort_unstable();
        let urls = names.into_iter().filter_map(|name| Url::parse(name).ok());
        urls.filter_map(|url| self.frontier.offer(&url, 0)).collect()
    }
}
