//! `GET /v1/webhook_endpoints`

use cicerone_domain::{Error, Page, PageRequest, WebhookEndpoint};

use super::EndpointView;
use crate::auth::Authorized;
use crate::auth::permission::WebhooksRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<WebhookEndpoints>(Tag::Webhooks, "/v1/webhook_endpoints")
        .named("listWebhookEndpoints", "List webhook endpoints")
        .details("Newest first.")
}

struct WebhookEndpoints;

impl List for WebhookEndpoints {
    type Permission = WebhooksRead;
    type Item = WebhookEndpoint;
    type View<'a> = EndpointView<'a>;
    type Filter = ();
    const NAME: &'static str = "webhook_endpoints";

    fn filter(_: &Query) -> Result<(), Error> {
        Ok(())
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<WebhooksRead>,
        _: &Incoming,
        (): (),
        page: PageRequest,
    ) -> Result<Page<WebhookEndpoint>, Error> {
        app.webhooks.list(caller.scope(), page).await
    }
}
