//! `DELETE /v1/widgets/{widget_id}`

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use crate::auth::Caller;
use crate::auth::permission::AgentsWrite;
use crate::context::App;
use crate::deletion::Deletion;
use crate::endpoint::{Endpoint, Tag};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::deletion::<DeleteWidget>(Tag::Widgets, "/v1/widgets/{widget_id}")
        .named("deleteWidget", "Delete a widget")
        .details("The widget's token stops working. Its conversations are kept.")
}

struct DeleteWidget;

impl Deletion for DeleteWidget {
    type Permission = AgentsWrite;
    type Kind = kind::Widget;
    const ACTION: AuditAction = AuditAction::WidgetDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::Widget>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.widgets.delete(&caller.scope, id, completion).await
    }
}
