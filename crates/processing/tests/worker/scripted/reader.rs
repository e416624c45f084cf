//! A reader of texts, in this process.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::{Id, UploadType, kind, limits};
use cicerone_ingestion::{PageReading, Prepared, ReadPage, Reading, Unreadable, decode};
use url::Url;

/// Reads files as text, and no web pages.
pub(crate) struct Texts;

#[async_trait]
impl ReadPage for Texts {
    fn for_account(&self, _account: Id<kind::Account>) -> Arc<dyn ReadPage> {
        Arc::new(Self)
    }

    async fn page(
        &self,
        _url: &Url,
        _bytes: Bytes,
        _charset: Option<&str>,
    ) -> Result<PageReading<Prepared>, Unreadable> {
        Err(Unreadable("only texts are read here".to_owned()))
    }

    async fn file(
        &self,
        _kind: UploadType,
        bytes: Bytes,
        _charset: Option<&str>,
    ) -> Result<Prepared, Unreadable> {
        Reading::plain(decode(&bytes)?).cut(limits::DOCUMENT_TEXT_BYTES)
    }
}
