//! `GET /docs`

use actix_web::http::Method;

use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/docs", handle)
        .named("docs", "Show the documentation as web pages")
        .details("The first page of the book. The API reference is at `/docs/api`.")
        .gives_text(&["text/html"])
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    app.assets.page(&incoming.request)
}
