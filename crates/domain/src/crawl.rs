//! Crawls: the known pages that a refresh compares with, and the progress of a crawl under way.

mod reason;

use crate::content::CutDocument;
use crate::source::CrawledPageStatus;
use crate::timestamp::Timestamp;

pub use reason::{FileKind, PageReason};

/// The validators of a page's version, which are sent back with the next request for it
/// (RFC 9110, section 8.8).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` header as it came.
    pub etag: Option<String>,
    /// The `Last-Modified` header as it came.
    pub last_modified: Option<String>,
}

/// A page as the last successful crawl left it, which a refresh compares with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPage {
    /// Its address, as the crawl names it.
    pub url: String,
    /// The validators of its version.
    pub validators: Validators,
    /// SHA-256 of the bytes that were fetched; `None` if there were none.
    pub content_hash: Option<[u8; 32]>,
    /// The addresses that it links to and that lie within the crawl, so that a page that did not
    /// change need not be read again.
    pub links: Vec<String>,
    /// Its title.
    pub title: Option<String>,
    /// Characters extracted.
    pub character_count: Option<u64>,
    /// The number of its document within the source; `None` if it has no text.
    pub document: Option<i64>,
    /// What became of it.
    pub status: CrawledPageStatus,
    /// Why it was skipped or failed.
    pub reason: Option<PageReason>,
}

/// A page that was found and waits to be visited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    /// Its address, as the crawl names it.
    pub url: String,
    /// Links between it and the start page; a page of a sitemap counts as linked from the start.
    pub depth: u32,
}

/// The text that a visited page has in the source when the crawl ends well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageContent {
    /// No text: it was skipped, is gone, or failed and had none before.
    None,
    /// What the last crawl extracted: the document of that number.
    Kept(i64),
    /// What was extracted now. The store gives the document and its passages their place within the
    /// source, behind all that is there.
    New(CutDocument),
}

/// A page that was visited, with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitedPage {
    /// Its address, as the crawl names it.
    pub url: String,
    /// What became of it.
    pub status: CrawledPageStatus,
    /// Its title.
    pub title: Option<String>,
    /// Characters extracted.
    pub character_count: Option<u64>,
    /// The status that its server answered.
    pub http_status: Option<u16>,
    /// Why it was skipped or failed.
    pub reason: Option<PageReason>,
    /// When it was fetched; `None` if it was not.
    pub fetched_at: Option<Timestamp>,
    /// The validators of its version.
    pub validators: Validators,
    /// SHA-256 of the bytes that were fetched.
    pub content_hash: Option<[u8; 32]>,
    /// The addresses that it links to and that lie within the crawl.
    pub links: Vec<String>,
    /// The text that it has from now on.
    pub content: PageContent,
}

/// What an interrupted crawl has recorded; empty for a crawl that begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrawlSoFar {
    /// Pages that wait to be visited, in the order in which they were found.
    pub waiting: Vec<FoundPage>,
    /// Pages that were visited, in the order in which they were found, with what became of them and
    /// the SHA-256 of their bytes.
    pub visited: Vec<(String, CrawledPageStatus, Option<[u8; 32]>)>,
    /// How often the program crashed since a page was last visited for the first time.
    pub crashes: u32,
}
