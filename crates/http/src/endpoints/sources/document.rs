//! `GET /v1/documents/{document_id}`

use actix_web::http::Method;

use super::documents::DocumentView;
use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::GET, "/v1/documents/{document_id}", handle)
        .named("getDocument", "Retrieve an extracted document")
        .details(
            "A document of the most recently trained content of a source. A page of a website has the same id after a \
             refresh, so citations in earlier replies stay valid; a page that no longer exists gets 404.",
        )
        .gives::<DocumentView<'_>>(200)
}

async fn handle(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let id = incoming.path_id()?;
    caller.context().expect_answer(&app).await?;
    let document = app.sources.document(caller.scope(), id).await?;
    Ok(ok(&DocumentView::from(&document)))
}
