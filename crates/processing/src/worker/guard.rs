//! The guard of a website: the checks of its agent are run against the new content before it replaces the current
//! content.
//!
//! Nothing is stored until the crawl ends, so after a crash, the comparison is repeated.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::check::{
    AfterFailure, Check, CheckResult, Comparison, ComparisonOutcome, after_failure,
};
use cicerone_domain::job::ClaimedJob;
use cicerone_domain::ports::PassageIndex;
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::{Error, Id, kind, limits};
use futures_util::future::join_all;

use super::Worker;
use super::attempt::Outcome;

/// Comparisons, by what they found.
const COMPARISONS: &str = "cicerone_guard_comparisons_total";

/// The present content, searched by words only, as the new content is: that has no vectors yet.
struct ByWords(Arc<dyn PassageIndex>);

#[async_trait]
impl PassageIndex for ByWords {
    async fn search(
        &self,
        agent: AgentVersion,
        query: &Query,
        limit: usize,
    ) -> Result<Found, Error> {
        self.0.search(agent, query, limit).await
    }

    async fn synchronise(&self, agent: AgentVersion) -> Result<(), Error> {
        self.0.synchronise(agent).await
    }

    async fn remove(&self, agent: Id<kind::Agent>) -> Result<(), Error> {
        self.0.remove(agent).await
    }
}

impl Worker {
    /// Compares the checks of the present and of the new content, if the source of a complete crawl is guarded.
    pub(super) async fn guard(&self, job: &ClaimedJob, title: Option<String>) -> Outcome {
        let checks = match self.ports.crawls.guarding(&job.lease).await {
            Ok(checks) => checks,
            Err(error) => return Outcome::Fault(error),
        };
        if checks.is_empty() {
            return Outcome::Crawled(title);
        }
        let began_at = self.ports.clock.now();
        match self.compare(job, &checks).await {
            Ok(outcome) => {
                let comparison = Comparison { began_at, outcome };
                let result = if comparison.refusal().is_some() { "refused" } else { "passed" };
                metrics::counter!(COMPARISONS, "result" => result).increment(1);
                Outcome::Compared(title, comparison)
            }
            Err(error) => Outcome::Fault(error),
        }
    }

    /// Runs the checks against the new content, and those that fail there against the current content. Errors are from
    /// the database.
    async fn compare(
        &self,
        job: &ClaimedJob,
        checks: &[Check],
    ) -> Result<ComparisonOutcome, Error> {
        let agent = (job.source.account_id, job.source.agent_id);
        let Some(candidate) = self.ports.index.candidate(agent, job.source.id).await? else {
            let most = limits::GUARD_BYTES / 1_024 / 1_024;
            return Ok(ComparisonOutcome::Failed(format!(
                "the sources of the agent take more than {most} MiB; set `guarded` to false to accept the new content"
            )));
        };
        let present: Arc<dyn PassageIndex> = Arc::new(ByWords(Arc::clone(&self.ports.index)));
        let asked = async {
            let results = self.ask(job, checks, &candidate).await?;
            let failed = checks.iter().zip(&results).filter(|(_, result)| !result.passed);
            let failed: Vec<Check> = failed.map(|(check, _)| check.clone()).collect();
            let now = self.ask(job, &failed, &present).await?;
            let lost = now.into_iter().filter(|result| result.passed);
            let lost = lost.map(|result| result.question).collect();
            Ok(ComparisonOutcome::Compared { results, lost })
        };
        match tokio::time::timeout(Duration::from_secs(limits::GUARD_SECONDS), asked).await {
            Ok(Err(error @ Error::Unavailable(_))) => Err(error),
            Ok(Err(error)) => Ok(ComparisonOutcome::Failed(error.to_string())),
            Ok(Ok(outcome)) => Ok(outcome),
            Err(_) => Ok(ComparisonOutcome::Failed(format!(
                "this took more than {} seconds; try again later, or set fewer checks",
                limits::GUARD_SECONDS
            ))),
        }
    }

    /// Asks checks of an index, some at once.
    async fn ask(
        &self,
        job: &ClaimedJob,
        checks: &[Check],
        index: &Arc<dyn PassageIndex>,
    ) -> Result<Vec<CheckResult>, Error> {
        let mut results = Vec::with_capacity(checks.len());
        for some in checks.chunks(limits::CHECKS_AT_ONCE) {
            let asked = some.iter().map(|check| self.ask_one(job, check, index));
            for result in join_all(asked).await {
                results.push(result?);
            }
        }
        Ok(results)
    }

    /// Asks a check, again as often as [`after_failure`] allows.
    async fn ask_one(
        &self,
        job: &ClaimedJob,
        check: &Check,
        index: &Arc<dyn PassageIndex>,
    ) -> Result<CheckResult, Error> {
        let agent = (job.source.account_id, job.source.agent_id);
        let mut attempt = 1;
        loop {
            let index = Some(Arc::clone(index));
            let error = match self.ports.answers.ask_check(agent, check, index).await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            match after_failure(&error, attempt) {
                AfterFailure::Again { wait, is_counted } => {
                    attempt += u32::from(is_counted);
                    tokio::time::sleep(wait).await;
                }
                AfterFailure::GivenUp | AfterFailure::Hopeless => return Err(error),
            }
        }
    }
}
