//! `GET /docs/{asset}`

use actix_web::http::Method;

use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/docs/{asset}", handle)
        .named("docsAsset", "Get an asset of the reference page")
        .gives_text(&["text/html", "text/css", "text/javascript", "image/png"])
        .refuses(404, "The reference page has no such asset.")
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    app.assets.part(incoming.path_text(), &incoming.request)
}
