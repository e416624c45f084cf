//! Crawls of guarded sources: what they are compared by, and their end.

use cicerone_domain::check::{Check, Comparison};
use cicerone_domain::id::kind;
use cicerone_domain::job::Lease;
use cicerone_domain::{Id, Source, Timestamp};
use diesel::dsl::max;
use diesel::prelude::*;

use super::{RUNNING, finish, running};
use crate::checks;
use crate::connection::AnyConnection;
use crate::error::TransactionError;
use crate::jobs::{LEASED, fail, hold_lease};
use crate::schema::{crawl_pages, crawls, documents, jobs, sources};
use crate::sources::HeldSourceRow;

/// The number of the crawl of a source that a job is working on.
pub(crate) fn running_number(
    c: &mut AnyConnection,
    source: &str,
) -> Result<Option<i64>, TransactionError> {
    Ok(crawls::table
        .filter(crawls::source_id.eq(source))
        .filter(crawls::state.eq(RUNNING))
        .select(max(crawls::number))
        .get_result(c)?)
}

/// The checks that are to be compared before the crawl of a lease ends.
pub(super) fn guarding(
    c: &mut AnyConnection,
    lease: &Lease,
) -> Result<Vec<Check>, TransactionError> {
    // Without a lock, because this is read concurrently with the writer. The end of the crawl checks the lease again.
    let held: Option<HeldSourceRow> = jobs::table
        .inner_join(sources::table)
        .filter(jobs::id.eq(lease.job_id.to_string()))
        .filter(jobs::lease_token.eq(&lease.token))
        .filter(jobs::state.eq(LEASED))
        .select(HeldSourceRow::as_select())
        .get_result(c)
        .optional()?;
    let Some(source) = held.map(Source::try_from).transpose()? else { return Ok(Vec::new()) };
    if !source.guarded || !source.answers() {
        return Ok(Vec::new());
    }
    let number = running(c, lease)?;
    if !changes(c, &source, number)? {
        return Ok(Vec::new());
    }
    Ok(checks::checks_of(c, source.agent_id)?.into_vec())
}

/// Whether a crawl adds or removes documents.
fn changes(c: &mut AnyConnection, source: &Source, number: i64) -> Result<bool, TransactionError> {
    let id = source.id.to_string();
    let had = crawl_pages::table
        .filter(crawl_pages::source_id.eq(&id))
        .filter(crawl_pages::crawl.eq(number))
        .filter(crawl_pages::document.is_not_null())
        .select(crawl_pages::document.assume_not_null());
    let is_changed = documents::version.is_null().or(documents::position.ne_all(had));
    let changed: i64 = documents::table
        .filter(documents::source_id.eq(&id))
        .filter(is_changed)
        .count()
        .get_result(c)?;
    Ok(changed > 0)
}

/// Ends a crawl that was compared.
pub(super) fn finish_compared(
    c: &mut AnyConnection,
    lease: &Lease,
    title: Option<String>,
    comparison: Comparison,
    (event, checks_event): (Id<kind::Event>, Id<kind::Event>),
    now: Timestamp,
) -> Result<Option<Source>, TransactionError> {
    let ended = match comparison.refusal() {
        None => finish::finish(c, lease, title, event, now)?,
        Some(message) => match hold_lease(c, lease)? {
            Some(source) => {
                let job = lease.job_id.to_string();
                Some(fail(c, &job, source, message, event, now)?)
            }
            None => None,
        },
    };
    if let Some(source) = &ended {
        checks::record_comparison(c, source, comparison, checks_event, now)?;
    }
    Ok(ended)
}
