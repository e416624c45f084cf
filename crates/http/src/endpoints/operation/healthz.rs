//! `GET /healthz`

use actix_web::http::Method;

use super::{Status, status};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/healthz", handle)
        .named("health", "Check that the process is running")
        .gives::<Status>(200)
}

async fn handle() -> Answer {
    Ok(status("ok"))
}
