//! `GET /v1/files/{file_id}`

use actix_web::http::Method;

use super::UploadView;
use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::response::{Answer, ok};

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Files, Method::GET, "/v1/files/{file_id}", handle)
        .named("getFile", "Retrieve a file's description")
        .gives::<UploadView<'_>>(200)
}

async fn handle(caller: Authorized<SourcesRead>, app: App, incoming: Incoming) -> Answer {
    let upload = app.uploads.find(caller.scope(), incoming.path_id()?).await?;
    Ok(ok(&UploadView::from(&upload)))
}
