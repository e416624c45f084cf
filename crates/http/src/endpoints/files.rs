//! Uploaded files: what their endpoints share.

pub(super) mod content;
pub(super) mod delete;
pub(super) mod get;
pub(super) mod upload;

use cicerone_domain::{Id, Timestamp, Upload, kind};
use serde::Serialize;
use utoipa::ToSchema;

/// An uploaded file. Its id is the `content` of a source of type `file`.
///
/// Its schema is not called `File`, which is the name of a type that generated clients use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UploadedFile, description = "An uploaded file. Its id is the `content` of a source of type `file`.")]
pub(super) struct UploadView<'a> {
    #[schema(value_type = String, pattern = "^file_[0-9A-Za-z]{10}$")]
    id: Id<kind::Upload>,
    filename: &'a str,
    /// The media type, detected from the content.
    content_type: &'static str,
    /// The size of the file in bytes.
    #[schema(minimum = 1, maximum = 10485760)]
    bytes: u64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
}

impl<'a> From<&'a Upload> for UploadView<'a> {
    fn from(upload: &'a Upload) -> Self {
        Self {
            id: upload.id,
            filename: upload.filename.as_str(),
            content_type: upload.content_type.media_type(),
            bytes: upload.bytes,
            created_at: upload.created_at,
        }
    }
}
