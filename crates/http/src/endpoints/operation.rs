//! Endpoints for the operator, which need no key: health, metrics and the documentation.

pub(super) mod docs;
pub(super) mod docs_asset;
pub(super) mod healthz;
pub(super) mod metrics;
pub(super) mod openapi;
pub(super) mod readyz;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue};
use serde::Serialize;
use utoipa::ToSchema;

use crate::response::ok;

/// The health of the server.
#[derive(Serialize, ToSchema)]
struct Status {
    #[schema(pattern = "^(ok|ready)$")]
    status: &'static str,
}

fn status(status: &'static str) -> HttpResponse {
    let mut response = ok(&Status { status });
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
