//! `GET /v1/widgets/{widget_id}`

use actix_web::http::Method;

use super::WidgetView;
use crate::auth::Authorized;
use crate::auth::permission::AgentsRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Widgets, Method::GET, "/v1/widgets/{widget_id}", handle)
        .named("getWidget", "Retrieve a widget")
        .gives::<WidgetView<'_>>(200)
}

async fn handle(caller: Authorized<AgentsRead>, app: App, incoming: Incoming) -> Answer {
    let widget = app.widgets.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&WidgetView::from(&widget)))
}
