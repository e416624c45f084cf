//! Checks of agents, and the runs that ask them.
//!
//! A run has a lease while a worker asks some of its checks. Then the results are recorded, and the run waits for its next
//! turn, so a crash repeats only the checks that were being asked.

mod guard;
mod rows;
mod work;

use async_trait::async_trait;
use cicerone_domain::check::{AgentChecks, CheckList, CheckResult, CheckRun, RunEnd, RunStatus};
use cicerone_domain::event::Event;
use cicerone_domain::id::kind;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::ports::{CheckStore, ClaimedRun, RunClaim, RunLease};
use cicerone_domain::{Error, Id, Page, PageRequest, Scope, Source, Timestamp, limits};
use diesel::dsl::{count_star, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;

use crate::agents;
use crate::columns::{from_json, named, to_json, wide};
use crate::connection::{AnyConnection, note_value};
use crate::dialect;
use crate::error::TransactionError;
use crate::events;
use crate::pages::{Size, created_before, fitting, octet_length};
use crate::removal::Part;
use crate::schema::{agent_checks, check_runs, sources};
use crate::scope::Visible;
use crate::storage::Storage;

pub(crate) use guard::record_comparison;
pub(crate) use rows::HeldRunRow;
use rows::{ChecksRow, RunRow};
pub(crate) use work::free_runs;

#[async_trait]
impl CheckStore for Storage {
    async fn replace_checks(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        checks: CheckList,
        now: Timestamp,
    ) -> Result<AgentChecks, Error> {
        let visible = Visible::from(scope);
        let db = self.db.of(scope.account);
        db.write(move |c| {
            agents::require_locked(c, &visible, agent)?;
            replace(c, &visible, agent, &checks, now)?;
            let last_run = last_run(c, agent)?;
            Ok(AgentChecks { checks: checks.clone(), last_run })
        })
        .await
    }

    async fn find_checks(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
    ) -> Result<AgentChecks, Error> {
        let visible = Visible::from(scope);
        let db = self.db.of(scope.account);
        db.read(move |c| {
            agents::require(c, &visible, agent)?;
            Ok(AgentChecks { checks: checks_of(c, agent)?, last_run: last_run(c, agent)? })
        })
        .await
    }

    async fn start_run(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        id: Id<kind::CheckRun>,
        now: Timestamp,
        completion: Option<Completion<CheckRun>>,
    ) -> Result<CheckRun, Error> {
        let visible = Visible::from(scope);
        let db = self.db.of(scope.account);
        db.write_completing(completion, move |c| {
            let found = agents::require_locked(c, &visible, agent)?;
            let (has_checks, open) = (has_checks(c, agent)?, open_runs(c, agent)?);
            let of = (found.account_id, agent);
            let run = CheckRun::requested(id, of, (has_checks, &open), now)?;
            insert(c, &run)?;
            Ok(run)
        })
        .await
    }

    async fn list_runs(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        page: PageRequest,
    ) -> Result<Page<CheckRun>, Error> {
        let visible = Visible::from(scope);
        self.db.of(scope.account).read(move |c| list(c, &visible, agent, &page)).await
    }

    async fn claim_run(&self, claim: RunClaim) -> Result<Option<ClaimedRun>, Error> {
        // Most calls find nothing, and a read does not disturb the writer.
        let (after, now) = (claim.after.map(|after| after.to_string()), claim.now);
        let waiting = self.db.lookup(move |c| work::next_account(c, after.as_deref(), now)).await?;
        if waiting.is_none() {
            return Ok(None);
        }
        self.db.write(move |c| work::claim(c, &claim)).await
    }

    async fn extend_run(&self, lease: &RunLease, until: Timestamp) -> Result<bool, Error> {
        let lease = lease.clone();
        self.db.write(move |c| work::extend(c, &lease, until)).await
    }

    async fn record_results(
        &self,
        lease: &RunLease,
        results: Vec<CheckResult>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let lease = lease.clone();
        self.db.write(move |c| work::record(c, &lease, &results, now)).await
    }

    async fn release_run(
        &self,
        lease: &RunLease,
        at: Timestamp,
        counts: bool,
    ) -> Result<(), Error> {
        let lease = lease.clone();
        self.db.write(move |c| work::release(c, &lease, at, counts)).await
    }

    async fn end_run(
        &self,
        lease: &RunLease,
        end: RunEnd,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<CheckRun>, Error> {
        let lease = lease.clone();
        self.db.write(move |c| work::end(c, &lease, &end, event, now)).await
    }

    async fn open_runs(&self) -> Result<u64, Error> {
        self.db
            .read(|c| {
                let open = check_runs::table.filter(check_runs::finished_at.is_null());
                let count: i64 = open.select(count_star()).get_result(c)?;
                Ok(u64::try_from(count).unwrap_or_default())
            })
            .await
    }
}

impl Storage {
    /// Frees all runs of checks, including those that another process had claimed. Call it only if no other process
    /// runs.
    pub async fn take_back_check_runs(&self) -> Result<(), Error> {
        self.db.write(free_runs).await
    }
}

/// Queues a run after the processing of a source, if [`CheckRun::after_processing`] gives one. The caller holds the lock of
/// the agent. The id of the run is derived from that of the event.
///
/// On PostgreSQL, a run that waits for its turn is locked: if another server began it before this transaction ends, it would
/// ask the old content, and no run the new.
pub(crate) fn expect(
    c: &mut AnyConnection,
    source: &Source,
    event: Id<kind::Event>,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let (has_checks, open) = (has_checks(c, source.agent_id)?, open_runs(c, source.agent_id)?);
    let id = Id::derived(&[&event.to_string(), "run"]);
    let run = CheckRun::after_processing(id, source, (has_checks, &open), now);
    run.map_or(Ok(()), |run| insert(c, &run))
}

/// Whether an agent has checks, without reading them.
fn has_checks(c: &mut AnyConnection, agent: Id<kind::Agent>) -> Result<bool, TransactionError> {
    let stored: Option<String> = agent_checks::table
        .find(agent.to_string())
        .filter(agent_checks::checks.ne("[]"))
        .select(agent_checks::agent_id)
        .get_result(c)
        .optional()?;
    Ok(stored.is_some())
}

/// The statuses of an agent's runs that have not ended; their rows are locked.
fn open_runs(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
) -> Result<Vec<RunStatus>, TransactionError> {
    let open = dialect::lock_open_runs(c, &agent.to_string())?;
    open.iter().map(|state| named("check_runs.state", state, RunStatus::from_name)).collect()
}

fn replace(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    checks: &CheckList,
    now: Timestamp,
) -> Result<(), TransactionError> {
    let row = ChecksRow {
        agent_id: agent.to_string(),
        account_id: visible.account.clone(),
        checks: to_json(checks)?,
        updated_at: now.as_millis(),
    };
    note_value(&row.checks);
    // The agent is locked, so nobody adds the row between the two statements.
    let count = diesel::update(agent_checks::table.find(&row.agent_id)).set(&row).execute(c)?;
    if count == 0 {
        diesel::insert_into(agent_checks::table).values(row).execute(c)?;
    }
    Ok(())
}

pub(crate) fn checks_of(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
) -> Result<CheckList, TransactionError> {
    let stored: Option<String> = agent_checks::table
        .find(agent.to_string())
        .select(agent_checks::checks)
        .get_result(c)
        .optional()?;
    let Some(checks) = stored else { return Ok(CheckList::default()) };
    note_value(&checks);
    from_json(&checks)
}

fn last_run(
    c: &mut AnyConnection,
    agent: Id<kind::Agent>,
) -> Result<Option<CheckRun>, TransactionError> {
    let row: Option<RunRow> = check_runs::table
        .filter(check_runs::agent_id.eq(agent.to_string()))
        .order((check_runs::created_at.desc(), check_runs::id.desc()))
        .select(RunRow::as_select())
        .first(c)
        .optional()?;
    row.map(CheckRun::try_from).transpose()
}

/// Adds a run, and removes the oldest ended ones beyond [`limits::CHECK_RUNS`].
fn insert(c: &mut AnyConnection, run: &CheckRun) -> Result<(), TransactionError> {
    diesel::insert_into(check_runs::table).values(HeldRunRow::new(run)?).execute(c)?;
    remove_old(c, run)
}

/// True if the results of a run contain a reply that is not empty. A quotation mark within a text has a backslash before
/// it, so that no text is taken for the name of the field.
const HAS_REPLIES: &str = r#"replace(check_runs.results, '"reply":""', '') LIKE '%"reply":"%'"#;

/// Removes the texts of the replies from the results of runs of a source's agent, because they may contain text of the
/// source, which is being deleted. Returns true if none are left.
pub(crate) fn erase_replies(
    c: &mut AnyConnection,
    source: &str,
    part: &mut Part,
) -> Result<bool, TransactionError> {
    let agent = sources::table.find(source).select(sources::agent_id);
    let runs: Vec<(String, Size)> = check_runs::table
        .filter(check_runs::agent_id.eq_any(agent))
        .filter(sql::<Bool>(HAS_REPLIES))
        .limit(part.limit())
        .select((check_runs::id, octet_length(check_runs::results.nullable())))
        .load(c)?;
    for run in part.take_each(runs) {
        let Some(results) = dialect::results_of_run(c, &run)? else { continue };
        note_value(&results);
        let mut results: Vec<CheckResult> = from_json(&results)?;
        results.iter_mut().for_each(|result| result.reply = String::new());
        diesel::update(check_runs::table.find(run))
            .set(check_runs::results.eq(to_json(&results)?))
            .execute(c)?;
    }
    Ok(!part.is_used_up())
}

/// Removes the oldest ended runs of an agent beyond [`limits::CHECK_RUNS`].
fn remove_old(c: &mut AnyConnection, run: &CheckRun) -> Result<(), TransactionError> {
    let old: Vec<String> = check_runs::table
        .filter(check_runs::agent_id.eq(run.agent_id.to_string()))
        .order((check_runs::created_at.desc(), check_runs::id.desc()))
        .offset(wide(limits::CHECK_RUNS))
        .limit(wide(limits::CHECK_RUNS))
        .select(check_runs::id)
        .load(c)?;
    if !old.is_empty() {
        let old = check_runs::table.filter(check_runs::id.eq_any(old));
        diesel::delete(old.filter(check_runs::finished_at.is_not_null())).execute(c)?;
    }
    Ok(())
}

fn list(
    c: &mut AnyConnection,
    visible: &Visible,
    agent: Id<kind::Agent>,
    page: &PageRequest,
) -> Result<Page<CheckRun>, TransactionError> {
    agents::require(c, visible, agent)?;
    let begin = created_before(page)?;
    let query = || {
        let mut query = check_runs::table
            .filter(check_runs::account_id.eq(&visible.account))
            .filter(check_runs::agent_id.eq(agent.to_string()))
            .order((check_runs::created_at.desc(), check_runs::id.desc()))
            .into_boxed();
        if let Some((at, id)) = begin {
            query = query
                .filter(check_runs::created_at.le(at))
                .filter(check_runs::created_at.lt(at).or(check_runs::id.lt(id)));
        }
        query
    };
    let sizes: Vec<Size> = query()
        .limit(page.lookahead())
        .select(octet_length(check_runs::results.nullable()))
        .load(c)?;
    let sizes: Vec<[Size; 1]> = sizes.into_iter().map(|size| [size]).collect();
    let fit = fitting(page, &sizes);
    let rows: Vec<RunRow> = query().limit(fit.count).select(RunRow::as_select()).load(c)?;
    let runs: Result<Vec<_>, _> = rows.into_iter().map(CheckRun::try_from).collect();
    Ok(Page::of(runs?, fit.more))
}

/// Stores an event and queues it for the endpoints that take it.
fn publish_to_takers(c: &mut AnyConnection, event: &Event) -> Result<(), TransactionError> {
    let takers = events::takers(c, event.account_id, event.name)?;
    events::publish(c, event, takers)
}
