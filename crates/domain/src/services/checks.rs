//! Use cases of checks.

use std::sync::Arc;

use crate::access::Scope;
use crate::check::{AgentChecks, CheckList, CheckRun};
use crate::clock::{Clock, Entropy};
use crate::error::Error;
use crate::id::{Id, kind};
use crate::idempotency::Completion;
use crate::page::{Page, PageRequest};
use crate::ports::{CheckStore, WorkSignal};

/// Reads, replaces and runs the checks of agents.
#[derive(Clone)]
pub struct Checks {
    store: Arc<dyn CheckStore>,
    signal: WorkSignal,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Checks {
    /// The use cases over these ports. `signal` is notified of each run that is queued on request.
    pub fn new(
        store: Arc<dyn CheckStore>,
        signal: WorkSignal,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self { store, signal, clock, entropy }
    }

    /// Replaces the checks of an agent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn replace(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        checks: CheckList,
    ) -> Result<AgentChecks, Error> {
        self.store.replace_checks(scope, agent, checks, self.clock.now()).await
    }

    /// The checks of an agent.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn find(&self, scope: &Scope, agent: Id<kind::Agent>) -> Result<AgentChecks, Error> {
        self.store.find_checks(scope, agent).await
    }

    /// Queues a run.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], and [`Error::Conflict`] if a run has not ended or there are no checks.
    pub async fn run(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        completion: Option<Completion<CheckRun>>,
    ) -> Result<CheckRun, Error> {
        let id = Id::random(self.entropy.as_ref());
        let run = self.store.start_run(scope, agent, id, self.clock.now(), completion).await?;
        self.signal.notify();
        Ok(run)
    }

    /// Runs of an agent, newest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`].
    pub async fn runs(
        &self,
        scope: &Scope,
        agent: Id<kind::Agent>,
        page: PageRequest,
    ) -> Result<Page<CheckRun>, Error> {
        self.store.list_runs(scope, agent, page).await
    }
}
