//! Uploaded files.

use crate::id::{Id, kind};
use crate::timestamp::Timestamp;

/// A file that was uploaded, before or while a source uses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Its id, which is also its name in the object store.
    pub id: Id<kind::Upload>,
    /// Its owner.
    pub account_id: Id<kind::Account>,
    /// Its name on the caller's machine, without folders.
    pub filename: String,
    /// What it is, by content.
    pub content_type: UploadType,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was uploaded.
    pub created_at: Timestamp,
}

/// The types of files that a source can be made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadType {
    /// Portable Document Format.
    Pdf,
    /// Office Open XML document.
    Docx,
    /// A web page that was saved or exported.
    Html,
    /// Plain text, Markdown included.
    Text,
}

impl UploadType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Pdf, Self::Docx, Self::Html, Self::Text];

    /// Its media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Html => "text/html",
            Self::Text => "text/plain",
        }
    }

    /// The type of that media type.
    pub fn from_media_type(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.media_type() == name)
    }
}

/// The name of an object in the object store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectKey(pub String);

impl Upload {
    /// Where its bytes lie.
    pub fn object_key(&self) -> ObjectKey {
        object_key(self.id)
    }
}

/// Where the bytes of upload `id` lie.
pub fn object_key(id: Id<kind::Upload>) -> ObjectKey {
    ObjectKey(format!("uploads/{id}"))
}
