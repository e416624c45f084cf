//! Reads untrusted documents in child processes, so that a hostile document cannot harm anything else.
//!
//! [`Readers`] is a pool of child processes: the same program, started again so that it calls
//! [`serve_reader`]. A child has no environment, no network and no files, and its memory and
//! processor time are limited. It reads one document after the other and ends after a time without
//! work. In every case, the caller gets a reading or an [`Unreadable`] with a sentence for people.
//!
//! Text in pictures is recognised by a program that the settings name. It runs in another process, with its own
//! restrictions: see [`OcrSettings`].
//!
//! Invariant: no document, not even a text, is parsed, decoded or cut outside a child process.

mod child;
mod end;
mod ocr;
mod outline;
mod pool;
mod process;
mod settings;
mod walls;
mod wire;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::{Id, UploadType, kind};
use url::Url;

use crate::extract::{PageReading, Prepared, Unreadable};
use crate::read::ReadPage;
use pool::Pool;
use wire::{Reply, Request};

pub use child::serve_reader;
pub use ocr::OcrSettings;
pub use settings::SandboxSettings;
pub use walls::put_up as put_up_walls;

/// The address of a page that has none (RFC 6694).
const NOWHERE: &str = "about:blank";

/// A pool of child processes that read documents. Cloning it gives another handle on the same pool;
/// when the last one is dropped, the processes are killed.
#[derive(Debug, Clone)]
pub struct Readers {
    pool: Pool,
    /// The account that they read for; `None` for the program itself.
    party: Option<Id<kind::Account>>,
}

impl Readers {
    /// A pool that starts its processes when they are needed.
    pub fn new(settings: SandboxSettings) -> Self {
        Self { pool: Pool::new(settings), party: None }
    }

    /// Reads a web page that was found at `url`. `charset` is the encoding that the `Content-Type`
    /// header named.
    ///
    /// Dropping the future kills the process that reads.
    ///
    /// # Errors
    ///
    /// If the document cannot be read, with a reason for the person who added it.
    pub async fn page(
        &self,
        url: &Url,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<PageReading<Prepared>, Unreadable> {
        let request = Request::Page { url: url.as_str().to_owned(), charset: label(charset) };
        match self.pool.read(self.party, &request, bytes).await? {
            Reply::Page(page) => Ok(page),
            Reply::Unreadable(reason) => Err(Unreadable(reason)),
            Reply::File(_) | Reply::Panicked => Err(end::crashed()),
        }
    }

    /// Reads a file. `charset` is the encoding that a `Content-Type` header named for a text.
    ///
    /// Dropping the future kills the process that reads.
    ///
    /// # Errors
    ///
    /// If the document cannot be read, with a reason for the person who added it.
    pub async fn file(
        &self,
        kind: UploadType,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<Prepared, Unreadable> {
        let request = match kind {
            UploadType::Pdf => Request::Pdf,
            UploadType::Docx => Request::Docx,
            UploadType::Html => return self.saved_page(bytes).await,
            UploadType::Text => Request::Text { charset: label(charset) },
            UploadType::Csv => Request::Csv { charset: label(charset) },
            UploadType::Xlsx => Request::Xlsx,
            UploadType::Ods => Request::Ods,
            UploadType::Xls => Request::Xls,
            UploadType::Pptx => Request::Pptx,
            UploadType::Odt => Request::Odt,
            UploadType::Epub => Request::Epub,
            UploadType::Rtf => Request::Rtf,
            UploadType::Eml => Request::Eml,
            UploadType::Png | UploadType::Jpeg | UploadType::Tiff | UploadType::Webp => {
                Request::Picture
            }
        };
        match self.pool.read(self.party, &request, bytes).await? {
            Reply::File(prepared) => Ok(prepared),
            Reply::Unreadable(reason) => Err(Unreadable(reason)),
            Reply::Page(_) | Reply::Panicked => Err(end::crashed()),
        }
    }

    /// Reads a page that was saved as a file: its address and encoding are unknown.
    async fn saved_page(&self, bytes: Bytes) -> Result<Prepared, Unreadable> {
        let request = Request::Page { url: NOWHERE.to_owned(), charset: None };
        match self.pool.read(self.party, &request, bytes).await? {
            Reply::Page(page) if page.needs_javascript => Err(Unreadable(
                "the page shows its text by running scripts; save it as the browser shows it"
                    .to_owned(),
            )),
            Reply::Page(page) => Ok(page.reading),
            Reply::Unreadable(reason) => Err(Unreadable(reason)),
            Reply::File(_) | Reply::Panicked => Err(end::crashed()),
        }
    }
}

/// The label of an encoding as it is passed on.
fn label(charset: Option<&str>) -> Option<String> {
    charset.map(|label| label.chars().take(wire::CHARSET_CHARS).collect())
}

#[async_trait]
impl ReadPage for Readers {
    fn for_account(&self, account: Id<kind::Account>) -> Arc<dyn ReadPage> {
        Arc::new(Self { party: Some(account), ..self.clone() })
    }

    async fn page(
        &self,
        url: &Url,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<PageReading<Prepared>, Unreadable> {
        self.page(url, bytes, charset).await
    }

    async fn file(
        &self,
        kind: UploadType,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<Prepared, Unreadable> {
        self.file(kind, bytes, charset).await
    }
}
