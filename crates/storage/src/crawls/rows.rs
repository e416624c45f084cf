//! Crawls and their pages as rows.

use cicerone_domain::Timestamp;
use cicerone_domain::crawl::{
    CrawlSoFar, FoundPage, KnownPage, PageReason, SeenPage, Validators, VisitedPage,
};
use cicerone_domain::source::{CrawledPage, CrawledPageStatus};
use diesel::prelude::*;

use crate::columns::{from_json, named, narrow, narrow_option, time, to_json, wide};
use crate::error::TransactionError;
use crate::schema::{crawl_pages, crawls};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = crawls)]
pub(super) struct CrawlRow {
    pub(super) source_id: String,
    pub(super) number: i64,
    pub(super) account_id: String,
    pub(super) job_id: String,
    pub(super) state: String,
    pub(super) began_at: i64,
}

/// A page as it is found.
#[derive(Insertable)]
#[diesel(table_name = crawl_pages, treat_none_as_default_value = false)]
pub(crate) struct PageRow {
    pub(super) source_id: String,
    pub(super) crawl: i64,
    pub(super) position: i64,
    pub(super) account_id: String,
    pub(super) url: String,
    pub(super) depth: i64,
    #[diesel(embed)]
    pub(super) visit: VisitRow,
}

/// The outcome of a page's visit; without values if the page waits.
#[derive(Default, Insertable, AsChangeset)]
#[diesel(table_name = crawl_pages, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct VisitRow {
    status: Option<String>,
    title: Option<String>,
    character_count: Option<i64>,
    http_status: Option<i64>,
    reason_code: Option<String>,
    reason_detail: Option<String>,
    fetched_at: Option<i64>,
    etag: Option<String>,
    last_modified: Option<String>,
    content_hash: Option<Vec<u8>>,
    links: Option<String>,
    document: Option<i64>,
}

impl VisitRow {
    /// The columns of a visit whose text is the document at that position.
    pub(super) fn of(page: &VisitedPage, document: Option<i64>) -> Result<Self, TransactionError> {
        Ok(Self {
            status: Some(page.status.name().to_owned()),
            title: page.title.clone(),
            character_count: page.character_count.map(wide),
            http_status: page.http_status.map(i64::from),
            reason_code: page.reason.as_ref().map(|reason| reason.code().to_owned()),
            reason_detail: page.reason.as_ref().and_then(PageReason::detail),
            fetched_at: page.fetched_at.map(Timestamp::as_millis),
            etag: page.validators.etag.clone(),
            last_modified: page.validators.last_modified.clone(),
            content_hash: page.content_hash.map(|hash| hash.to_vec()),
            links: Some(to_json(&page.links)?),
            document,
        })
    }
}

/// A page of a crawl that is resumed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = crawl_pages)]
pub(super) struct SeenRow {
    url: String,
    depth: i64,
    status: Option<String>,
    reason_code: Option<String>,
    reason_detail: Option<String>,
    content_hash: Option<Vec<u8>>,
}

impl SeenRow {
    /// Adds the page to the waiting pages, or to the visited ones.
    pub(super) fn join(self, crawl: &mut CrawlSoFar) -> Result<(), TransactionError> {
        match self.status {
            None => {
                let depth = narrow("crawl_pages.depth", self.depth)?;
                crawl.waiting.push(FoundPage { url: self.url, depth });
            }
            Some(status) => {
                let reason = read_reason(self.reason_code, self.reason_detail)?;
                crawl.visited.push(SeenPage {
                    url: self.url,
                    status: read_status(&status)?,
                    content_hash: read_hash(self.content_hash)?,
                    is_redirect: reason.is_some_and(|reason| reason.is_redirect()),
                });
            }
        }
        Ok(())
    }
}

/// A page of a crawl that succeeded.
#[derive(Queryable, Selectable)]
#[diesel(table_name = crawl_pages)]
pub(super) struct KnownRow {
    url: String,
    status: Option<String>,
    title: Option<String>,
    character_count: Option<i64>,
    reason_code: Option<String>,
    reason_detail: Option<String>,
    etag: Option<String>,
    last_modified: Option<String>,
    content_hash: Option<Vec<u8>>,
    links: Option<String>,
    document: Option<i64>,
}

impl TryFrom<KnownRow> for KnownPage {
    type Error = TransactionError;

    fn try_from(row: KnownRow) -> Result<Self, TransactionError> {
        let links = row.links.as_deref().map(from_json).transpose()?;
        Ok(Self {
            url: row.url,
            validators: Validators { etag: row.etag, last_modified: row.last_modified },
            content_hash: read_hash(row.content_hash)?,
            links: links.unwrap_or_default(),
            title: row.title,
            character_count: narrow_option("crawl_pages.character_count", row.character_count)?,
            document: row.document,
            status: read_status(&row.status.unwrap_or_default())?,
            reason: read_reason(row.reason_code, row.reason_detail)?,
        })
    }
}

/// A page as it is listed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = crawl_pages)]
pub(super) struct ShownRow {
    position: i64,
    url: String,
    status: Option<String>,
    title: Option<String>,
    character_count: Option<i64>,
    http_status: Option<i64>,
    reason_code: Option<String>,
    reason_detail: Option<String>,
    fetched_at: Option<i64>,
}

impl TryFrom<ShownRow> for CrawledPage {
    type Error = TransactionError;

    fn try_from(row: ShownRow) -> Result<Self, TransactionError> {
        Ok(Self {
            position: row.position,
            url: row.url,
            status: read_status(&row.status.unwrap_or_default())?,
            title: row.title,
            character_count: narrow_option("crawl_pages.character_count", row.character_count)?,
            http_status: narrow_option("crawl_pages.http_status", row.http_status)?,
            reason: read_reason(row.reason_code, row.reason_detail)?,
            fetched_at: row.fetched_at.map(time),
        })
    }
}

fn read_status(name: &str) -> Result<CrawledPageStatus, TransactionError> {
    named("crawl_pages.status", name, CrawledPageStatus::from_name)
}

fn read_reason(
    code: Option<String>,
    detail: Option<String>,
) -> Result<Option<PageReason>, TransactionError> {
    let read = |code: &str| PageReason::from_parts(code, detail.clone());
    code.map(|code| named("crawl_pages.reason_code", &code, read)).transpose()
}

fn read_hash(bytes: Option<Vec<u8>>) -> Result<Option<[u8; 32]>, TransactionError> {
    bytes
        .map(<[u8; 32]>::try_from)
        .transpose()
        .map_err(|_| TransactionError::internal("a page's `content_hash` does not have 32 bytes"))
}
