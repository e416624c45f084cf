//! The checker: asks agents the checks of their owners, and records what the replies lack.
//!
//! Accounts take turns with a few checks each, so a long run does not delay those of others. The results are recorded
//! after each turn; after a crash, a run continues with the checks that were being asked.

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::check::{AfterFailure, Check, CheckResult, CheckRun, RunEnd, after_failure};
use cicerone_domain::ports::{AskChecks, CheckStore, ClaimedRun, RunClaim, RunLease, WorkSignal};
use cicerone_domain::{Clock, Entropy, Error, Id, kind, limits};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::OUTAGE_PAUSE;

/// How often it looks for runs that other servers queued, and for those of trained sources.
const POLL: Duration = Duration::from_secs(1);
/// How often a lease is extended.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Runs that ended, by status.
const RUNS: &str = "cicerone_check_runs_total";
/// Checks that were asked, by whether they passed.
const CHECKS: &str = "cicerone_checks_total";
/// Runs that have not ended.
const OPEN: &str = "cicerone_check_runs_open";

/// What a checker reads, asks and changes.
#[derive(Clone)]
pub struct CheckerPorts {
    /// The checks and their runs.
    pub checks: Arc<dyn CheckStore>,
    /// Answers the questions.
    pub answers: Arc<dyn AskChecks>,
    /// Notified when this process has queued a run.
    pub signal: WorkSignal,
    /// To be notified when a run has ended and its event can be delivered.
    pub event_written: WorkSignal,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
}

/// Asks checks. Clones share one checker.
#[derive(Clone)]
pub struct Checker {
    ports: CheckerPorts,
    /// The account that had the last turn.
    last: Arc<Mutex<Option<Id<kind::Account>>>>,
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    /// No run was due.
    Nothing,
    /// Some checks of a run were asked, or a run ended.
    Some,
}

impl Checker {
    /// A checker over these ports.
    pub fn new(ports: CheckerPorts) -> Self {
        Self { ports, last: Arc::default() }
    }

    /// Asks checks until `stop`. Questions in progress are abandoned, and asked again after a restart.
    pub async fn run(&self, stop: CancellationToken) {
        let mut signal = self.ports.signal.listen();
        while let Some(step) = stop.run_until_cancelled(self.run_one()).await {
            match step {
                Ok(Checked::Some) => continue,
                Ok(Checked::Nothing) => {}
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "cannot run the checks of agents at the moment"
                    );
                    stop.run_until_cancelled(tokio::time::sleep(OUTAGE_PAUSE)).await;
                    continue;
                }
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = signal.wait() => {}
                () = tokio::time::sleep(POLL) => {}
            }
        }
    }

    /// Asks the next checks of one run.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](cicerone_domain::ports).
    pub async fn run_one(&self) -> Result<Checked, Error> {
        let now = self.ports.clock.now();
        let after = *self.last.lock();
        let claim = RunClaim {
            after,
            token: Id::<kind::CheckRun>::random(self.ports.entropy.as_ref()).suffix().to_owned(),
            now,
            until: now.plus_millis(limits::CHECK_LEASE_MILLIS),
        };
        let Some(claimed) = self.ports.checks.claim_run(claim).await? else {
            return Ok(Checked::Nothing);
        };
        *self.last.lock() = Some(claimed.run.account_id);
        tokio::select! {
            biased;
            done = self.proceed(&claimed) => done?,
            () = self.lose(&claimed.lease) => {}
        }
        Ok(Checked::Some)
    }

    /// Asks the next checks of a run, and records the results or ends the run.
    async fn proceed(&self, claimed: &ClaimedRun) -> Result<(), Error> {
        let ClaimedRun { lease, run, checks, attempts } = claimed;
        if *attempts > limits::CHECK_ATTEMPTS {
            let message = "the server stopped several times while these checks were asked";
            return self.end(lease, RunEnd::Failed(message.to_owned())).await;
        }
        let rest = checks.get(run.results.len()..).unwrap_or_default();
        let next = rest.get(..limits::CHECKS_AT_ONCE).unwrap_or(rest);
        match self.ask(run, next).await {
            Ok(results) => {
                for result in &results {
                    let outcome = if result.passed { "passed" } else { "failed" };
                    metrics::counter!(CHECKS, "result" => outcome).increment(1);
                }
                if next.len() == rest.len() {
                    return self.end(lease, RunEnd::Done(results)).await;
                }
                self.ports.checks.record_results(lease, results, self.ports.clock.now()).await
            }
            Err(error) => self.fail(lease, *attempts, error).await,
        }
    }

    /// Asks these checks at once. Returns the first error, in the order of the checks.
    async fn ask(&self, run: &CheckRun, checks: &[Check]) -> Result<Vec<CheckResult>, Error> {
        let (answers, agent) = (&self.ports.answers, (run.account_id, run.agent_id));
        let asked = join_all(checks.iter().map(|check| answers.ask_check(agent, check, None)));
        asked.await.into_iter().collect()
    }

    /// Releases a run to be claimed later, or ends it.
    async fn fail(&self, lease: &RunLease, attempts: u32, error: Error) -> Result<(), Error> {
        match after_failure(&error, attempts) {
            AfterFailure::Again { wait, is_counted } => {
                let at = self.ports.clock.now().after(wait);
                return self.ports.checks.release_run(lease, at, is_counted).await;
            }
            AfterFailure::GivenUp => tracing::warn!(run_id = %lease.run_id,
                error = &error as &dyn std::error::Error, "a run of checks was given up"),
            AfterFailure::Hopeless => {}
        }
        self.end(lease, RunEnd::Failed(error.to_string())).await
    }

    async fn end(&self, lease: &RunLease, end: RunEnd) -> Result<(), Error> {
        let (event, now) = (Id::random(self.ports.entropy.as_ref()), self.ports.clock.now());
        if let Some(run) = self.ports.checks.end_run(lease, end, event, now).await? {
            self.ports.event_written.notify();
            metrics::counter!(RUNS, "status" => run.status.name()).increment(1);
            tracing::info!(run_id = %run.id, agent_id = %run.agent_id, status = run.status.name(),
                passed = run.passed(), failed = run.failed(), "a run of checks ended");
        }
        self.measure().await;
        Ok(())
    }

    /// Extends a lease regularly. Returns when it is lost.
    async fn lose(&self, lease: &RunLease) {
        loop {
            tokio::time::sleep(HEARTBEAT).await;
            let until = self.ports.clock.now().plus_millis(limits::CHECK_LEASE_MILLIS);
            match self.ports.checks.extend_run(lease, until).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => tracing::warn!(run_id = %lease.run_id,
                    error = &error as &dyn std::error::Error, "a heartbeat failed"),
            }
        }
    }

    async fn measure(&self) {
        match self.ports.checks.open_runs().await {
            Ok(open) => metrics::gauge!(OPEN).set(open as f64),
            Err(error) => tracing::debug!(
                error = &error as &dyn std::error::Error,
                "the runs of checks could not be counted"
            ),
        }
    }
}
