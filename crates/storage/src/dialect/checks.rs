//! Statements about runs of checks.

use diesel::prelude::*;

use crate::checks::HeldRunRow;
use crate::connection::{AnyConnection, Either};
use crate::schema::check_runs;

/// The run of an account that has been due the longest. PostgreSQL locks its row and skips those that another server has
/// locked.
pub(crate) fn next_check_run(
    c: &mut AnyConnection,
    account: &str,
    now: i64,
) -> QueryResult<Option<HeldRunRow>> {
    let query = check_runs::table
        .filter(check_runs::finished_at.is_null())
        .filter(check_runs::account_id.eq(account))
        .filter(check_runs::due_at.le(now))
        .order((check_runs::due_at, check_runs::id))
        .limit(1);
    match c.either() {
        Either::Postgres(c) => {
            let query = query.select(HeldRunRow::as_select());
            query.for_update().skip_locked().get_result(c).optional()
        }
        Either::Sqlite(c) => query.select(HeldRunRow::as_select()).get_result(c).optional(),
    }
}

/// The run of a lease that is still valid; its row is locked.
pub(crate) fn leased_check_run(
    c: &mut AnyConnection,
    id: &str,
    token: &str,
) -> QueryResult<Option<HeldRunRow>> {
    let query = check_runs::table
        .filter(check_runs::id.eq(id))
        .filter(check_runs::lease_token.eq(token))
        .filter(check_runs::finished_at.is_null());
    match c.either() {
        Either::Postgres(c) => {
            query.select(HeldRunRow::as_select()).for_update().get_result(c).optional()
        }
        Either::Sqlite(c) => query.select(HeldRunRow::as_select()).get_result(c).optional(),
    }
}

/// The states of an agent's runs that have not ended. PostgreSQL locks their rows.
pub(crate) fn lock_open_runs(c: &mut AnyConnection, agent: &str) -> QueryResult<Vec<String>> {
    let query = check_runs::table
        .filter(check_runs::agent_id.eq(agent))
        .filter(check_runs::finished_at.is_null())
        .order(check_runs::id)
        .select(check_runs::state);
    match c.either() {
        Either::Postgres(c) => query.for_update().load(c),
        Either::Sqlite(c) => query.load(c),
    }
}

/// The results of a run, whose row is locked; `None` if there is no such run.
pub(crate) fn results_of_run(c: &mut AnyConnection, run: &str) -> QueryResult<Option<String>> {
    let query = check_runs::table.find(run).select(check_runs::results);
    match c.either() {
        Either::Postgres(c) => query.for_update().get_result(c).optional(),
        Either::Sqlite(c) => query.get_result(c).optional(),
    }
}
