//! `GET /v1/webhook_endpoints`

use cicerone_domain::managed::SetName;
use cicerone_domain::{Error, Page, PageRequest, WebhookEndpoint};

use super::EndpointView;
use crate::auth::Authorized;
use crate::auth::permission::WebhooksRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::managed;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<WebhookEndpoints>(Tag::Webhooks, "/v1/webhook_endpoints")
        .named("listWebhookEndpoints", "List webhook endpoints")
        .details("Newest first.")
        .query([managed::parameter()])
}

struct WebhookEndpoints;

impl List for WebhookEndpoints {
    type Permission = WebhooksRead;
    type Item = WebhookEndpoint;
    type View<'a> = EndpointView<'a>;
    type Filter = Option<SetName>;
    const NAME: &'static str = "webhook_endpoints";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        managed::filter(query)
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<WebhooksRead>,
        _: &Incoming,
        set: Self::Filter,
        page: PageRequest,
    ) -> Result<Page<WebhookEndpoint>, Error> {
        app.webhooks.list(caller.scope(), set, page).await
    }
}
