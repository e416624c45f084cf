//! `DELETE /v1/files/{file_id}`

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use crate::auth::Caller;
use crate::auth::permission::SourcesWrite;
use crate::context::App;
use crate::deletion::Deletion;
use crate::endpoint::{Endpoint, Tag};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::deletion::<DeleteFile>(Tag::Files, "/v1/files/{file_id}")
        .named("deleteFile", "Delete a file")
        .refuses(409, "A source uses the file, or the same request is still being carried out.")
}

struct DeleteFile;

impl Deletion for DeleteFile {
    type Permission = SourcesWrite;
    type Kind = kind::Upload;
    const ACTION: AuditAction = AuditAction::FileDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::Upload>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.uploads.delete(&caller.scope, id, completion).await
    }
}
