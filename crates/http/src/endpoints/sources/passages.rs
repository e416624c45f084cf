//! `GET /v1/sources/{source_id}/passages`

use cicerone_domain::content::StoredPassage;
use cicerone_domain::{Error, Id, Page, PageRequest, kind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::Authorized;
use crate::auth::permission::SourcesRead;
use crate::context::{Incoming, Shared};
use crate::endpoint::{Endpoint, Tag};
use crate::list::List;
use crate::openapi::parameters::document_id;
use crate::query::Query;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::list::<Passages>(Tag::Sources, "/v1/sources/{source_id}/passages")
        .named("listPassages", "List passages")
        .details("The passages of the most recently trained content, in order.")
        .query([document_id()])
}

/// A part of a document: the unit of search and citation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Passage)]
struct PassageView<'a> {
    /// The document that the passage is a part of.
    #[schema(value_type = String, pattern = "^doc_[0-9A-Za-z]{10}$")]
    document_id: Id<kind::Document>,
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

impl<'a> From<&'a StoredPassage> for PassageView<'a> {
    fn from(StoredPassage { document_id, passage }: &'a StoredPassage) -> Self {
        Self {
            document_id: *document_id,
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
    type Item = StoredPassage;
    type View<'a> = PassageView<'a>;
    /// The only document whose passages are listed.
    type Filter = Option<Id<kind::Document>>;
    const NAME: &'static str = "passages";

    fn filter(query: &Query) -> Result<Self::Filter, Error> {
        query.id("document_id")
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<SourcesRead>,
        incoming: &Incoming,
        document: Option<Id<kind::Document>>,
        page: PageRequest,
    ) -> Result<Page<StoredPassage>, Error> {
        app.sources.passages(caller.scope(), incoming.path_id()?, document, page).await
    }
}
