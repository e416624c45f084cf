//! `GET /v1/api_keys`

use cicerone_domain::managed::SetName;
use cicerone_domain::{ApiKey, Error, Page, PageRequest};

use super::KeyView;
use crate::auth::Authorized;
use crate::auth::permission::KeysRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::managed;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Keys>(Tag::Keys, "/v1/api_keys").named("listApiKeys", "List API keys").details(
        "Newest first. A key that is restricted to agents sees only keys that are restricted to a subset of those \
         agents.",
    )
    .query([managed::parameter()])
}

struct Keys;

impl List for Keys {
    type Permission = KeysRead;
    type Item = ApiKey;
    type View<'a> = KeyView<'a>;
    type Filter = Option<SetName>;
    const NAME: &'static str = "api_keys";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        managed::filter(query)
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<KeysRead>,
        _: &Incoming,
        set: Self::Filter,
        page: PageRequest,
    ) -> Result<Page<ApiKey>, Error> {
        app.keys.list(caller.key(), set, page).await
    }
}
