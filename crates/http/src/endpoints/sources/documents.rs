//! `GET /v1/sources/{source_id}/documents`

use cicerone_domain::content::Document;
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
    Endpoint::list::<Documents>(Tag::Sources, "/v1/sources/{source_id}/documents")
        .named("listDocuments", "List extracted documents")
        .details("The documents of the most recently trained content, in order.")
}

/// One unit of extracted content: a text, a file, a page or a pair.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Document)]
struct DocumentView<'a> {
    /// The URL of the page, if the source is a website; otherwise null.
    #[schema(required)]
    url: Option<&'a str>,
    /// The title; for a question/answer pair, the question.
    #[schema(required)]
    title: Option<&'a str>,
    /// The number of pages, if the format has pages.
    #[schema(required)]
    page_count: Option<u32>,
    character_count: usize,
    /// The extracted text; for a question/answer pair, the answer.
    text: &'a str,
}

impl<'a> From<&'a Document> for DocumentView<'a> {
    fn from(document: &'a Document) -> Self {
        let question = if document.is_pair { document.title.as_deref() } else { None };
        let question_chars = question.map_or(0, |question| question.chars().count());
        Self {
            url: document.url.as_deref(),
            title: document.title.as_deref(),
            page_count: document.page_count,
            character_count: question_chars + document.text.chars().count(),
            text: &document.text,
        }
    }
}

struct Documents;

impl List for Documents {
    type Permission = SourcesRead;
    type Item = Document;
    type View<'a> = DocumentView<'a>;
    type Filter = ();
    const NAME: &'static str = "documents";

    fn filter(_: &Query) -> Result<(), Error> {
        Ok(())
    }

    async fn page(
        app: &Shared,
        caller: &Authorized<SourcesRead>,
        incoming: &Incoming,
        (): (),
        page: PageRequest,
    ) -> Result<Page<Document>, Error> {
        app.sources.documents(caller.scope(), incoming.path_id()?, page).await
    }
}
