//! Uploaded bytes in a folder or a bucket.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::ports::ObjectStore;
use cicerone_domain::upload::ObjectKey;
use cicerone_domain::{Error, limits};
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore as Backend, ObjectStoreExt as _, RetryConfig};

/// How often a request to a bucket is repeated.
const RETRIES: usize = 2;
/// For how long repetitions of a request to a bucket are started: callers are waiting for it.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);

/// The object store for uploads: a folder on this machine, or an S3 bucket.
///
/// Every object is written by one request, a rename or a `PUT`. After a crash, a multipart upload would leave parts in
/// the bucket that are invisible but paid for.
#[derive(Debug, Clone)]
pub struct UploadObjects {
    backend: Arc<dyn Backend>,
    /// The folder, if objects are stored as files.
    folder: Option<PathBuf>,
}

/// The object store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenObjectsError {
    /// The setting is neither a folder nor a bucket.
    #[error("must be a folder, `file:FOLDER` or `s3://BUCKET/PREFIX`, not `{scheme}:…`")]
    Scheme {
        /// The text before the colon.
        scheme: String,
    },
    /// The folder cannot be made.
    #[error("cannot create the folder `{}`", .path.display())]
    Folder {
        /// The path of the folder.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: std::io::Error,
    },
    /// The object store refused its settings.
    #[error("cannot open the object store")]
    Backend(#[from] object_store::Error),
}

impl UploadObjects {
    /// Opens `file:FOLDER` or a plain folder, which is created if it does not exist, or
    /// `s3://BUCKET/PREFIX`, with the credentials, region and endpoint that the AWS tools read from
    /// the environment. No request is sent to a bucket yet; its client needs the process's TLS
    /// provider to be installed. Blocks.
    pub fn open(url: &str) -> Result<Self, OpenObjectsError> {
        if let Some(place) = url.strip_prefix("s3://") {
            let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
            let prefix = Path::parse(prefix).map_err(object_store::Error::from)?;
            let store = AmazonS3Builder::from_env()
                .with_bucket_name(bucket)
                // Every S3-compatible server has `DELETE`; not all have the bulk request.
                .with_disable_bulk_delete(true)
                .with_retry(RetryConfig {
                    max_retries: RETRIES,
                    retry_timeout: RETRY_TIMEOUT,
                    ..RetryConfig::default()
                })
                .build()?;
            return Ok(Self { backend: Arc::new(PrefixStore::new(store, prefix)), folder: None });
        }
        let path = url.strip_prefix("file:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        if let Some((scheme, _)) = path.split_once("://") {
            return Err(OpenObjectsError::Scheme { scheme: scheme.to_owned() });
        }
        let path = PathBuf::from(path);
        std::fs::create_dir_all(&path)
            .map_err(|cause| OpenObjectsError::Folder { path: path.clone(), cause })?;
        let store = LocalFileSystem::new_with_prefix(&path)?.with_fsync(true);
        Ok(Self { backend: Arc::new(store), folder: Some(path) })
    }

    /// Whether there is an object with that name.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if the store cannot be reached.
    pub async fn has(&self, key: &ObjectKey) -> Result<bool, Error> {
        match self.backend.head(&location(key)?).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(Error::unavailable(error)),
        }
    }

    /// Removes the temporary file of an interrupted write. Ids are never reused, so a key is
    /// written at most once and only the first temporary name can exist.
    async fn delete_staged(&self, key: &ObjectKey) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        match tokio::fs::remove_file(folder.join(format!("{}#1", key.as_str()))).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::unavailable(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

#[async_trait]
impl ObjectStore for UploadObjects {
    async fn put(&self, key: &ObjectKey, bytes: Bytes) -> Result<(), Error> {
        let path = location(key)?;
        self.backend.put(&path, bytes.into()).await.map(|_| ()).map_err(Error::unavailable)
    }

    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>, Error> {
        match self.backend.get(&location(key)?).await {
            // A store may answer with something else, whose stated size would be reserved.
            Ok(found) if found.meta.size > limits::FILE_BYTES as u64 => {
                let size = found.meta.size;
                Err(Error::unavailable(format!("the object `{}` has {size} bytes", key.as_str())))
            }
            Ok(found) => found.bytes().await.map(Some).map_err(Error::unavailable),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(Error::unavailable(error)),
        }
    }

    async fn delete(&self, key: &ObjectKey) -> Result<(), Error> {
        match self.backend.delete(&location(key)?).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => self.delete_staged(key).await,
            Err(error) => Err(Error::unavailable(error)),
        }
    }
}

fn location(key: &ObjectKey) -> Result<Path, Error> {
    Path::parse(key.as_str()).map_err(Error::internal)
}
