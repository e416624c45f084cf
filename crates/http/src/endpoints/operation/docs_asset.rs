//! `GET /docs/{asset}`

use actix_web::http::Method;

use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/docs/{asset}", handle)
        .named("docsAsset", "Get a page or an asset of the documentation")
        .gives_text(&[
            "text/html",
            "text/css",
            "text/javascript",
            "text/plain",
            "image/png",
            "image/svg+xml",
        ])
        .refuses(404, "The documentation has no such page or asset.")
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    app.assets.part(incoming.path_text(), &incoming.request)
}
