//! Turns the content of a source into passages: reading, chunking and crawling.
//!
//! [`Readers`] read files and pages in child processes; [`extract`] is a pure function from the
//! content of a source to its documents and passages; a [`Crawler`] visits websites.
//!
//! Invariant: nothing here depends on the database, the index or an HTTP server.

#![warn(clippy::missing_errors_doc)]

mod bounded;
mod chunk;
#[cfg(feature = "crawl")]
pub mod crawl;
mod extract;
mod read;
#[cfg(feature = "sandbox")]
mod sandbox;

pub use chunk::{Chunk, chunks};
/// The types of pages, documents and passages, and their limits.
pub use cicerone_domain as domain;
#[cfg(feature = "crawl")]
pub use crawl::{
    CrawlBatch, CrawlEnd, CrawlJournal, CrawlPorts, CrawlSettings, Crawler, EgressFetch,
    JournalError,
};
pub use extract::docx::read as read_docx;
#[cfg(feature = "office")]
pub use extract::file::read as read_file;
#[cfg(feature = "html")]
pub use extract::html::read as read_page;
#[cfg(feature = "pdf")]
pub use extract::pdf::read as read_pdf;
#[cfg(feature = "pdf")]
#[doc(hidden)]
pub use extract::pdf::{PdfReader, read_alone as read_pdf_alone};
pub use extract::text::read as read_text;
pub use extract::{
    Material, PageReading, Prepared, Reading, Unreadable, decode, detect_upload_type, extract,
};
pub use read::ReadPage;
#[cfg(feature = "sandbox")]
#[doc(hidden)]
pub use sandbox::put_up_walls;
#[cfg(feature = "sandbox")]
pub use sandbox::{OcrSettings, Readers, SandboxSettings, serve_reader};

/// Runs the README's examples as tests.
#[cfg(all(doctest, feature = "crawl", feature = "sandbox"))]
#[doc = include_str!("../README.md")]
struct Readme;
