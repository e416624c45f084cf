//! `DELETE /v1/webhook_endpoints/{endpoint_id}`

use std::sync::Arc;

use cicerone_domain::audit::AuditAction;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};

use crate::auth::Caller;
use crate::auth::permission::WebhooksWrite;
use crate::context::App;
use crate::deletion::Deletion;
use crate::endpoint::{Endpoint, Tag};

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}";
    Endpoint::deletion::<DeleteWebhookEndpoint>(Tag::Webhooks, path)
        .named("deleteWebhookEndpoint", "Delete a webhook endpoint")
        .details("Deletes the endpoint and its deliveries.")
}

struct DeleteWebhookEndpoint;

impl Deletion for DeleteWebhookEndpoint {
    type Permission = WebhooksWrite;
    type Kind = kind::WebhookEndpoint;
    const ACTION: AuditAction = AuditAction::WebhookEndpointDeleted;

    async fn delete(
        app: App,
        caller: Arc<Caller>,
        id: Id<kind::WebhookEndpoint>,
        completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        app.webhooks.delete(&caller.scope, id, completion).await
    }
}
