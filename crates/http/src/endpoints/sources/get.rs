//! `GET /v1/sources/{source_id}`

use actix_web::http::Method;

use super::SourceView;
use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::GET, "/v1/sources/{source_id}", handle)
        .named("getSource", "Retrieve a source")
        .gives::<SourceView<'_>>(200)
}

async fn handle(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let id = incoming.path_id()?;
    caller.context().expect_answer(&app).await?;
    let source = app.sources.find(caller.scope(), id).await?;
    Ok(ok(&SourceView::from(&source)))
}
