//! What was extracted from a source: documents, passages, and the pages of a crawl.

use cicerone_domain::content::{Document, Extracted, Passage};
use cicerone_domain::id::kind;
use cicerone_domain::source::{CrawledPage, CrawledPageStatus};
use cicerone_domain::{Id, Page, PageRequest, Position, Source};
use diesel::prelude::*;

use crate::columns::{named, narrow_option, time};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::Failure;
use crate::pages::{lookahead, numbered_after};
use crate::schema::{documents, passages, source_pages};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = documents, treat_none_as_default_value = false)]
pub(crate) struct DocumentRow {
    source_id: String,
    position: i64,
    account_id: String,
    url: Option<String>,
    title: Option<String>,
    page_count: Option<i64>,
    text: String,
    is_pair: bool,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = passages, treat_none_as_default_value = false)]
pub(crate) struct PassageRow {
    source_id: String,
    position: i64,
    account_id: String,
    title: Option<String>,
    heading: Option<String>,
    url: Option<String>,
    page: Option<i64>,
    text: String,
    is_pair: bool,
    language: Option<String>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = source_pages)]
struct PageRow {
    position: i64,
    url: String,
    status: String,
    title: Option<String>,
    character_count: Option<i64>,
    http_status: Option<i64>,
    reason: Option<String>,
    fetched_at: Option<i64>,
}

impl TryFrom<DocumentRow> for Document {
    type Error = Failure;

    fn try_from(row: DocumentRow) -> Result<Self, Failure> {
        Ok(Self {
            position: row.position,
            url: row.url,
            title: row.title,
            page_count: narrow_option("documents.page_count", row.page_count)?,
            text: row.text,
            is_pair: row.is_pair,
        })
    }
}

impl TryFrom<PassageRow> for Passage {
    type Error = Failure;

    fn try_from(row: PassageRow) -> Result<Self, Failure> {
        Ok(Self {
            position: row.position,
            title: row.title,
            heading: row.heading,
            url: row.url,
            page: narrow_option("passages.page", row.page)?,
            text: row.text,
            is_pair: row.is_pair,
            language: row.language,
        })
    }
}

impl TryFrom<PageRow> for CrawledPage {
    type Error = Failure;

    fn try_from(row: PageRow) -> Result<Self, Failure> {
        Ok(Self {
            position: row.position,
            url: row.url,
            status: named("source_pages.status", &row.status, CrawledPageStatus::from_name)?,
            title: row.title,
            character_count: narrow_option("source_pages.character_count", row.character_count)?,
            http_status: narrow_option("source_pages.http_status", row.http_status)?,
            reason: row.reason,
            fetched_at: row.fetched_at.map(time),
        })
    }
}

/// Puts what was extracted in the place of what was there.
pub(crate) fn replace(
    c: &mut AnyConnection,
    source: &Source,
    extracted: &Extracted,
) -> Result<(), Failure> {
    let (source_id, account_id) = (source.id.to_string(), source.account_id.to_string());
    diesel::delete(documents::table.filter(documents::source_id.eq(&source_id))).execute(c)?;
    diesel::delete(passages::table.filter(passages::source_id.eq(&source_id))).execute(c)?;
    let rows: Vec<_> = extracted
        .documents
        .iter()
        .map(|document| DocumentRow {
            source_id: source_id.clone(),
            position: document.position,
            account_id: account_id.clone(),
            url: document.url.clone(),
            title: document.title.clone(),
            page_count: document.page_count.map(i64::from),
            text: document.text.clone(),
            is_pair: document.is_pair,
        })
        .collect();
    dialect::insert_documents(c, &rows)?;
    let rows: Vec<_> = extracted
        .passages
        .iter()
        .map(|passage| PassageRow {
            source_id: source_id.clone(),
            position: passage.position,
            account_id: account_id.clone(),
            title: passage.title.clone(),
            heading: passage.heading.clone(),
            url: passage.url.clone(),
            page: passage.page.map(i64::from),
            text: passage.text.clone(),
            is_pair: passage.is_pair,
            language: passage.language.clone(),
        })
        .collect();
    dialect::insert_passages(c, &rows)?;
    Ok(())
}

/// A page of a source's documents. The source is known to lie in the scope.
pub(super) fn documents(
    c: &mut AnyConnection,
    source: Id<kind::Source>,
    page: &PageRequest,
) -> Result<Page<Document>, Failure> {
    let items: Result<Vec<Document>, _> = documents::table
        .filter(documents::source_id.eq(source.to_string()))
        .filter(documents::position.gt(numbered_after(page)?))
        .order(documents::position)
        .limit(lookahead(page))
        .select(DocumentRow::as_select())
        .load(c)?
        .into_iter()
        .map(Document::try_from)
        .collect();
    Ok(Page::from_lookahead(items?, page.size, |item| Position::Numbered(item.position)))
}

/// A page of a source's passages. The source is known to lie in the scope.
pub(super) fn passages(
    c: &mut AnyConnection,
    source: Id<kind::Source>,
    page: &PageRequest,
) -> Result<Page<Passage>, Failure> {
    let items: Result<Vec<Passage>, _> = passages::table
        .filter(passages::source_id.eq(source.to_string()))
        .filter(passages::position.gt(numbered_after(page)?))
        .order(passages::position)
        .limit(lookahead(page))
        .select(PassageRow::as_select())
        .load(c)?
        .into_iter()
        .map(Passage::try_from)
        .collect();
    Ok(Page::from_lookahead(items?, page.size, |item| Position::Numbered(item.position)))
}

/// A page of the pages of a source's last crawl. The source is known to lie in the scope.
pub(super) fn pages(
    c: &mut AnyConnection,
    source: Id<kind::Source>,
    page: &PageRequest,
) -> Result<Page<CrawledPage>, Failure> {
    let items: Result<Vec<CrawledPage>, _> = source_pages::table
        .filter(source_pages::source_id.eq(source.to_string()))
        .filter(source_pages::position.gt(numbered_after(page)?))
        .order(source_pages::position)
        .limit(lookahead(page))
        .select(PageRow::as_select())
        .load(c)?
        .into_iter()
        .map(CrawledPage::try_from)
        .collect();
    Ok(Page::from_lookahead(items?, page.size, |item| Position::Numbered(item.position)))
}
