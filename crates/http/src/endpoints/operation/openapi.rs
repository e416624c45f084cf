//! `GET /v1/openapi.json`

use actix_web::http::Method;
use cicerone_domain::Error;
use utoipa::ToSchema;

use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/v1/openapi.json", handle)
        .named("openapi", "Get this document")
        .gives::<OpenApi>(200)
}

/// An OpenAPI document.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct OpenApi {
    #[schema(pattern = "^3\\.1\\.")]
    openapi: String,
    #[schema(value_type = Object)]
    paths: (),
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    if !app.assets.has_document() {
        // A thread that serves connections would block them in the meantime.
        let shared = app.clone();
        let made = app.runtime.spawn_blocking(move || {
            shared.assets.make_document();
        });
        made.await.map_err(Error::internal)?;
    }
    Ok(app.assets.document(&incoming.request))
}
