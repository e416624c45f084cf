//! `GET /v1/webhook_endpoints/{endpoint_id}/deliveries`

use cicerone_domain::webhook::DeliveryStatus;
use cicerone_domain::{Delivery, Error, Page, PageRequest};

use super::DeliveryView;
use crate::auth::Authorized;
use crate::auth::permission::WebhooksRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::openapi::parameters::one_of;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    let path = "/v1/webhook_endpoints/{endpoint_id}/deliveries";
    let statuses = DeliveryStatus::ALL.map(DeliveryStatus::name);
    Endpoint::list::<Deliveries>(Tag::Webhooks, path)
        .named("listDeliveries", "List deliveries")
        .details("Newest first. Deliveries are kept for 7 days.")
        .query([one_of("status", &statuses, "Return only deliveries with this status.")])
}

struct Deliveries;

impl List for Deliveries {
    type Permission = WebhooksRead;
    type Item = Delivery;
    type View<'a> = DeliveryView<'a>;
    type Filter = Option<DeliveryStatus>;
    const NAME: &'static str = "deliveries";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        query.one_of("status", DeliveryStatus::from_name, "pending, succeeded, failed")
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<WebhooksRead>,
        incoming: &Incoming,
        status: Self::Filter,
        page: PageRequest,
    ) -> Result<Page<Delivery>, Error> {
        app.webhooks.deliveries(caller.scope(), incoming.path_id()?, status, page).await
    }
}
