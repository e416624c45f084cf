//! Work on runs: claims, results, and the end.

use cicerone_domain::check::{CheckResult, CheckRun, RunEnd, RunStatus, RunTrigger};
use cicerone_domain::id::kind;
use cicerone_domain::ports::{ClaimedRun, RunClaim, RunLease};
use cicerone_domain::source::SourceStatus;
use cicerone_domain::{Id, Timestamp};
use diesel::prelude::*;

use super::rows::{HeldRunRow, RunRow};
use super::{checks_of, publish_to_takers};
use crate::columns::to_json;
use crate::connection::AnyConnection;
use crate::dialect;
use crate::error::TransactionError;
use crate::schema::{check_runs, sources};

/// The account whose turn it is: the next one after `after`, in the order of ids, with a run that is due.
pub(super) fn next_account(
    c: &mut AnyConnection,
    after: Option<&str>,
    now: Timestamp,
) -> Result<Option<String>, TransactionError> {
    let mut next = |after: &str| {
        check_runs::table
            .filter(check_runs::finished_at.is_null())
            .filter(check_runs::account_id.gt(after))
            .filter(check_runs::due_at.le(now.as_millis()))
            .order(check_runs::account_id)
            .limit(1)
            .select(check_runs::account_id)
            .get_result::<String>(c)
            .optional()
    };
    match next(after.unwrap_or_default())? {
        None if after.is_some() => Ok(next("")?),
        found => Ok(found),
    }
}

/// Runs that are put off by one claim.
const PUT_OFF_AT_ONCE: usize = 100;

/// Claims the run that has been due the longest, of the account whose turn it is. A run whose agent is being deleted is
/// removed instead, and one that waits for other sources is put off.
pub(super) fn claim(
    c: &mut AnyConnection,
    claim: &RunClaim,
) -> Result<Option<ClaimedRun>, TransactionError> {
    let mut after = claim.after.map(|after| after.to_string());
    for _ in 0..PUT_OFF_AT_ONCE {
        let Some(account) = next_account(c, after.as_deref(), claim.now)? else { return Ok(None) };
        let found = dialect::next_check_run(c, &account, claim.now.as_millis())?;
        let Some(row) = found else { return Ok(None) };
        let run = row.to_run()?;
        let due = match run.waits_until(claim.now) {
            Some(due) if has_sources_under_way(c, run.agent_id)? => due,
            Some(_) | None => return take(c, claim, row, run),
        };
        diesel::update(check_runs::table.find(&row.id))
            .set(check_runs::due_at.eq(due.as_millis()))
            .execute(c)?;
        after = Some(account);
    }
    Ok(None)
}

fn has_sources_under_way(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
) -> Result<bool, TransactionError> {
    let under_way: Option<String> = sources::table
        .filter(sources::agent_id.eq(agent.to_string()))
        .filter(sources::removed_at.is_null())
        .filter(sources::status.eq_any(SourceStatus::UNDER_WAY.map(SourceStatus::name)))
        .select(sources::id)
        .first(c)
        .optional()?;
    Ok(under_way.is_some())
}

/// Gives a run to the worker that claims it.
fn take(
    c: &mut AnyConnection,
    claim: &RunClaim,
    mut row: HeldRunRow,
    run: CheckRun,
) -> Result<Option<ClaimedRun>, TransactionError> {
    if !dialect::hold_agent(c, &row.agent_id)? {
        diesel::delete(check_runs::table.find(&row.id)).execute(c)?;
        return Ok(None);
    }
    row.lease_token = Some(claim.token.clone());
    row.due_at = claim.until.as_millis();
    row.attempts += 1;
    if row.checks.is_none() {
        row.checks = Some(to_json(&checks_of(c, run.agent_id)?)?);
    }
    let run = run.begin();
    row.state = run.status.name().to_owned();
    diesel::update(check_runs::table.find(&row.id)).set(&row).execute(c)?;
    Ok(Some(ClaimedRun {
        lease: RunLease { run_id: run.id, token: claim.token.clone() },
        checks: row.copied_checks()?,
        attempts: row.attempts()?,
        run,
    }))
}

/// Extends a lease.
pub(super) fn extend(
    c: &mut AnyConnection,
    lease: &RunLease,
    until: Timestamp,
) -> Result<bool, TransactionError> {
    let held = check_runs::table
        .find(lease.run_id.to_string())
        .filter(check_runs::lease_token.eq(&lease.token))
        .filter(check_runs::finished_at.is_null());
    let count = diesel::update(held).set(check_runs::due_at.eq(until.as_millis())).execute(c)?;
    Ok(count == 1)
}

/// Adds results and releases the run.
pub(super) fn record(
    c: &mut AnyConnection,
    lease: &RunLease,
    results: &[CheckResult],
    now: Timestamp,
) -> Result<(), TransactionError> {
    let Some(mut row) = dialect::leased_check_run(c, &lease.run_id.to_string(), &lease.token)?
    else {
        return Ok(());
    };
    let run = row.to_run()?.record(results.to_vec());
    row.set(&run)?;
    row.lease_token = None;
    row.due_at = now.as_millis();
    row.attempts = 0;
    diesel::update(check_runs::table.find(&row.id)).set(&row).execute(c)?;
    Ok(())
}

/// Releases a run, to be claimed again at `at`.
pub(super) fn release(
    c: &mut AnyConnection,
    lease: &RunLease,
    at: Timestamp,
    counts: bool,
) -> Result<(), TransactionError> {
    let held = check_runs::table
        .find(lease.run_id.to_string())
        .filter(check_runs::lease_token.eq(&lease.token))
        .filter(check_runs::finished_at.is_null());
    diesel::update(held)
        .set((
            check_runs::lease_token.eq(None::<String>),
            check_runs::due_at.eq(at.as_millis()),
            check_runs::attempts.eq(check_runs::attempts - i64::from(!counts)),
        ))
        .execute(c)?;
    Ok(())
}

/// Ends a run, and publishes its event if it has one.
pub(super) fn end(
    c: &mut AnyConnection,
    lease: &RunLease,
    end: &RunEnd,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<Option<CheckRun>, TransactionError> {
    let found = dialect::leased_check_run(c, &lease.run_id.to_string(), &lease.token)?;
    let Some(mut row) = found else { return Ok(None) };
    if !dialect::hold_agent(c, &row.agent_id)? {
        return Ok(None);
    }
    let run = row.to_run()?.end(end.clone(), now);
    let before = last_done(c, &row.agent_id)?;
    if let Some(event) = run.event(before.as_ref(), event, now) {
        publish_to_takers(c, &event)?;
    }
    row.set(&run)?;
    row.lease_token = None;
    row.checks = None;
    diesel::update(check_runs::table.find(&row.id)).set(&row).execute(c)?;
    Ok(Some(run))
}

/// The run of an agent's present content that was done last.
fn last_done(c: &mut AnyConnection, agent: &str) -> Result<Option<CheckRun>, TransactionError> {
    let asked = RunTrigger::ALL.into_iter().filter(|trigger| trigger.asks_present_content());
    let row: Option<RunRow> = check_runs::table
        .filter(check_runs::agent_id.eq(agent))
        .filter(check_runs::state.eq(RunStatus::Done.name()))
        .filter(check_runs::cause.eq_any(asked.map(RunTrigger::name)))
        .order((check_runs::finished_at.desc(), check_runs::created_at.desc(), check_runs::id))
        .select(RunRow::as_select())
        .first(c)
        .optional()?;
    row.map(CheckRun::try_from).transpose()
}

/// Makes the runs free that a worker had. The claim counts as an attempt.
pub(crate) fn free_runs(c: &mut AnyConnection) -> Result<(), TransactionError> {
    let held = check_runs::table
        .filter(check_runs::finished_at.is_null())
        .filter(check_runs::lease_token.is_not_null());
    diesel::update(held)
        .set((check_runs::lease_token.eq(None::<String>), check_runs::due_at.eq(0)))
        .execute(c)?;
    Ok(())
}
