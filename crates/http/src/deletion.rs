//! Deletion endpoints, which differ only in what they delete.

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::id::Kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id};

use crate::auth::permission::Required;
use crate::auth::{Authorized, Caller};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::response::{Answer, keep_nothing};

/// A deletion of the resource in the path. It is recorded in the audit log and answered with 204.
pub(crate) trait Deletion: 'static {
    type Permission: Required;
    /// The kind of the id in the path.
    type Kind: Kind + 'static;
    const ACTION: AuditAction;

    /// Deletes the resource in the transaction that also writes `completion`.
    fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<Self::Kind>,
        completion: Option<Completion<()>>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Serves a deletion.
pub(crate) async fn answer<D: Deletion>(
    caller: Authorized<D::Permission>,
    app: App,
    mut incoming: Incoming,
) -> Answer {
    let id = incoming.path_id();
    let target = incoming.path_text().to_owned();
    let change = Change::without_body(&app, &caller, &mut incoming).await?;
    change
        .audited(D::ACTION, Some(target))
        .answer(keep_nothing, move |app, caller, completion| async move {
            D::delete(app, caller, id?, completion).await
        })
        .await
}
