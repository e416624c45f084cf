//! The end of a crawl.

use cicerone_domain::id::kind;
use cicerone_domain::job::Lease;
use cicerone_domain::source::{Losses, PartialReading, Trained};
use cicerone_domain::{Id, Source, Timestamp};
use diesel::prelude::*;

use super::{FAILED, RUNNING, SUCCEEDED, running};
use crate::agents::raise_generation;
use crate::columns::{narrow, wide};
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::jobs::{end, hold_lease};
use crate::schema::{crawl_pages, crawls, documents};
use crate::sources::{read_warnings, unseen};

/// Documents whose warnings are read at a time, each at most some kilobytes.
const WARNINGS_AT_ONCE: usize = 100;

/// Replaces the last crawl with that of a lease that is still valid.
pub(super) fn finish(
    c: &mut AnyConnection,
    lease: &Lease,
    title: Option<String>,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Option<Source>, TransactionError> {
    let Some(source) = hold_lease(c, lease)? else { return Ok(None) };
    let number = running(c, lease)?;
    let source_id = source.id.to_string();
    let title = match title {
        Some(title) => Some(title),
        None => first_title(c, &source_id, number)?,
    };
    let changed = hide_gone(c, &source_id, number)? + count_new(c, &source_id, number)?;
    let version = match source.unchanged_version(changed, title.as_deref()) {
        Some(version) => version,
        None => {
            let generation = raise_generation(c, &source.agent_id.to_string())?;
            let new =
                unseen(&source_id).filter(documents::position.eq_any(had(&source_id, number)));
            diesel::update(new).set(documents::version.eq(generation)).execute(c)?;
            narrow("agents.index_generation", generation)?
        }
    };
    succeed(c, &source_id, number)?;
    let character_count = character_count(c, &source_id)?;
    let partial = partial(c, &source_id)?;
    let source = source.train(Trained { character_count, title, version, partial });
    end(c, &lease.job_id.to_string(), source, event, now).map(Some)
}

/// The title of the first page that has one: usually the start page.
fn first_title(
    c: &mut AnyConnection,
    source_id: &str,
    number: i64,
) -> Result<Option<String>, TransactionError> {
    Ok(crawl_pages::table
        .filter(crawl_pages::source_id.eq(source_id))
        .filter(crawl_pages::crawl.eq(number))
        .filter(crawl_pages::title.is_not_null())
        .order(crawl_pages::position)
        .select(crawl_pages::title.assume_not_null())
        .first(c)
        .optional()?)
}

/// Ends the crawl that a source's job began, if there is one. Its pages remain visible.
pub(crate) fn fail(c: &mut AnyConnection, source_id: &str) -> Result<(), TransactionError> {
    let running =
        crawls::table.filter(crawls::source_id.eq(source_id)).filter(crawls::state.eq(RUNNING));
    diesel::update(running).set(crawls::state.eq(FAILED)).execute(c)?;
    Ok(())
}

/// The documents that pages of the crawl have.
#[diesel::dsl::auto_type(no_type_alias)]
fn had<'a>(source_id: &'a str, number: i64) -> _ {
    crawl_pages::table
        .filter(crawl_pages::source_id.eq(source_id))
        .filter(crawl_pages::crawl.eq(number))
        .filter(crawl_pages::document.is_not_null())
        .select(crawl_pages::document.assume_not_null())
}

/// How many documents the crawl has added.
fn count_new(
    c: &mut AnyConnection,
    source_id: &str,
    number: i64,
) -> Result<usize, TransactionError> {
    let new = unseen(source_id).filter(documents::position.eq_any(had(source_id, number)));
    let count: i64 = new.count().get_result(c)?;
    narrow("count", count)
}

/// Hides the documents that belong to no page of the crawl, and returns how many. They are removed after this
/// transaction (see [`crate::leftovers`]).
fn hide_gone(
    c: &mut AnyConnection,
    source_id: &str,
    number: i64,
) -> Result<usize, TransactionError> {
    let gone = documents::table
        .filter(documents::source_id.eq(source_id))
        .filter(documents::version.is_not_null())
        .filter(documents::position.ne_all(had(source_id, number)));
    Ok(diesel::update(gone).set(documents::version.eq(None::<i64>)).execute(c)?)
}

/// Leaves this crawl as the last one, with the pages that it visited. Those before it are removed after this transaction.
fn succeed(c: &mut AnyConnection, source_id: &str, number: i64) -> Result<(), TransactionError> {
    let waiting = crawl_pages::table
        .filter(crawl_pages::source_id.eq(source_id))
        .filter(crawl_pages::crawl.eq(number))
        .filter(crawl_pages::status.is_null());
    diesel::delete(waiting).execute(c)?;
    diesel::update(crawls::table.find((source_id, number)))
        .set(crawls::state.eq(SUCCEEDED))
        .execute(c)?;
    Ok(())
}

/// What is missing in the visible documents.
fn partial(
    c: &mut AnyConnection,
    source_id: &str,
) -> Result<Option<PartialReading>, TransactionError> {
    let mut losses = Losses::default();
    let mut after = -1;
    loop {
        let next: Vec<(i64, String)> = documents::table
            .filter(documents::source_id.eq(source_id))
            .filter(documents::position.gt(after))
            .filter(documents::version.is_not_null())
            .filter(documents::warnings.is_not_null())
            .order(documents::position)
            .limit(wide(WARNINGS_AT_ONCE))
            .select((documents::position, documents::warnings.assume_not_null()))
            .load(c)?;
        for (position, json) in &next {
            losses.add(&read_warnings(Some(json))?);
            after = *position;
        }
        if next.len() < WARNINGS_AT_ONCE {
            return Ok(losses.into_partial());
        }
    }
}

/// Characters of all visible documents.
fn character_count(c: &mut AnyConnection, source_id: &str) -> Result<u64, TransactionError> {
    let counts: Vec<i64> = documents::table
        .filter(documents::source_id.eq(source_id))
        .filter(documents::version.is_not_null())
        .select(documents::character_count)
        .load(c)?;
    narrow("documents.character_count", counts.into_iter().sum())
}
