//! Crawls: stored page by page while they run. A successful crawl replaces the previous one.
//!
//! The text of a page is written once, as documents without a version, which no query for callers finds.
//! The end of a crawl sets their version, and takes that of the documents that no page has any more, which are removed
//! afterwards.

mod finish;
mod guard;
mod record;
mod rows;

use async_trait::async_trait;
use cicerone_domain::check::{Check, Comparison};
use cicerone_domain::crawl::{CrawlSoFar, FoundPage, KnownPage, VisitedPage};
use cicerone_domain::id::kind;
use cicerone_domain::job::{Crashes, Lease};
use cicerone_domain::ports::CrawlStore;
use cicerone_domain::source::{CrawledPage, Progress};
use cicerone_domain::{Error, Id, Page, PageRequest, Source, Timestamp};
use diesel::dsl::max;
use diesel::prelude::*;

pub(crate) use finish::fail;
pub(crate) use guard::running_number;
pub(crate) use rows::PageRow;

use crate::bytes;
use crate::columns::{narrow, to_json};
use crate::connection::AnyConnection;
use crate::dialect::{self, Begin, transaction};
use crate::error::TransactionError;
use crate::jobs::LEASED;
use crate::leftovers::{self, Crawls};
use crate::pages::{Size, fitting, numbered_after, octet_length};
use crate::removal::Part;
use crate::schema::{crawl_pages, crawls, jobs, sources};
use crate::storage::Storage;
use rows::{CrawlRow, KnownRow, SeenRow, ShownRow};

/// A job is working on it.
const RUNNING: &str = "running";
/// Its pages are the source's pages.
pub(crate) const SUCCEEDED: &str = "succeeded";
/// Its pages are listed until another crawl begins.
const FAILED: &str = "failed";

#[async_trait]
impl CrawlStore for Storage {
    async fn begin_crawl(
        &self,
        lease: &Lease,
        now: Timestamp,
    ) -> Result<Option<CrawlSoFar>, Error> {
        loop {
            let lease = lease.clone();
            match self.db.write(move |c| begin(c, &lease, now)).await? {
                Begun::Lost => return Ok(None),
                Begun::NotYet => {}
                Begun::At(so_far) => return Ok(Some(so_far)),
            }
        }
    }

    async fn known_pages(&self, lease: &Lease) -> Result<Option<Vec<KnownPage>>, Error> {
        let lease = lease.clone();
        self.db.read(move |c| transaction(c, Begin::Snapshot, |c| known(c, &lease))).await
    }

    async fn record_pages(
        &self,
        lease: &Lease,
        visited: Vec<VisitedPage>,
        found: Vec<FoundPage>,
        progress: Progress,
    ) -> Result<bool, Error> {
        let lease = lease.clone();
        let quota = self.account_bytes;
        self.db
            .write(move |c| {
                let Some(source) = leased_source(c, &lease)? else { return Ok(false) };
                let crawl = running(c, &lease)?;
                let visited_first = record::record(c, &source, crawl, &visited, &found)?;
                bytes::recount(c, &source)?;
                bytes::check(c, quota, source.account_id, 0)?;
                set_progress(c, &source, progress)?;
                note_progress(c, &lease, visited_first)?;
                Ok(true)
            })
            .await
    }

    async fn finish_crawl(
        &self,
        lease: &Lease,
        title: Option<String>,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        let lease = lease.clone();
        let ended = self.db.write(move |c| finish::finish(c, &lease, title.clone(), event, now));
        let ended = ended.await?;
        if let Some(source) = &ended {
            self.remove_leftovers(source).await;
        }
        Ok(ended)
    }

    async fn guarding(&self, lease: &Lease) -> Result<Vec<Check>, Error> {
        let lease = lease.clone();
        self.db.read(move |c| transaction(c, Begin::Snapshot, |c| guard::guarding(c, &lease))).await
    }

    async fn finish_compared(
        &self,
        lease: &Lease,
        title: Option<String>,
        comparison: Comparison,
        events: (Id<kind::Event>, Id<kind::Event>),
        now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        let lease = lease.clone();
        let ended = self.db.write(move |c| {
            let (title, comparison) = (title.clone(), comparison.clone());
            guard::finish_compared(c, &lease, title, comparison, events, now)
        });
        let ended = ended.await?;
        if let Some(source) = &ended {
            self.remove_leftovers(source).await;
        }
        Ok(ended)
    }
}

/// Resets the count of crashes if this many new pages count as progress.
fn note_progress(
    c: &mut AnyConnection,
    lease: &Lease,
    visited_first: usize,
) -> Result<(), TransactionError> {
    let before = crashes(c, lease)?;
    let after = before.after_progress(visited_first);
    if after != before {
        diesel::update(jobs::table.find(lease.job_id.to_string()))
            .set(jobs::crashes.eq(i64::from(after.in_a_row)))
            .execute(c)?;
    }
    Ok(())
}

/// How often workers crashed on the lease's job.
fn crashes(c: &mut AnyConnection, lease: &Lease) -> Result<Crashes, TransactionError> {
    let (in_a_row, in_all): (i64, i64) = jobs::table
        .find(lease.job_id.to_string())
        .select((jobs::crashes, jobs::crashes_in_all))
        .get_result(c)?;
    Ok(Crashes {
        in_a_row: narrow("jobs.crashes", in_a_row)?,
        in_all: narrow("jobs.crashes_in_all", in_all)?,
    })
}

/// The source of a lease that is still valid. Locks its row and the job's.
fn leased_source(c: &mut AnyConnection, lease: &Lease) -> Result<Option<Source>, TransactionError> {
    let found = dialect::leased_job(c, &lease.job_id.to_string(), &lease.token)?;
    found.map(|(_, source)| Source::try_from(source)).transpose()
}

/// The number of the crawl that the lease's job began.
fn running(c: &mut AnyConnection, lease: &Lease) -> Result<i64, TransactionError> {
    let crawl = running_row(c, lease)?;
    crawl
        .map(|row| row.number)
        .ok_or_else(|| TransactionError::internal("the job has not begun its crawl"))
}

fn running_row(c: &mut AnyConnection, lease: &Lease) -> Result<Option<CrawlRow>, TransactionError> {
    Ok(crawls::table
        .filter(crawls::source_id.eq(lease.source_id.to_string()))
        .filter(crawls::job_id.eq(lease.job_id.to_string()))
        .filter(crawls::state.eq(RUNNING))
        .select(CrawlRow::as_select())
        .get_result(c)
        .optional()?)
}

/// The outcome of beginning a crawl.
enum Begun {
    /// The lease is no longer held.
    Lost,
    /// A part of what is discarded was removed, and more is left.
    NotYet,
    At(CrawlSoFar),
}

fn begin(c: &mut AnyConnection, lease: &Lease, now: Timestamp) -> Result<Begun, TransactionError> {
    let Some(source) = leased_source(c, lease)? else { return Ok(Begun::Lost) };
    if let Some(crawl) = running_row(c, lease)? {
        let crashes = crashes(c, lease)?.in_a_row;
        let mut so_far = CrawlSoFar { crashes, ..CrawlSoFar::default() };
        for row in seen(c, &crawl)? {
            row.join(&mut so_far)?;
        }
        return Ok(Begun::At(so_far));
    }
    // Another job's unfinished crawl is discarded: all pages are visited again.
    let source_id = source.id.to_string();
    if !leftovers::delete(c, &source_id, Crawls::Unfinished, &mut Part::new())? {
        return Ok(Begun::NotYet);
    }
    let number = last_number(c, &source_id)?.map_or(0, |number| number + 1);
    let crawl = CrawlRow {
        source_id,
        number,
        account_id: source.account_id.to_string(),
        job_id: lease.job_id.to_string(),
        state: RUNNING.to_owned(),
        began_at: now.as_millis(),
    };
    diesel::insert_into(crawls::table).values(&crawl).execute(c)?;
    set_progress(c, &source, Progress::default())?;
    Ok(Begun::At(CrawlSoFar::default()))
}

/// The pages of a running crawl, in the order in which they were found.
fn seen(c: &mut AnyConnection, crawl: &CrawlRow) -> Result<Vec<SeenRow>, TransactionError> {
    Ok(crawl_pages::table
        .filter(crawl_pages::source_id.eq(&crawl.source_id))
        .filter(crawl_pages::crawl.eq(crawl.number))
        .order(crawl_pages::position)
        .select(SeenRow::as_select())
        .load(c)?)
}

fn set_progress(
    c: &mut AnyConnection,
    source: &Source,
    progress: Progress,
) -> Result<(), TransactionError> {
    diesel::update(sources::table.find(source.id.to_string()))
        .set(sources::progress.eq(to_json(&progress)?))
        .execute(c)?;
    Ok(())
}

fn last_number(c: &mut AnyConnection, source: &str) -> Result<Option<i64>, TransactionError> {
    Ok(crawls::table
        .filter(crawls::source_id.eq(source))
        .select(max(crawls::number))
        .get_result(c)?)
}

fn known(c: &mut AnyConnection, lease: &Lease) -> Result<Option<Vec<KnownPage>>, TransactionError> {
    let holds: i64 = jobs::table
        .filter(jobs::id.eq(lease.job_id.to_string()))
        .filter(jobs::lease_token.eq(&lease.token))
        .filter(jobs::state.eq(LEASED))
        .count()
        .get_result(c)?;
    if holds == 0 {
        return Ok(None);
    }
    let source = lease.source_id.to_string();
    let succeeded: Option<i64> = crawls::table
        .filter(crawls::source_id.eq(&source))
        .filter(crawls::state.eq(SUCCEEDED))
        .select(max(crawls::number))
        .get_result(c)?;
    let Some(number) = succeeded else { return Ok(Some(Vec::new())) };
    crawl_pages::table
        .filter(crawl_pages::source_id.eq(&source))
        .filter(crawl_pages::crawl.eq(number))
        .order(crawl_pages::position)
        .select(KnownRow::as_select())
        .load(c)?
        .into_iter()
        .map(KnownPage::try_from)
        .collect::<Result<_, _>>()
        .map(Some)
}

/// A page of the list of pages that a source's last crawl visited. The caller has checked that the
/// source is in the scope.
pub(crate) fn pages(
    c: &mut AnyConnection,
    source: Id<kind::Source>,
    page: &PageRequest,
) -> Result<Page<CrawledPage>, TransactionError> {
    let source = source.to_string();
    // During a crawl, and after a failed one, the last crawl is not the last successful one.
    let number = last_number(c, &source)?.unwrap_or_default();
    let begin = numbered_after(page)?;
    let query = || {
        crawl_pages::table
            .filter(crawl_pages::source_id.eq(&source))
            .filter(crawl_pages::crawl.eq(number))
            .filter(crawl_pages::status.is_not_null())
            .filter(crawl_pages::position.gt(begin))
            .order(crawl_pages::position)
    };
    let sizes: Vec<(Size, Size, Size)> = query()
        .limit(page.lookahead())
        .select((
            octet_length(crawl_pages::url.nullable()),
            octet_length(crawl_pages::title),
            octet_length(crawl_pages::reason_detail),
        ))
        .load(c)?;
    let sizes: Vec<_> = sizes.into_iter().map(<[Size; 3]>::from).collect();
    let fit = fitting(page, &sizes);
    let rows = query().limit(fit.count).select(ShownRow::as_select()).load(c)?;
    let items: Result<Vec<CrawledPage>, _> = rows.into_iter().map(CrawledPage::try_from).collect();
    Ok(Page::of(items?, fit.more))
}
