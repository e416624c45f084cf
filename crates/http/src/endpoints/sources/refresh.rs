//! `POST /v1/sources/{source_id}/refresh`

use actix_web::http::{Method, StatusCode};

use super::{SourceView, kept};
use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, TOO_MANY_OR_FULL, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::POST, "/v1/sources/{source_id}/refresh", handle)
        .named("refreshSource", "Refresh a source")
        .details(
            "Crawls a website again. Replies use the previous content until the crawl is done.",
        )
        .keyed()
        .gives::<SourceView<'_>>(200)
        .refuses(400, "The source is not a website.")
        .refuses(
            409,
            "The source is being processed, or the same request is still being carried out.",
        )
        .refuses(429, TOO_MANY_OR_FULL)
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let id = incoming.path_id();
    let request_id = Some(caller.request_id());
    Change::without_body(&app, &caller, &mut incoming)
        .await?
        .answer(
            |source| kept(StatusCode::OK, source),
            move |app, caller, completion| async move {
                app.sources.refresh(&caller.scope, id?, request_id, completion).await
            },
        )
        .await
}
