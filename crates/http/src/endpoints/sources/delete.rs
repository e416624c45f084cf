//! `DELETE /v1/sources/{source_id}`

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
    Endpoint::deletion::<DeleteSource>(Tag::Sources, "/v1/sources/{source_id}")
        .named("deleteSource", "Delete a source")
        .details("The next reply no longer uses its content.")
}

struct DeleteSource;

impl Deletion for DeleteSource {
    type Permission = SourcesWrite;
    type Kind = kind::Source;
    const ACTION: AuditAction = AuditAction::SourceDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::Source>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.sources.delete(&caller.scope, id, completion).await
    }
}
