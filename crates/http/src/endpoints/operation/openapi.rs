//! `GET /v1/openapi.json`

use actix_web::http::Method;
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
    Ok(app.assets.document(&incoming.request))
}
