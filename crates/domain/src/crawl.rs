//! Crawls: the known pages that a refresh compares with, and the progress of a running crawl.

mod preview;
mod reason;

use crate::content::CutDocument;
use crate::source::CrawledPageStatus;
use crate::timestamp::Timestamp;

pub use preview::{PreviewPage, SitePreview};
pub use reason::{FileKind, PageReason};

/// The validators of a page's version, which are sent back with the next request for it
/// (RFC 9110, section 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` header as received.
    pub etag: Option<String>,
    /// The `Last-Modified` header as received.
    pub last_modified: Option<String>,
}

/// A page as the last successful crawl recorded it, for a refresh to compare with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPage {
    /// Its address, as normalised by the crawl.
    pub url: String,
    /// The validators of its version.
    pub validators: Validators,
    /// SHA-256 of the bytes that were fetched; `None` if there were none.
    pub content_hash: Option<[u8; 32]>,
    /// The addresses that it links to and that belong to the crawl, so that an unchanged page need not be read again.
    pub links: Vec<String>,
    /// The title of the page, if it has one.
    pub title: Option<String>,
    /// Characters extracted.
    pub character_count: Option<u64>,
    /// The number of its document within the source; `None` if it has no text.
    pub document: Option<i64>,
    /// The outcome of the visit.
    pub status: CrawledPageStatus,
    /// Why it was skipped or failed.
    pub reason: Option<PageReason>,
}

/// A page that was found and waits to be visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    /// Its address, as normalised by the crawl.
    pub url: String,
    /// Links between it and the start page; a page of a sitemap counts as linked from the start.
    pub depth: u32,
}

/// The text that a visited page will have in the source once the crawl succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageContent {
    /// No text: it was skipped, is gone, or failed and had none before.
    None,
    /// The text that the last crawl extracted: the document with this number.
    Kept(i64),
    /// Newly extracted text. The store appends the document and its passages to those of the
    /// source.
    New(CutDocument),
}

/// A visited page with the outcome of the visit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitedPage {
    /// Its address, as normalised by the crawl.
    pub url: String,
    /// The outcome of the visit.
    pub status: CrawledPageStatus,
    /// The title of the page, if it has one.
    pub title: Option<String>,
    /// Characters extracted.
    pub character_count: Option<u64>,
    /// The HTTP status of the response.
    pub http_status: Option<u16>,
    /// Why it was skipped or failed.
    pub reason: Option<PageReason>,
    /// When it was fetched; `None` if it was not.
    pub fetched_at: Option<Timestamp>,
    /// The validators of its version.
    pub validators: Validators,
    /// SHA-256 of the bytes that were fetched.
    pub content_hash: Option<[u8; 32]>,
    /// The addresses that it links to and that belong to the crawl.
    pub links: Vec<String>,
    /// The text that it will have in the source.
    pub content: PageContent,
}

/// A page that a crawl visited before it was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenPage {
    /// Its address, as normalised by the crawl.
    pub url: String,
    /// The outcome of the visit.
    pub status: CrawledPageStatus,
    /// SHA-256 of the bytes that were fetched; `None` if there were none.
    pub content_hash: Option<[u8; 32]>,
    /// Whether it redirects to another page.
    pub is_redirect: bool,
}

/// What an interrupted crawl has recorded; empty for a crawl that begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrawlSoFar {
    /// Pages that wait to be visited, in the order in which they were found.
    pub waiting: Vec<FoundPage>,
    /// Pages that were visited, in the order in which they were found.
    pub visited: Vec<SeenPage>,
    /// How often the program crashed since a page was last visited for the first time.
    pub crashes: u32,
}
