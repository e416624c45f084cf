//! Fetching what a source names.

use bytes::Bytes;
use cicerone_domain::{Error, Extracted, Scope, Source, SourceContent, Upload};

use super::Worker;
use crate::extract::{Material, Unreadable, extract};

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

impl Fetched {
    pub(super) fn extract(&self) -> Result<Extracted, Unreadable> {
        match self {
            Self::Text(text) => extract(Material::Text(text)),
            Self::Pairs(text) => extract(Material::Pairs(text)),
            Self::File { upload, bytes } => extract(Material::File {
                name: &upload.filename,
                content_type: upload.content_type,
                bytes,
            }),
            Self::MissingFile => Err(Unreadable(
                "the uploaded file is no longer stored; upload it again and add it anew".to_owned(),
            )),
            Self::Website => extract(Material::Website),
        }
    }
}
