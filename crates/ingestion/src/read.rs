//! The interface to readers, which may run in child processes.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::{Id, UploadType, kind};
use url::Url;

use crate::extract::{PageReading, Prepared, Unreadable};

/// Reads documents.
#[async_trait]
pub trait ReadPage: Send + Sync {
    /// The same readers on behalf of an account, which gets its fair share of them.
    fn for_account(&self, account: Id<kind::Account>) -> Arc<dyn ReadPage>;

    /// Reads a web page. `charset` is the encoding that the `Content-Type` header named.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with a reason for the person who added it.
    async fn page(
        &self,
        url: &Url,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<PageReading<Prepared>, Unreadable>;

    /// Reads a file. `charset` is the encoding that the `Content-Type` header named for a text.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with a reason for the person who added it.
    async fn file(
        &self,
        kind: UploadType,
        bytes: Bytes,
        charset: Option<&str>,
    ) -> Result<Prepared, Unreadable>;
}
