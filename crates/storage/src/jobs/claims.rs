//! The next job: that of the account with the fewest running ones, and of these the one that has
//! been due the longest. The rule is
//! [`ClaimableAccounts::turns`](cicerone_domain::job::ClaimableAccounts::turns).

use std::collections::HashMap;

use cicerone_domain::job::{Claimable, ClaimedJob, Lane, Lease};
use cicerone_domain::{Source, Timestamp};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::{JobRow, LEASED, QUEUED, request};
use crate::columns::{id, narrow, time};
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::jobs;
use crate::sources::update_state;

/// Jobs that are examined from the oldest on. If they do not decide whose turn it is, the accounts
/// are enumerated instead: one account may have queued thousands of jobs before all others.
const LOOKED_AT: usize = 200;
/// Accounts that are enumerated. If there are more, most of them are idle, and the oldest jobs of
/// idle accounts are looked up instead.
const ACCOUNTS: usize = 200;
/// Accounts that one claim tries, because other workers may have taken their jobs in the meantime.
const TRIED: usize = 8;

/// The accounts whose jobs come next, in order, at most [`TRIED`].
///
/// The cost depends on the number of waiting accounts, not on how much each of them has queued. If
/// both are large, the query also reads past the jobs of busy accounts.
pub(super) fn turns(
    c: &mut AnyConnection,
    which: Claimable,
    now: Timestamp,
) -> Result<Vec<String>, TransactionError> {
    let running = running(c, which.lane)?;
    let count = |account: &String| running.get(account).copied().unwrap_or_default();
    let oldest = oldest(c, which.lane, now)?;
    let are_all = oldest.len() < LOOKED_AT;
    let mut waiting: Vec<String> = Vec::new();
    for account in oldest {
        if !waiting.contains(&account) {
            waiting.push(account);
        }
    }
    if !are_all && waiting.iter().all(|account| count(account) > 0) {
        let accounts = each_account(c, which.lane)?;
        waiting = if accounts.len() < ACCOUNTS {
            let due = accounts.into_iter().filter(|account| account.due_at <= now.as_millis());
            due.map(|account| account.account_id).collect()
        } else {
            [oldest_of_idle(c, which.lane, now, running.keys())?, waiting].concat()
        };
    }
    let mut turns = which.accounts.turns(waiting, count);
    turns.truncate(TRIED);
    Ok(turns)
}

/// How many jobs of a lane each account has running, on all servers. There are at most as many rows
/// as workers.
fn running(c: &mut AnyConnection, lane: Lane) -> QueryResult<HashMap<String, u64>> {
    let rows: Vec<(String, i64)> = jobs::table
        .filter(jobs::state.eq(LEASED))
        .filter(jobs::lane.eq(lane.name()))
        .group_by(jobs::account_id)
        .select((jobs::account_id, diesel::dsl::count_star()))
        .load(c)?;
    let counts = rows.into_iter();
    Ok(counts.map(|(account, count)| (account, u64::try_from(count).unwrap_or_default())).collect())
}

/// The accounts of the jobs that have been due the longest.
fn oldest(c: &mut AnyConnection, lane: Lane, now: Timestamp) -> QueryResult<Vec<String>> {
    jobs::table
        .filter(jobs::state.eq(QUEUED))
        .filter(jobs::lane.eq(lane.name()))
        .filter(jobs::due_at.le(now.as_millis()))
        .order((jobs::due_at, jobs::queued_at, jobs::id))
        .limit(i64::try_from(LOOKED_AT).unwrap_or(i64::MAX))
        .select(jobs::account_id)
        .load(c)
}

/// The accounts of the jobs that have been due the longest, without those of `busy` accounts.
fn oldest_of_idle<'a>(
    c: &mut AnyConnection,
    lane: Lane,
    now: Timestamp,
    busy: impl Iterator<Item = &'a String>,
) -> QueryResult<Vec<String>> {
    let mut accounts: Vec<String> = jobs::table
        .filter(jobs::state.eq(QUEUED))
        .filter(jobs::lane.eq(lane.name()))
        .filter(jobs::due_at.le(now.as_millis()))
        .filter(jobs::account_id.ne_all(busy.cloned().collect::<Vec<_>>()))
        .order((jobs::due_at, jobs::queued_at, jobs::id))
        .limit(i64::try_from(TRIED).unwrap_or(i64::MAX))
        .select(jobs::account_id)
        .load(c)?;
    accounts.dedup();
    Ok(accounts)
}

/// An account with queued jobs, and when the oldest of them is due.
#[derive(QueryableByName)]
struct Account {
    #[diesel(sql_type = Text)]
    account_id: String,
    #[diesel(sql_type = BigInt)]
    due_at: i64,
}

/// The accounts with queued jobs, at most [`ACCOUNTS`], in the order of their oldest jobs. The
/// query enters the index twice for each account and skips its other jobs.
fn each_account(c: &mut AnyConnection, lane: Lane) -> QueryResult<Vec<Account>> {
    // Both values are from the program itself, and the databases have different placeholders.
    let queued = format!("state = '{QUEUED}' AND lane = '{}'", lane.name());
    let sql = format!(
        "WITH RECURSIVE waiting (account_id, number) AS (
            SELECT min(account_id), 1 FROM jobs WHERE {queued}
            UNION ALL
            SELECT (SELECT min(jobs.account_id) FROM jobs
                    WHERE {queued} AND jobs.account_id > waiting.account_id), number + 1
            FROM waiting WHERE waiting.account_id IS NOT NULL AND number < {ACCOUNTS}
        )
        SELECT account_id, (SELECT min(jobs.due_at) FROM jobs
                            WHERE {queued} AND jobs.account_id = waiting.account_id) AS due_at
        FROM waiting WHERE account_id IS NOT NULL ORDER BY due_at, account_id"
    );
    dialect::load_sql(c, &sql)
}

/// Claims the oldest due job of the first of these accounts that still has one.
pub(super) fn claim(
    c: &mut AnyConnection,
    lane: Lane,
    turns: &[String],
    token: &str,
    now: Timestamp,
    until: Timestamp,
) -> Result<Option<ClaimedJob>, TransactionError> {
    for account in turns {
        let Some((job, source)) = dialect::next_job(c, lane, account, now.as_millis())? else {
            continue;
        };
        return lease(c, &job, Source::try_from(source)?, token, until).map(Some);
    }
    Ok(None)
}

/// Leases a job whose row is locked; its source goes to processing.
pub(super) fn lease(
    c: &mut AnyConnection,
    job: &JobRow,
    source: Source,
    token: &str,
    until: Timestamp,
) -> Result<ClaimedJob, TransactionError> {
    diesel::update(jobs::table.find(&job.id))
        .set((
            jobs::state.eq(LEASED),
            jobs::lease_token.eq(token),
            jobs::lease_until.eq(until.as_millis()),
        ))
        .execute(c)?;
    let source = source.begin_work();
    update_state(c, &source)?;
    claimed(job, source, token)
}

/// A job that was leased with this token.
pub(super) fn claimed(
    job: &JobRow,
    source: Source,
    token: &str,
) -> Result<ClaimedJob, TransactionError> {
    let lease =
        Lease { job_id: id("jobs.id", &job.id)?, source_id: source.id, token: token.to_owned() };
    let attempts = narrow("jobs.attempts", job.attempts)?;
    let request_id = request(job.request_id.as_deref())?;
    let queued_at = time(job.queued_at);
    Ok(ClaimedJob { lease, source, attempts, queued_at, request_id })
}
