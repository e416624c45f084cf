//! Fetching and reading what a source names.

use bytes::Bytes;
use cicerone_domain::{Error, Extracted, Scope, Source, SourceContent, Upload};

use super::Worker;
use crate::extract::{Material, Reading, Unreadable, extract};

/// What a source holds, fetched and owned.
pub(super) enum Fetched {
    Text(String),
    Pairs(String),
    File {
        upload: Upload,
        bytes: Bytes,
    },
    /// The file is gone from the rows or from the object store.
    MissingFile,
    Website,
}

/// What a source holds, read.
pub(super) enum Content {
    Text(String),
    Pairs(String),
    File { name: String, reading: Reading },
    Website,
}

impl Worker {
    /// Fetches what `source` names. Fails as the stores do.
    pub(super) async fn fetch(&self, source: &Source) -> Result<Fetched, Error> {
        let id = match &source.content {
            SourceContent::Text(text) => return Ok(Fetched::Text(text.clone())),
            SourceContent::Qa(text) => return Ok(Fetched::Pairs(text.clone())),
            SourceContent::Website { .. } => return Ok(Fetched::Website),
            SourceContent::File(id) => *id,
        };
        let scope = Scope::account(source.account_id);
        let Some(upload) = self.ports.uploads.find_upload(&scope, id).await? else {
            return Ok(Fetched::MissingFile);
        };
        Ok(match self.ports.objects.get(&upload.object_key()).await? {
            Some(bytes) => Fetched::File { upload, bytes },
            None => Fetched::MissingFile,
        })
    }
}

impl Worker {
    /// Has a file read, in a process of its own where it is more than text.
    pub(super) async fn read(&self, fetched: Fetched) -> Result<Content, Unreadable> {
        Ok(match fetched {
            Fetched::Text(text) => Content::Text(text),
            Fetched::Pairs(text) => Content::Pairs(text),
            Fetched::File { upload, bytes } => {
                let reading = self.ports.reader.file(upload.content_type, bytes).await?;
                Content::File { name: upload.filename, reading }
            }
            Fetched::MissingFile => {
                return Err(Unreadable(
                    "the uploaded file is no longer stored; upload it again and add it anew"
                        .to_owned(),
                ));
            }
            Fetched::Website => Content::Website,
        })
    }
}

impl Content {
    pub(super) fn extract(&self) -> Result<Extracted, Unreadable> {
        extract(match self {
            Self::Text(text) => Material::Text(text),
            Self::Pairs(text) => Material::Pairs(text),
            Self::File { name, reading } => Material::File { name, reading },
            Self::Website => Material::Website,
        })
    }
}
