//! `GET /v1/sources/{source_id}/documents`

use cicerone_domain::content::{StoredDocument, Warning};
use cicerone_domain::{Error, Id, Page, PageRequest, kind};
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
        .details(
            "The documents of the most recently trained content, in order. `warnings` shows what is missing from the \
             text of a document.",
        )
}

/// One unit of extracted content: a text, a file, a page or a pair.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Document)]
pub(super) struct DocumentView<'a> {
    /// The id of the document. A page keeps it when its source is refreshed.
    #[schema(value_type = String, pattern = "^doc_[0-9A-Za-z]{10}$")]
    id: Id<kind::Document>,
    #[schema(value_type = String, pattern = "^src_[0-9A-Za-z]{10}$")]
    source_id: Id<kind::Source>,
    #[schema(value_type = String, pattern = "^agent_[0-9A-Za-z]{10}$")]
    agent_id: Id<kind::Agent>,
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
    /// The number of tables in the text; null if an earlier version of the server read the document.
    #[schema(required)]
    table_count: Option<u32>,
    /// What is missing or uncertain in the text, one entry per reason; empty if the document was read completely.
    warnings: Vec<WarningView<'a>>,
    /// The extracted text; for a question/answer pair, the answer.
    text: &'a str,
}

/// Why a part of a document is missing from its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Warning)]
struct WarningView<'a> {
    /// A stable name of the reason. More may be added.
    #[schema(examples(
        "damaged",
        "too_large",
        "unknown_characters",
        "scanned",
        "read_by_ocr",
        "ocr_failed",
        "beyond",
        "attachment"
    ))]
    code: &'static str,
    /// The reason, as a sentence.
    message: String,
    /// The affected pages, from 1, in order; empty if the reason is not about pages. All warnings of a document
    /// together list at most 1,000.
    pages: &'a [u32],
    /// The number of affected pages.
    page_count: u32,
}

impl<'a> From<&'a Warning> for WarningView<'a> {
    fn from(warning: &'a Warning) -> Self {
        Self {
            code: warning.reason.code(),
            message: warning.reason.to_string(),
            pages: &warning.pages,
            page_count: warning.page_count,
        }
    }
}

impl<'a> From<&'a StoredDocument> for DocumentView<'a> {
    fn from(stored: &'a StoredDocument) -> Self {
        let document = &stored.document;
        let question = if document.is_pair { document.title.as_deref() } else { None };
        let question_chars = question.map_or(0, |question| question.chars().count());
        Self {
            id: stored.id,
            source_id: stored.source_id,
            agent_id: stored.agent_id,
            url: document.url.as_deref(),
            title: document.title.as_deref(),
            page_count: document.page_count,
            character_count: question_chars + document.text.chars().count(),
            table_count: document.table_count,
            warnings: document.warnings.iter().map(WarningView::from).collect(),
            text: &document.text,
        }
    }
}

struct Documents;

impl List for Documents {
    type Permission = SourcesRead;
    type Item = StoredDocument;
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
    ) -> Result<Page<StoredDocument>, Error> {
        app.sources.documents(caller.scope(), incoming.path_id()?, page).await
    }
}
