//! `GET /v1/agents/{agent_id}/widgets`

use cicerone_domain::managed::SetName;
use cicerone_domain::{Error, Page, PageRequest, Widget};

use super::WidgetView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::managed;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Widgets>(Tag::Widgets, "/v1/agents/{agent_id}/widgets")
        .named("listWidgets", "List widgets")
        .details("Newest first.")
        .query([managed::parameter()])
}

struct Widgets;

impl List for Widgets {
    type Permission = AgentsRead;
    type Item = Widget;
    type View<'a> = WidgetView<'a>;
    type Filter = Option<SetName>;
    const NAME: &'static str = "widgets";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        managed::filter(query)
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<AgentsRead>,
        incoming: &Incoming,
        set: Self::Filter,
        page: PageRequest,
    ) -> Result<Page<Widget>, Error> {
        app.widgets.list(caller.scope(), incoming.path_id()?, set, page).await
    }
}
