//! Small jobs of one agent that are claimed, and ended, together.
//!
//! A text of a paragraph is extracted in less time than its claim and its outcome take to be committed, so an owner who
//! adds thousands of them would wait for the commits. A job that has crashed is claimed alone: if it is
//! what ends the process, it does not take others with it again.

use cicerone_domain::job::{ClaimedJob, Lane, Lease};
use cicerone_domain::{Id, Source, Timestamp, kind, limits};
use diesel::prelude::*;

use super::claims::lease;
use super::{LEASED, QUEUED, hold_lease, prepare, train};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{jobs, sources};
use crate::sources::{DocumentKey, Intake};

/// The jobs of an account that come next in the quick lane; none if the claimed one is not small, or has crashed.
pub(super) fn next(
    c: &mut AnyConnection,
    claimed: &Lease,
    account: Id<kind::Account>,
    now: Timestamp,
) -> Result<Vec<String>, TransactionError> {
    let is_alike: i64 = jobs::table
        .inner_join(sources::table)
        .filter(jobs::id.eq(claimed.job_id.to_string()))
        .filter(jobs::state.eq(LEASED))
        .filter(jobs::lane.eq(Lane::Quick.name()))
        .filter(jobs::crashes_in_all.eq(0))
        .filter(sources::stored_bytes.le(limits::SMALL_SOURCE_BYTES))
        .count()
        .get_result(c)?;
    if is_alike == 0 {
        return Ok(Vec::new());
    }
    let most = limits::JOBS_TOGETHER.saturating_sub(1);
    let next = jobs::table
        .filter(jobs::state.eq(QUEUED))
        .filter(jobs::lane.eq(Lane::Quick.name()))
        .filter(jobs::account_id.eq(account.to_string()))
        .filter(jobs::due_at.le(now.as_millis()))
        .order((jobs::due_at, jobs::queued_at, jobs::id))
        .limit(i64::try_from(most).unwrap_or(i64::MAX))
        .select(jobs::id)
        .load(c)?;
    Ok(next)
}

/// Claims those of these jobs that are still queued, have not crashed, and belong to small sources of an agent.
pub(super) fn claim(
    c: &mut AnyConnection,
    next: &[String],
    agent: Id<kind::Agent>,
    token: &str,
    until: Timestamp,
) -> Result<Vec<ClaimedJob>, TransactionError> {
    let found = dialect::small_jobs(c, next, &agent.to_string(), limits::SMALL_SOURCE_BYTES)?;
    let claimed = found.into_iter().map(|(job, source)| {
        let source = Source::try_from(source)?;
        lease(c, &job, source, token, until)
    });
    claimed.collect()
}

/// Stores what was extracted from sources of one agent, and ends their jobs. A lost lease gives `None`.
///
/// All rows of agents, sources and jobs are locked first, and the account's row after them: that is the order of all
/// transactions.
pub(super) fn finish(
    c: &mut AnyConnection,
    finished: &[(Lease, Intake, Id<kind::Event>)],
    quota: Option<u64>,
    now: Timestamp,
) -> Result<Vec<Option<Source>>, TransactionError> {
    let mut held = Vec::with_capacity(finished.len());
    for (lease, intake, event) in finished {
        held.push((lease, intake, event, hold_lease(c, lease)?));
    }
    let key = DocumentKey::read(c)?;
    let ended = held.into_iter().map(|(lease, intake, event, source)| {
        let Some(source) = source else { return Ok(None) };
        let mut stored = prepare(c, &key, &source, intake, quota)?.store_part(c, &source)?;
        while !stored.is_complete() {
            stored = stored.store_part(c, &source)?;
        }
        let job = lease.job_id.to_string();
        train(c, &job, source, intake.extracted(), quota, *event, now).map(Some)
    });
    ended.collect()
}
