//! `GET /v1/sources/{source_id}/passages`

use cicerone_domain::content::Passage;
use cicerone_domain::{Error, Page, PageRequest};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Passages>(Tag::Sources, "/v1/sources/{source_id}/passages")
        .named("listPassages", "List passages")
        .details("The passages of the most recently trained content, in order.")
}

/// A part of a document: the unit of search and citation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Passage)]
struct PassageView<'a> {
    /// The position of the passage in the source, from 0.
    position: i64,
    #[schema(required)]
    title: Option<&'a str>,
    #[schema(required)]
    url: Option<&'a str>,
    /// The page that it is on, from 1, if the format has pages.
    #[schema(required)]
    page: Option<u32>,
    text: &'a str,
}

impl<'a> From<&'a Passage> for PassageView<'a> {
    fn from(passage: &'a Passage) -> Self {
        Self {
            position: passage.position,
            title: passage.title.as_deref(),
            url: passage.url.as_deref(),
            page: passage.page,
            text: &passage.text,
        }
    }
}

struct Passages;

impl List for Passages {
    type Permission = SourcesRead;
    type Item = Passage;
    type View<'a> = PassageView<'a>;
    type Filter = ();
    const NAME: &'static str = "passages";

    fn filter(_: &Query) -> Result<(), Error> {
        Ok(())
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<SourcesRead>,
        incoming: &Incoming,
        (): (),
        page: PageRequest,
    ) -> Result<Page<Passage>, Error> {
        app.sources.passages(caller.scope(), incoming.path_id()?, page).await
    }
}
