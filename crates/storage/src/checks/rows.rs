//! The rows of checks and runs.

use cicerone_domain::Timestamp;
use cicerone_domain::check::{Check, CheckResult, CheckRun, RunStatus, RunTrigger};
use diesel::prelude::*;

use crate::columns::{from_json, id, named, narrow, time, to_json, wide};
use crate::connection::note_value;
use crate::error::TransactionError;
use crate::schema::{agent_checks, check_runs};

#[derive(Insertable, AsChangeset)]
#[diesel(table_name = agent_checks)]
pub(super) struct ChecksRow {
    pub(super) agent_id: String,
    pub(super) account_id: String,
    pub(super) checks: String,
    pub(super) updated_at: i64,
}

/// What is shown of a run.
#[derive(Queryable, Selectable)]
#[diesel(table_name = check_runs)]
pub(super) struct RunRow {
    id: String,
    account_id: String,
    agent_id: String,
    source_id: Option<String>,
    cause: String,
    state: String,
    results: String,
    error_message: Option<String>,
    created_at: i64,
    finished_at: Option<i64>,
}

impl TryFrom<RunRow> for CheckRun {
    type Error = TransactionError;

    fn try_from(row: RunRow) -> Result<Self, TransactionError> {
        note_value(&row.results);
        let results: Vec<CheckResult> = from_json(&row.results)?;
        Ok(Self {
            id: id("check_runs.id", &row.id)?,
            account_id: id("check_runs.account_id", &row.account_id)?,
            agent_id: id("check_runs.agent_id", &row.agent_id)?,
            source_id: row
                .source_id
                .map(|source| id("check_runs.source_id", &source))
                .transpose()?,
            trigger: named("check_runs.cause", &row.cause, RunTrigger::from_name)?,
            status: named("check_runs.state", &row.state, RunStatus::from_name)?,
            error_message: row.error_message,
            results,
            created_at: time(row.created_at),
            finished_at: row.finished_at.map(time),
        })
    }
}

/// A whole run, as a worker needs it.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = check_runs, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(crate) struct HeldRunRow {
    pub(super) id: String,
    pub(super) account_id: String,
    pub(super) agent_id: String,
    pub(super) source_id: Option<String>,
    pub(super) cause: String,
    pub(super) state: String,
    pub(super) lease_token: Option<String>,
    pub(super) due_at: i64,
    pub(super) attempts: i64,
    pub(super) passed: i64,
    pub(super) failed: i64,
    pub(super) checks: Option<String>,
    pub(super) results: String,
    pub(super) error_message: Option<String>,
    pub(super) created_at: i64,
    pub(super) finished_at: Option<i64>,
}

impl HeldRunRow {
    /// The row of a run that no worker has.
    pub(super) fn new(run: &CheckRun) -> Result<Self, TransactionError> {
        let mut row = Self {
            id: run.id.to_string(),
            account_id: run.account_id.to_string(),
            agent_id: run.agent_id.to_string(),
            source_id: run.source_id.map(|source| source.to_string()),
            cause: run.trigger.name().to_owned(),
            state: String::new(),
            lease_token: None,
            due_at: run.due_at().as_millis(),
            attempts: 0,
            passed: 0,
            failed: 0,
            checks: None,
            results: String::new(),
            error_message: None,
            created_at: run.created_at.as_millis(),
            finished_at: None,
        };
        row.set(run)?;
        Ok(row)
    }

    /// Sets what changes while a run is worked on.
    pub(super) fn set(&mut self, run: &CheckRun) -> Result<(), TransactionError> {
        self.state = run.status.name().to_owned();
        self.passed = wide(run.passed());
        self.failed = wide(run.failed());
        self.results = to_json(&run.results)?;
        note_value(&self.results);
        self.error_message.clone_from(&run.error_message);
        self.finished_at = run.finished_at.map(Timestamp::as_millis);
        Ok(())
    }

    pub(super) fn to_run(&self) -> Result<CheckRun, TransactionError> {
        CheckRun::try_from(RunRow {
            id: self.id.clone(),
            account_id: self.account_id.clone(),
            agent_id: self.agent_id.clone(),
            source_id: self.source_id.clone(),
            cause: self.cause.clone(),
            state: self.state.clone(),
            results: self.results.clone(),
            error_message: self.error_message.clone(),
            created_at: self.created_at,
            finished_at: self.finished_at,
        })
    }

    /// The checks of a run that has begun.
    pub(super) fn copied_checks(&self) -> Result<Vec<Check>, TransactionError> {
        let Some(checks) = &self.checks else {
            let message = format!("the run `{}` has begun without its checks", self.id);
            return Err(TransactionError::internal(message));
        };
        note_value(checks);
        from_json(checks)
    }

    pub(super) fn attempts(&self) -> Result<u32, TransactionError> {
        narrow("check_runs.attempts", self.attempts)
    }
}
