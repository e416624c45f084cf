//! Work on runs: claims, results, and the end.

use cicerone_domain::check::{CheckResult, CheckRun, RunStatus, RunTrigger};
use cicerone_domain::id::kind;
use cicerone_domain::ports::{ClaimedRun, RunClaim, RunEnd, RunLease};
use cicerone_domain::source::SourceStatus;
use cicerone_domain::{Id, Timestamp, limits};
use diesel::prelude::*;

use super::rows::{HeldRunRow, RunRow};
use super::{PENDING, RUNNING, checks_of, tell};
use crate::columns::{id, to_json};
use crate::connection::{AnyConnection, note_value};
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
        if !waits(c, &row, claim.now)? {
            return take(c, claim, row);
        }
        let due = claim.now.plus_millis(limits::CHECK_DELAY_MILLIS).as_millis();
        diesel::update(check_runs::table.find(&row.id))
            .set(check_runs::due_at.eq(due))
            .execute(c)?;
        after = Some(account);
    }
    Ok(None)
}

/// Whether a run after a training waits, because other sources of the agent are still to be processed.
fn waits(
    c: &mut AnyConnection,
    row: &HeldRunRow,
    now: Timestamp,
) -> Result<bool, TransactionError> {
    let is_new = row.state == PENDING && row.cause == RunTrigger::Trained.name();
    if !is_new || now.as_millis() - row.created_at >= limits::CHECK_WAIT_MILLIS {
        return Ok(false);
    }
    let under_way = [SourceStatus::Pending.name(), SourceStatus::Processing.name()];
    let busy: Option<String> = sources::table
        .filter(sources::agent_id.eq(&row.agent_id))
        .filter(sources::removed_at.is_null())
        .filter(sources::status.eq_any(under_way))
        .select(sources::id)
        .first(c)
        .optional()?;
    Ok(busy.is_some())
}

/// Gives a run to the worker that claims it.
fn take(
    c: &mut AnyConnection,
    claim: &RunClaim,
    mut row: HeldRunRow,
) -> Result<Option<ClaimedRun>, TransactionError> {
    if !dialect::hold_agent(c, &row.agent_id)? {
        diesel::delete(check_runs::table.find(&row.id)).execute(c)?;
        return Ok(None);
    }
    row.lease_token = Some(claim.token.clone());
    row.due_at = claim.until.as_millis();
    row.attempts += 1;
    if row.checks.is_none() {
        let checks = checks_of(c, id("check_runs.agent_id", &row.agent_id)?)?;
        row.checks = Some(to_json(&checks)?);
        row.state = RUNNING.to_owned();
    }
    diesel::update(check_runs::table.find(&row.id)).set(&row).execute(c)?;
    let run = row.to_run()?;
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
    add(&mut row, results)?;
    row.lease_token = None;
    row.due_at = now.as_millis();
    row.attempts = 0;
    diesel::update(check_runs::table.find(&row.id)).set(&row).execute(c)?;
    Ok(())
}

/// Adds results to those of a row, and returns the run.
fn add(row: &mut HeldRunRow, results: &[CheckResult]) -> Result<CheckRun, TransactionError> {
    let mut run = row.to_run()?;
    run.results.extend_from_slice(results);
    row.results = to_json(&run.results)?;
    note_value(&row.results);
    row.count(&run);
    Ok(run)
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

/// Ends a run, and writes its event if there is something to tell.
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
    let (results, status, message) = match end {
        RunEnd::Done(results) => (results.as_slice(), RunStatus::Done, None),
        RunEnd::Failed(message) => ([].as_slice(), RunStatus::Failed, Some(message.clone())),
    };
    let mut run = add(&mut row, results)?;
    run.status = status;
    run.error_message.clone_from(&message);
    run.finished_at = Some(now);
    row.state = status.name().to_owned();
    row.error_message = message;
    row.finished_at = Some(now.as_millis());
    row.lease_token = None;
    row.checks = None;
    if status == RunStatus::Done {
        let before = last_done(c, &row.agent_id)?;
        if let Some(event) = run.event(before.as_ref(), event, now) {
            tell(c, &event)?;
        }
    }
    diesel::update(check_runs::table.find(&row.id)).set(&row).execute(c)?;
    Ok(Some(run))
}

/// The run of an agent that was done last, of those that were asked of its content.
fn last_done(c: &mut AnyConnection, agent: &str) -> Result<Option<CheckRun>, TransactionError> {
    let row: Option<RunRow> = check_runs::table
        .filter(check_runs::agent_id.eq(agent))
        .filter(check_runs::state.eq(RunStatus::Done.name()))
        .filter(check_runs::cause.ne(RunTrigger::Guard.name()))
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
