//! The content of a source, fetched and read.

use cicerone_domain::source::{PairsText, SourceText};
use cicerone_domain::upload::Filename;
use cicerone_domain::{Error, Extracted, Id, Scope, Source, kind};
use cicerone_ingestion::{Material, Prepared, Unreadable, extract};

use super::Worker;
use super::attempt::Outcome;

/// The content of a source, ready for extraction.
pub(super) enum Content {
    Text(SourceText),
    Pairs(PairsText),
    File { name: Filename, prepared: Prepared },
}

impl Worker {
    /// Fetches an uploaded file and has it read in a separate process.
    pub(super) async fn read_file(
        &self,
        source: &Source,
        id: Id<kind::Upload>,
    ) -> Result<Content, Outcome> {
        let scope = Scope::account(source.account_id);
        let upload = self.ports.uploads.find_upload(&scope, id).await.map_err(Outcome::Fault)?;
        let upload = upload.ok_or_else(|| Outcome::Unreadable(NOT_STORED.to_owned()))?;
        let bytes = self.ports.objects.get(&upload.object_key()).await.map_err(Outcome::Fault)?;
        // The folder may not be mounted, or another server may have the file.
        let missing = || Outcome::Fault(Error::ContentMissing { id: id.to_string() });
        let bytes = bytes.ok_or_else(missing)?;
        upload.check_object(&bytes).map_err(|damaged| {
            Outcome::Unreadable(format!("{damaged}; upload it and add it again"))
        })?;
        let reader = self.ports.reader.for_account(source.account_id);
        match reader.file(upload.content_type, bytes, None).await {
            Ok(prepared) => Ok(Content::File { name: upload.filename, prepared }),
            Err(unreadable) => Err(Outcome::Unreadable(unreadable.to_string())),
        }
    }
}

/// Why a source fails whose file is missing in the database or in the object store.
pub(super) const NOT_STORED: &str =
    "the uploaded file is no longer stored; upload it and add it again";

impl Content {
    pub(super) fn extract(self) -> Result<Extracted, Unreadable> {
        match self {
            Self::Text(text) => extract(Material::Text(&text)),
            Self::Pairs(text) => extract(Material::Pairs(text.as_str())),
            Self::File { name, prepared } => {
                extract(Material::File { name: name.as_str(), prepared })
            }
        }
    }
}
