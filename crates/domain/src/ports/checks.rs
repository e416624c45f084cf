//! The port of checks and their runs.

use std::sync::Arc;

use async_trait::async_trait;

use crate::access::Scope;
use crate::check::{AgentChecks, Check, CheckList, CheckResult, CheckRun, RunEnd};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::page::{Page, PageRequest};
use crate::ports::PassageIndex;
use crate::timestamp::Timestamp;

/// Asks agents the questions of checks.
#[async_trait]
pub trait AskChecks: Send + Sync {
    /// Asks a question and evaluates the reply, which is counted but not stored. With an `index`, the reply is based on
    /// its hits. Fails as a message to the agent does.
    async fn ask_check(
        &self,
        agent: (Id<kind::Account>, Id<kind::Agent>),
        check: &Check,
        index: Option<Arc<dyn PassageIndex>>,
    ) -> Result<CheckResult, Error>;
}

/// A request for the next run.
#[derive(Debug, Clone)]
pub struct RunClaim {
    /// The account that had the last turn: the next one, in the order of ids, comes first.
    pub after: Option<Id<kind::Account>>,
    /// Names the lease.
    pub token: String,
    /// The time of the request: runs that are due by then may be claimed.
    pub now: Timestamp,
    /// The end of the lease.
    pub until: Timestamp,
}

/// The right to work on a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLease {
    /// The run that no other worker continues meanwhile.
    pub run_id: Id<kind::CheckRun>,
    /// Distinguishes this claim from later ones.
    pub token: String,
}

/// A run whose next checks are to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedRun {
    /// Proves the claim when results are written.
    pub lease: RunLease,
    /// The run, with the results so far.
    pub run: CheckRun,
    /// All checks, as they were when the run began.
    pub checks: Vec<Check>,
    /// The number of claims without progress, including this one.
    pub attempts: u32,
}

/// Checks and their runs. A method that takes a [`RunLease`] changes nothing if the lease was lost.
#[async_trait]
pub trait CheckStore: Send + Sync {
    /// Replaces the checks of an agent. Fails with [`Error::NotFound`].
    async fn replace_checks(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        checks: CheckList,
        now: Timestamp,
    ) -> Result<AgentChecks, Error>;
    /// The checks of an agent. Fails with [`Error::NotFound`].
    async fn find_checks(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
    ) -> Result<AgentChecks, Error>;
    /// Queues a run on request, and removes the oldest ones beyond [`CHECK_RUNS`](crate::limits::CHECK_RUNS). Fails with
    /// [`Error::NotFound`], and with [`Error::Conflict`] if a run has not ended or there are no checks.
    async fn start_run(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        id: Id<kind::CheckRun>,
        now: Timestamp,
        completion: Option<Completion<CheckRun>>,
    ) -> Result<CheckRun, Error>;
    /// Runs of an agent, newest first. Fails with [`Error::NotFound`].
    async fn list_runs(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        page: PageRequest,
    ) -> Result<Page<CheckRun>, Error>;
    /// Claims a due run. Accounts take turns, and the runs of an account too. A run that begins keeps a copy of the checks.
    async fn claim_run(&self, claim: RunClaim) -> Result<Option<ClaimedRun>, Error>;
    /// Extends a lease. Returns false if it was lost.
    async fn extend_run(&self, lease: &RunLease, until: Timestamp) -> Result<bool, Error>;
    /// Records further results and releases the run, whose next checks are asked in its next turn.
    async fn record_results(
        &self,
        lease: &RunLease,
        results: Vec<CheckResult>,
        now: Timestamp,
    ) -> Result<(), Error>;
    /// Releases the run, to be claimed again at `at`. `counts` is whether it was an attempt.
    async fn release_run(&self, lease: &RunLease, at: Timestamp, counts: bool)
    -> Result<(), Error>;
    /// Ends a run, and writes its event `event` if [`CheckRun::event`] gives one, in one transaction. Returns the run;
    /// `None` if the lease was lost.
    async fn end_run(
        &self,
        lease: &RunLease,
        end: RunEnd,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<CheckRun>, Error>;
    /// How many runs have not ended, for the metrics.
    async fn open_runs(&self) -> Result<u64, Error>;
}
