//! Use cases of uploaded files.

mod incoming;

use std::sync::Arc;

use bytes::Bytes;

use crate::access::Scope;
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::ports::{ObjectStore, Spool, UploadStore};
use crate::upload::{Filename, ObjectKey, Upload, UploadType, unread_type};

pub use incoming::IncomingFile;

/// How long an object may be without its row before it counts as left behind by a crash.
const ORPHAN_MILLIS: i64 = 60 * 60 * 1_000;

/// A file to store.
#[derive(Debug, Clone)]
pub struct NewUpload {
    filename: Filename,
    content_type: UploadType,
    bytes: Bytes,
}

/// Receives, stores, reads and deletes uploaded files.
#[derive(Clone)]
pub struct Uploads {
    store: Arc<dyn UploadStore>,
    objects: Arc<dyn ObjectStore>,
    spool: Arc<dyn Spool>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl NewUpload {
    /// Checks a file. `detected` is its type by content, `None` if no source can be made from it.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] if it is empty or has an unsupported type.
    pub fn parse(
        filename: Filename,
        bytes: Bytes,
        detected: Option<UploadType>,
    ) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Err(Error::validation("file", "must not be empty"));
        }
        let content_type = detected.ok_or_else(|| {
            let hint = unread_type(&bytes).unwrap_or("its content is none of these");
            Error::validation("file", format!("must be a {} file; {hint}", UploadType::NAMES))
        })?;
        Ok(Self { filename, content_type, bytes })
    }
}

impl Uploads {
    /// The use cases over these ports.
    pub fn new(
        store: Arc<dyn UploadStore>,
        objects: Arc<dyn ObjectStore>,
        spool: Arc<dyn Spool>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { store, objects, spool, clock, entropy }
    }

    /// A file whose first bytes have not arrived yet.
    pub fn receive(&self) -> IncomingFile {
        IncomingFile::new(self.spool.file())
    }

    /// Stores a file: its bytes first, then its row. A crash between the two leaves no orphan, because the object is
    /// recorded beforehand.
    ///
    /// # Errors
    ///
    /// As [`UploadStore::insert_upload`].
    pub async fn create(
        &self,
        scope: &Scope,
        new: NewUpload,
        completion: Option<Completion<Upload>>,
    ) -> Result<Upload, Error> {
        let now = self.clock.now();
        let upload = Upload {
            id: Id::random(self.entropy.as_ref()),
            account_id: scope.account,
            filename: new.filename,
            content_type: new.content_type,
            bytes: u64::try_from(new.bytes.len()).unwrap_or(u64::MAX),
            created_at: now,
        };
        let key = upload.object_key();
        self.store.expect_object(&key, now.plus_millis(ORPHAN_MILLIS)).await?;
        self.objects.put(&key, new.bytes).await?;
        let outcome = self.store.insert_upload(upload, completion).await;
        if matches!(outcome, Err(Error::BytesExceeded { .. }))
            && let Err(error) = self.objects.delete(&key).await
        {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the object of a refused file could not be deleted; the housekeeper tries again"
            );
        }
        outcome
    }

    /// The file's description.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn find(&self, scope: &Scope, id: Id<kind::Upload>) -> Result<Upload, Error> {
        self.store.find_upload(scope, id).await?.ok_or_else(|| Error::not_found("file", id))
    }

    /// The file and its bytes.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::ContentMissing`], and [`Error::Unavailable`] if the object is damaged.
    pub async fn content(
        &self,
        scope: &Scope,
        id: Id<kind::Upload>,
    ) -> Result<(Upload, Bytes), Error> {
        let upload = self.find(scope, id).await?;
        let Some(bytes) = self.objects.get(&upload.object_key()).await? else {
            // A file can be deleted between the two.
            self.find(scope, id).await?;
            return Err(Error::ContentMissing { id: id.to_string() });
        };
        upload.check_object(&bytes).map_err(Error::unavailable)?;
        Ok((upload, bytes))
    }

    /// Deletes a file.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], and [`Error::Conflict`] while a source uses it.
    pub async fn delete(
        &self,
        scope: &Scope,
        id: Id<kind::Upload>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        self.store.delete_upload(scope, id, self.clock.now(), completion).await?;
        // The row is gone. If the object cannot be removed now, the housekeeping removes it.
        if let Err(error) = self.objects.delete(&ObjectKey::of(id)).await {
            tracing::warn!(file_id = %id, error = &error as &dyn std::error::Error, "the object of a deleted file could not be deleted; the housekeeper tries again");
        }
        Ok(())
    }
}
