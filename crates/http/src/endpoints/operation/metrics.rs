//! `GET /metrics`

use actix_web::HttpResponse;
use actix_web::http::Method;

use crate::context::App;
use crate::endpoint::{Endpoint, Tag};
use crate::error::RequestError;
use crate::response::Answer;

/// The media type of Prometheus' text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/metrics", handle)
        .named("metrics", "Get metrics in the Prometheus format")
        .gives_text(&["text/plain"])
        .refuses(404, "Metrics are turned off.")
}

async fn handle(app: App) -> Answer {
    let render = app.metrics.as_ref().ok_or(RequestError::NoRoute)?;
    Ok(HttpResponse::Ok().content_type(PROMETHEUS).body(render()))
}
