//! `POST /v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver`

use actix_web::http::Method;

use super::{DeliveryView, queued};
use crate::auth::Authorized;
use crate::auth::permission::WebhooksWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver";
    Endpoint::new(Tag::Webhooks, Method::POST, path, handle)
        .named("redeliver", "Send a delivery again")
        .details(
            "Sends the event again immediately, with the same `webhook-id`. If this fails, it is retried as often as \
             a new event.",
        )
        .keyed()
        .gives::<DeliveryView<'_>>(202)
        .refuses(409, "The endpoint is disabled, or the same request is still being carried out.")
}

async fn handle(caller: Authorized<WebhooksWrite>, app: App, mut incoming: Incoming) -> Answer {
    let endpoint = incoming.path_id();
    let delivery = incoming.second_path_id();
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .answer(queued, move |app, caller, completion| async move {
            app.webhooks.redeliver(&caller.scope, endpoint?, delivery?, completion).await
        })
        .await
}
