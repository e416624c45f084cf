//! From a source's content to passages: reading, chunking and crawling.
//!
//! [`Readers`] read files and pages in processes of their own; [`extract`] is a pure function from
//! what a source holds to its documents and passages; a [`Crawler`] visits websites.
//!
//! Invariant: nothing here knows the database, the index or HTTP.

mod chunk;
mod crawl;
mod extract;
mod sandbox;

pub use chunk::{Chunk, chunks};
pub use crawl::{
    CrawlEnd, CrawlPorts, CrawlSettings, Crawler, EgressFetch, Excess, Fetch, FetchError,
    FetchRequest, Fetched, PRODUCT_TOKEN, ReadPage, Robots, RobotsTag, Site, Sitemap, refusal,
};
pub use extract::docx::read as read_docx;
pub use extract::html::read as read_page;
pub use extract::pdf::read as read_pdf;
#[doc(hidden)]
pub use extract::pdf::{PdfReader, read_alone as read_pdf_alone};
pub use extract::{
    Material, PageReading, Prepared, Reading, Unreadable, decode, detect_upload_type, extract,
};
#[doc(hidden)]
pub use sandbox::put_up_walls;
pub use sandbox::{Readers, SandboxSettings, serve_reader};

/// Runs the README's examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
