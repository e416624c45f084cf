//! `DELETE /v1/api_keys/{key_id}`

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use super::LACKS_PERMISSION;
use crate::auth::Caller;
use crate::auth::permission::KeysWrite;
use crate::context::App;
use crate::deletion::Deletion;
use crate::endpoint::{Endpoint, Tag};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::deletion::<DeleteKey>(Tag::Keys, "/v1/api_keys/{key_id}")
        .named("deleteApiKey", "Delete an API key")
        .details(
            "The key stops working at once on the server that deletes it, and within a second on the others. A key can delete only keys with no more \
             permissions, no more agents and no later expiry than its own.",
        )
        .refuses(400, "A key cannot delete itself or a key with fewer restrictions.")
        .refuses(403, LACKS_PERMISSION)
}

struct DeleteKey;

impl Deletion for DeleteKey {
    type Permission = KeysWrite;
    type Kind = kind::ApiKey;
    const ACTION: AuditAction = AuditAction::ApiKeyDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::ApiKey>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.keys.delete(&caller.key, id, completion).await?;
        app.gate.forget(id);
        Ok(())
    }
}
