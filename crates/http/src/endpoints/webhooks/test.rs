//! `POST /v1/webhook_endpoints/{endpoint_id}/test`

use actix_web::http::Method;

use super::{DeliveryView, queued};
use crate::auth::Authorized;
use crate::auth::permission::WebhooksWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}/test";
    Endpoint::new(Tag::Webhooks, Method::POST, path, handle)
        .named("testWebhookEndpoint", "Test a webhook endpoint")
        .details(
            "Queues a `ping` event for the endpoint, regardless of the events that it receives.",
        )
        .keyed()
        .gives::<DeliveryView<'_>>(202)
        .refuses(
            409,
            "The endpoint is disabled, 100 deliveries to it are pending, or the same request is still \
             being carried out.",
        )
}

async fn handle(caller: Authorized<WebhooksWrite>, app: App, mut incoming: Incoming) -> Answer {
    let id = incoming.path_id();
    let request_id = Some(caller.request_id());
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .answer(queued, move |app, caller, completion| async move {
            app.webhooks.test(&caller.scope, id?, request_id, completion).await
        })
        .await
}
