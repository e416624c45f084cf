//! `POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::audit::AuditAction;

use super::{IssuedEndpointView, kept_with_secret};
use crate::auth::Authorized;
use crate::auth::permission::WebhooksWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}/rotate_secret";
    Endpoint::new(Tag::Webhooks, Method::POST, path, handle)
        .named("rotateWebhookSecret", "Replace the secret")
        .details(
            "The response contains the new `secret`. For 24 hours, requests are also signed with the previous secret.",
        )
        .keyed()
        .gives::<IssuedEndpointView<'_>>(200)
        .refuses(
            409,
            "The endpoint already has ten valid secrets, or the same request is still being \
             carried out.",
        )
}

async fn handle(caller: Authorized<WebhooksWrite>, app: App, mut incoming: Incoming) -> Answer {
    let id = incoming.path_id();
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .audited(AuditAction::WebhookSecretRotated, None)
        .answer(
            |issued| kept_with_secret(StatusCode::OK, issued),
            move |app, caller, completion| async move {
                app.webhooks.rotate_secret(&caller.scope, id?, completion).await
            },
        )
        .await
}
