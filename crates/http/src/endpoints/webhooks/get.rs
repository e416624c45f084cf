//! `GET /v1/webhook_endpoints/{endpoint_id}`

use actix_web::http::Method;

use super::EndpointView;
use crate::auth::Authorized;
use crate::auth::permission::WebhooksRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}";
    Endpoint::new(Tag::Webhooks, Method::GET, path, handle)
        .named("getWebhookEndpoint", "Retrieve a webhook endpoint")
        .gives::<EndpointView<'_>>(200)
}

async fn handle(caller: Authorized<WebhooksRead>, app: App, incoming: Incoming) -> Answer {
    let endpoint = app.webhooks.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&EndpointView::from(&endpoint)))
}
