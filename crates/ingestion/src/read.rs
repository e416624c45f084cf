//! The seam to the readers, which run in a process of their own.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::{Id, UploadType, kind};
use url::Url;

use crate::extract::{PageReading, Prepared, Unreadable};

/// Reads what was fetched.
#[async_trait]
pub trait ReadPage: Send + Sync {
    /// The same readers, on behalf of an account. Accounts share them fairly; without one, the process
    /// reads for itself.
    fn for_account(&self, account: Id<kind::Account>) -> Arc<dyn ReadPage>;

    /// Reads a web page. `charset` is what the `Content-Type` header said of its encoding.
    ///
    /// Fails where it cannot be read, with a sentence for the source's owner.
    async fn page(
        &self,
        url: &Url,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<PageReading<Prepared>, Unreadable>;

    /// Reads a file. `charset` is what the `Content-Type` header said of a text's encoding.
    ///
    /// Fails where it cannot be read, with a sentence for the source's owner.
    async fn file(
        &self,
        kind: UploadType,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<Prepared, Unreadable>;
}
