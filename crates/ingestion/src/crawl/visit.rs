//! Visits one page: requests it, compares it with the last crawl, and reads it.

mod content;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use cicerone_domain::content::cut_title;
use cicerone_domain::crawl::{
    FoundPage, KnownPage, PageContent, PageReason, Validators, VisitedPage,
};
use cicerone_domain::source::CrawledPageStatus;
use cicerone_domain::text::is_blank;
use cicerone_domain::{Timestamp, UploadType};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;
use url::Url;

use super::directives::RobotsTag;
use super::fetch::{Excess, FetchError, FetchRequest, Fetched};
use super::requests::{Requests, is_transient_status, redirect_target};
use super::robots::Robots;
use super::site::Site;
use crate::extract::{PageReading, Prepared, Unreadable};
use crate::read::ReadPage;
use content::{Kind, may_be_readable};

/// The `Accept` header of requests for pages.
const ACCEPT: &str = "text/html,application/xhtml+xml;q=0.9,application/pdf;q=0.8,text/markdown;q=0.7,\
                      text/plain;q=0.7,*/*;q=0.1";
/// Redirects of a page to another spelling of its own address that are followed.
const SPELLINGS: usize = 5;

/// The state that all visits share.
pub(super) struct Visitor {
    pub(super) site: Site,
    /// What the site allows to be requested.
    pub(super) robots: Robots,
    pub(super) requests: Requests,
    pub(super) reader: Arc<dyn ReadPage>,
    pub(super) known: Arc<HashMap<String, KnownPage>>,
    /// Whether linked pages belong to the crawl.
    pub(super) follows_links: bool,
}

/// A finished visit.
pub(super) struct Visit {
    pub(super) page: VisitedPage,
    pub(super) depth: u32,
    /// The address that the page names as its own.
    pub(super) lead: Option<Lead>,
    /// Whether it failed as if the site were down.
    pub(super) is_outage: bool,
}

/// Another address that a page names as its own.
pub(super) enum Lead {
    /// The page redirects to the address.
    Redirect(Url),
    /// The page declares itself a copy of the page at the address.
    Canonical(Url),
}

/// A response's body and its kind.
struct Body {
    bytes: Bytes,
    hash: [u8; 32],
    kind: Option<Kind>,
}

/// The kind of visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visiting {
    /// As the start page.
    Start,
    /// Compared with the last crawl.
    Again,
    /// As if it were new.
    Afresh,
}

impl Visitor {
    /// Visits a page. A redirect to another spelling of its own address is followed; for the start page only if scheme
    /// and host stay the same, since its final address decides how all pages are spelled.
    pub(super) async fn visit(&self, found: FoundPage, how: Visiting) -> Visit {
        let known = self.known.get(&found.url).filter(|_| how != Visiting::Afresh);
        let Ok(name) = Url::parse(&found.url) else {
            let page = failed(blank(&found), known, Some(PageReason::NoUrl));
            return visit(page, found.depth);
        };
        let mut url = name.clone();
        for _ in 0..SPELLINGS {
            let answer = match self.requests.send(self.request(&url, known)).await {
                Ok(answer) => answer,
                Err(error) => return self.unanswered(&found, known, &error),
            };
            match redirect_target(&url, &answer) {
                Some(target) if self.is_spelling_of(&name, &target, how) => {
                    if !self.robots.allows(&target) {
                        let page = self.fetched(&found);
                        return visit(skipped(page, PageReason::Disallowed), found.depth);
                    }
                    url = target;
                }
                Some(target) => return self.redirected(&found, answer.status, target),
                None => return self.answered(&found, &url, answer, known).await,
            }
        }
        let page = failed(self.fetched(&found), known, Some(PageReason::RedirectsToItself));
        visit(page, found.depth)
    }

    /// Whether a redirect's target is the page itself at another address.
    fn is_spelling_of(&self, name: &Url, target: &Url, how: Visiting) -> bool {
        let is_same_site = || Site::of(target).as_ref() == Some(&self.site);
        self.site.name(target).as_ref() == Some(name) && (how != Visiting::Start || is_same_site())
    }

    fn request(&self, url: &Url, known: Option<&KnownPage>) -> FetchRequest {
        let lasting = known.filter(|known| lasts(known));
        FetchRequest {
            url: url.clone(),
            accept: ACCEPT,
            validators: lasting.map(|known| known.validators.clone()).unwrap_or_default(),
            wanted: may_be_readable,
            limit: self.requests.settings.page_bytes,
            excess: Excess::Fail,
            places: Arc::clone(&self.requests.places),
        }
    }

    fn now(&self) -> Timestamp {
        self.requests.clock.now()
    }

    /// A page that was requested, with nothing known about it yet.
    fn fetched(&self, found: &FoundPage) -> VisitedPage {
        VisitedPage { fetched_at: Some(self.now()), ..blank(found) }
    }

    fn unanswered(
        &self,
        found: &FoundPage,
        known: Option<&KnownPage>,
        error: &FetchError,
    ) -> Visit {
        let reason = PageReason::NotFetched { message: error.to_string() };
        let page = failed(self.fetched(found), known, Some(reason));
        Visit { is_outage: error.is_outage, ..visit(page, found.depth) }
    }

    /// The page redirects to another one, which is visited under its own name if it is within the
    /// site.
    fn redirected(&self, found: &FoundPage, status: u16, target: Url) -> Visit {
        let mut page = self.fetched(found);
        page.http_status = Some(status);
        let name = self.site.name(&target);
        let to = |url: &Url| cut_title(url.as_str()).into_owned();
        let reason = match &name {
            Some(name) => PageReason::Redirects { to: to(name) },
            None => PageReason::RedirectsElsewhere { to: to(&target) },
        };
        let page = skipped(page, reason);
        let lead = Some(Lead::Redirect(target));
        Visit { lead, ..visit(page, found.depth) }
    }

    async fn answered(
        &self,
        found: &FoundPage,
        url: &Url,
        answer: Fetched,
        known: Option<&KnownPage>,
    ) -> Visit {
        let mut page = self.fetched(found);
        page.http_status = Some(answer.status);
        page.validators = answer.validators.clone();
        let lasting = known.filter(|known| lasts(known));
        match (answer.status, lasting) {
            (200..=299, _) => self.succeeded(found, url, page, answer, known).await,
            (304, Some(known)) => visit(unchanged(page, known, tag_of(&answer)), found.depth),
            (status @ (404 | 410), _) => {
                visit(failed(page, None, Some(PageReason::Gone { status })), found.depth)
            }
            (status, _) => {
                let page = failed(page, known, Some(PageReason::Refused { status }));
                Visit { is_outage: is_transient_status(status), ..visit(page, found.depth) }
            }
        }
    }

    async fn succeeded(
        &self,
        found: &FoundPage,
        url: &Url,
        mut page: VisitedPage,
        answer: Fetched,
        known: Option<&KnownPage>,
    ) -> Visit {
        let (tag, content_type) = (tag_of(&answer), answer.content_type);
        // Held until the page is read.
        let _place = answer.place;
        let Some(bytes) = answer.body else {
            return visit(skipped(page, unreadable_type(content_type.as_deref())), found.depth);
        };
        let Some(body) = examined(bytes, content_type.clone()).await else {
            let page = failed(page, known, Some(PageReason::NotRead));
            return visit(page, found.depth);
        };
        page.content_hash = Some(body.hash);
        // A copy is read again, since its bytes are here: the other page may have changed.
        let is_copy = |known: &KnownPage| known.reason.as_ref().is_some_and(PageReason::is_copy);
        let same = |known: &&KnownPage| {
            lasts(known) && !is_copy(known) && known.content_hash == Some(body.hash)
        };
        if let Some(known) = known.filter(same) {
            return visit(unchanged(page, known, tag), found.depth);
        }
        let Some(kind) = body.kind else {
            return visit(skipped(page, unreadable_type(content_type.as_deref())), found.depth);
        };
        match self.read(url, kind, body.bytes).await {
            Ok(mut reading) => {
                let elsewhere = |target: &Url| {
                    self.site.name(target).is_none_or(|name| name.as_str() != page.url)
                };
                let refresh = reading.refresh.as_deref().and_then(|url| Url::parse(url).ok());
                if let Some(target) = refresh.filter(elsewhere) {
                    return self.redirected(found, answer.status, target);
                }
                let canonical = self.canonical(&reading, &page.url);
                let (links, of_page) = (std::mem::take(&mut reading.links), canonical.clone());
                if self.follows_links && !reading.is_nofollow && !tag.is_nofollow {
                    let site = self.site.clone();
                    let named = move || names(&site, of_page, &links);
                    let Ok(links) = spawn_blocking(named).await else {
                        let page = failed(page, known, Some(PageReason::NotRead));
                        return visit(page, found.depth);
                    };
                    page.links = links;
                }
                self.understood(found, page, reading, canonical, tag, known)
            }
            Err(Unreadable(message)) => {
                let reason = PageReason::Unreadable { message };
                visit(failed(page, known, Some(reason)), found.depth)
            }
        }
    }

    /// Reads a body; a text or a PDF is a page without links.
    async fn read(
        &self,
        url: &Url,
        kind: Kind,
        bytes: Bytes,
    ) -> Result<PageReading<Prepared>, Unreadable> {
        let (file, charset) = match kind {
            Kind::Html { charset } => {
                return self.reader.page(url, bytes, charset.as_deref()).await;
            }
            Kind::Pdf => (UploadType::Pdf, None),
            Kind::Text { charset } => (UploadType::Text, charset),
        };
        let reading = self.reader.file(file, bytes, charset.as_deref()).await?;
        Ok(PageReading { reading, ..PageReading::default() })
    }

    /// Obeys the directives of a page, and takes its text.
    fn understood(
        &self,
        found: &FoundPage,
        mut page: VisitedPage,
        read: PageReading<Prepared>,
        canonical: Option<Url>,
        tag: RobotsTag,
        known: Option<&KnownPage>,
    ) -> Visit {
        page.title.clone_from(&read.reading.title);
        if tag.is_noindex {
            return visit(skipped(page, PageReason::NoindexHeader), found.depth);
        }
        if read.is_noindex {
            return visit(skipped(page, PageReason::Noindex), found.depth);
        }
        if read.needs_javascript {
            let links = std::mem::take(&mut page.links);
            let mut page = failed(page, known, Some(PageReason::NeedsJavascript));
            page.links.extend(links);
            return visit(page, found.depth);
        }
        if is_blank(&read.reading.text) {
            return visit(skipped(page, PageReason::Empty), found.depth);
        }
        let title = page.title.clone().unwrap_or_else(|| page.url.clone());
        let cut = read.reading.into_document(Some(&title), Some(&page.url));
        page.status = CrawledPageStatus::Indexed;
        page.character_count = Some(cut.document.character_count());
        page.content = PageContent::New(cut);
        Visit { lead: canonical.map(Lead::Canonical), ..visit(page, found.depth) }
    }

    /// The name of the canonical page, if it is another page of the site.
    fn canonical(&self, read: &PageReading<Prepared>, own: &str) -> Option<Url> {
        if !self.follows_links {
            return None;
        }
        let canonical = Url::parse(read.canonical.as_deref()?).ok()?;
        self.site.name(&canonical).filter(|name| name.as_str() != own)
    }
}

/// The names of the pages of the site that a page links to, its canonical page first, in order and without repeats.
fn names(site: &Site, canonical: Option<Url>, links: &[String]) -> Vec<String> {
    let linked = links.iter().filter_map(|link| site.name(&Url::parse(link).ok()?));
    let mut seen = HashSet::new();
    let all = canonical.into_iter().chain(linked).map(String::from);
    all.filter(|name| seen.insert(name.clone())).collect()
}

/// Hashes a body and determines its kind, on a thread for blocking work.
async fn examined(bytes: Bytes, content_type: Option<String>) -> Option<Body> {
    let examine = move || {
        let hash = Sha256::digest(&bytes).into();
        let kind = content::kind(content_type.as_deref(), &bytes);
        Body { bytes, hash, kind }
    };
    spawn_blocking(examine).await.ok()
}

/// Whether the known facts about a page stay valid as long as its bytes are the same.
fn lasts(known: &KnownPage) -> bool {
    known.document.is_some()
        || known.status == CrawledPageStatus::Skipped
            && known.reason.as_ref().is_some_and(PageReason::lasts)
}

fn tag_of(answer: &Fetched) -> RobotsTag {
    RobotsTag::of(answer.robots_tags.iter().map(String::as_str))
}

fn unreadable_type(content_type: Option<&str>) -> PageReason {
    let essence = content_type.map(content::essence).filter(|essence| !essence.is_empty());
    // A server may send hundreds of kilobytes.
    PageReason::OtherType { essence: essence.map(|essence| cut_title(&essence).into_owned()) }
}

fn visit(page: VisitedPage, depth: u32) -> Visit {
    Visit { page, depth, lead: None, is_outage: false }
}

/// A page with nothing known about it.
fn blank(found: &FoundPage) -> VisitedPage {
    VisitedPage {
        url: found.url.clone(),
        status: CrawledPageStatus::Skipped,
        title: None,
        character_count: None,
        http_status: None,
        reason: None,
        fetched_at: None,
        validators: Validators::default(),
        content_hash: None,
        links: Vec::new(),
        content: PageContent::None,
    }
}

/// A page that is skipped without a request.
pub(super) fn left_out(found: &FoundPage, reason: PageReason) -> VisitedPage {
    skipped(blank(found), reason)
}

/// A page that was not visited and keeps the text that it had.
pub(super) fn not_got_to(
    found: &FoundPage,
    known: &KnownPage,
    reason: Option<PageReason>,
) -> VisitedPage {
    failed(blank(found), Some(known), reason)
}

/// The page without text, for a reason.
pub(super) fn skipped(page: VisitedPage, reason: PageReason) -> VisitedPage {
    VisitedPage { reason: Some(reason), ..without_text(page) }
}

fn without_text(page: VisitedPage) -> VisitedPage {
    VisitedPage {
        status: CrawledPageStatus::Skipped,
        character_count: None,
        content: PageContent::None,
        ..page
    }
}

/// The page as the last crawl recorded it, because it cannot be fetched or read now: its text,
/// links and version.
fn failed(page: VisitedPage, known: Option<&KnownPage>, reason: Option<PageReason>) -> VisitedPage {
    let page = VisitedPage { status: CrawledPageStatus::Failed, reason, ..page };
    let Some(known) = known else { return page };
    let kept = known.document.map_or(PageContent::None, PageContent::Kept);
    VisitedPage {
        title: known.title.clone(),
        character_count: known.character_count,
        validators: known.validators.clone(),
        content_hash: known.content_hash,
        links: known.links.clone(),
        content: kept,
        ..page
    }
}

/// The page as the last crawl recorded it, because its bytes are the same.
fn unchanged(page: VisitedPage, known: &KnownPage, tag: RobotsTag) -> VisitedPage {
    let links = if tag.is_nofollow { Vec::new() } else { known.links.clone() };
    let said = page.validators != Validators::default();
    let page = VisitedPage {
        title: known.title.clone(),
        validators: if said { page.validators } else { known.validators.clone() },
        content_hash: known.content_hash,
        links,
        ..page
    };
    if tag.is_noindex {
        return skipped(page, PageReason::NoindexHeader);
    }
    let Some(document) = known.document else {
        return VisitedPage { reason: known.reason.clone(), ..without_text(page) };
    };
    VisitedPage {
        status: CrawledPageStatus::Unchanged,
        character_count: known.character_count,
        content: PageContent::Kept(document),
        ..page
    }
}
