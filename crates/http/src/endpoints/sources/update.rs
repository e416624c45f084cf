//! `PATCH /v1/sources/{source_id}`

use actix_web::http::{Method, StatusCode};
use cicerone_domain::Error;
use cicerone_domain::source::SourcePatch;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{SAME_VERSION, SourceView, kept};
use crate::auth::Authorized;
use crate::auth::permission::SourcesWrite;
use crate::body::{Body, Current, Given};
use crate::change::Change;
use crate::context::{App, Incoming};
use crate::endpoint::{Endpoint, Tag};
use crate::managed::ManagedBody;
use crate::response::Answer;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::new(Tag::Sources, Method::PATCH, "/v1/sources/{source_id}", handle)
        .named("updateSource", "Update a source")
        .details(
            "Changes only the fields that are given. The content of a source cannot be changed: add another source, and \
             delete this one when the other is `trained`.",
        )
        .body::<UpdateSource>()
        .keyed()
        .gives::<SourceView<'_>>(200)
        .refuses(409, SAME_VERSION)
}

#[derive(Deserialize, ToSchema)]
#[schema(examples(json!({"guarded": false})))]
struct UpdateSource {
    /// Whether a crawl replaces the content only if every check of the agent that passes now would still pass. Only a website
    /// can be guarded; null for false.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    guarded: Given<bool>,
    /// The entry of a declaration file that manages this object; null if none does.
    #[serde(default)]
    #[schema(value_type = Option<ManagedBody>)]
    managed: Given<ManagedBody>,
}

impl Body for UpdateSource {
    type Checked = SourcePatch;

    fn check(self, _: &Current<'_>) -> Result<SourcePatch, Error> {
        Ok(SourcePatch {
            guarded: self.guarded.or(false),
            managed: self.managed.or_none(ManagedBody::parse)?,
        })
    }
}

async fn handle(caller: Authorized<SourcesWrite>, app: App, mut incoming: Incoming) -> Answer {
    let (patch, key) = incoming.keyed_body::<UpdateSource>(&app).await?;
    let id = incoming.path_id();
    Change::new(&app, &caller, key)
        .answer(
            |source| kept(StatusCode::OK, source),
            move |app, caller, completion| async move {
                app.sources.update(&caller.scope, id?, patch, completion).await
            },
        )
        .await
}
