//! `POST /v1/widgets/{widget_id}/rotate_secret`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::audit::AuditAction;

use super::{IssuedWidgetView, kept_with_secret};
use crate::auth::Authorized;
use crate::auth::permission::AgentsWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/widgets/{widget_id}/rotate_secret";
    Endpoint::new(Tag::Widgets, Method::POST, path, handle)
        .named("rotateWidgetSecret", "Replace the identity secret")
        .details(
            "The response contains the new `identity_secret`. For 24 hours, identities signed with the previous one are \
             accepted as well.",
        )
        .keyed()
        .gives::<IssuedWidgetView<'_>>(200)
        .refuses(
            409,
            "The widget already has ten valid secrets, or the same request is still being carried out.",
        )
}

async fn handle(caller: Authorized<AgentsWrite>, app: App, mut incoming: Incoming) -> Answer {
    let id = incoming.path_id();
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::WidgetSecretRotated, None)
        .answer(
            |issued| kept_with_secret(StatusCode::OK, issued),
            move |app, caller, completion| async move {
                app.widgets.rotate_secret(&caller.scope, id?, completion).await
            },
        )
        .await
}
