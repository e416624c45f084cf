//! `GET /readyz`

use actix_web::http::Method;

use super::{Status, status};
use crate::context::App;
use crate::endpoint::{Endpoint, Tag};
use crate::error::RequestError;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/readyz", handle)
        .named("readiness", "Check that the server is ready")
        .gives::<Status>(200)
        .refuses(
            503,
            "The database cannot be reached or written to, or the workers are not running.",
        )
}

async fn handle(app: App) -> Answer {
    app.health.check().await?;
    if let Err(error) = app.health.check_writes().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "writes to the database fail");
        return Err(RequestError::NotReady(
            "writes to the database fail: its disk is full, or it is read-only",
        ));
    }
    if !(app.workers_running)() {
        return Err(RequestError::NotReady("the workers are not running"));
    }
    Ok(status("ready"))
}
