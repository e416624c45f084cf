//! Small jobs of one agent that are carried out together, so that they share the commits of their claims and outcomes.

use cicerone_domain::job::{ClaimedJob, FinishedJob};
use cicerone_domain::{Id, limits};
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::attempt::Outcome;
use super::{Claimed, Worker, report, span};

impl Worker {
    /// Adds the jobs that can be carried out together with a claimed one. If they cannot be claimed, it stays alone.
    pub(super) async fn with_alike(&self, claimed: Claimed) -> Claimed {
        let now = self.ports.clock.now();
        let until = now.plus_millis(limits::JOB_LEASE_MILLIS);
        match self.ports.jobs.claim_alike(&claimed.job, now, until).await {
            Ok(alike) => Claimed { alike, ..claimed },
            Err(error) => {
                report(&error);
                claimed
            }
        }
    }

    /// Carries out jobs of one agent, and stores what was extracted from their sources in one transaction. If that fails,
    /// each is stored alone, so that one that is too large for the account's quota does not fail others.
    pub(super) async fn carry_together(&self, jobs: Vec<ClaimedJob>, release: &CancellationToken) {
        let Some(account) = jobs.first().map(|job| job.source.account_id) else { return };
        let attempts = jobs.iter().map(|job| self.attempt(job, release).instrument(span(job)));
        let outcomes = join_all(attempts).await;
        let mut alone = Vec::new();
        let (mut finishing, mut finished) = (Vec::new(), Vec::new());
        for (job, outcome) in jobs.into_iter().zip(outcomes) {
            if let Outcome::Extracted(extracted) = outcome {
                let (lease, event) = (job.lease.clone(), Id::random(self.ports.entropy.as_ref()));
                finished.push(FinishedJob { lease, extracted, event });
                finishing.push(job);
            } else {
                alone.push((job, outcome));
            }
        }
        let now = self.ports.clock.now();
        match self.ports.jobs.finish_together(account, finished.clone(), now).await {
            Ok(sources) => {
                for (job, source) in finishing.iter().zip(sources) {
                    span(job).in_scope(|| self.note(job, source.as_ref(), now));
                }
            }
            Err(error) => {
                tracing::debug!(
                    error = &error as &dyn std::error::Error,
                    "sources could not be stored together; each is stored alone"
                );
                let outcomes = finished.into_iter().map(|job| Outcome::Extracted(job.extracted));
                alone.extend(finishing.into_iter().zip(outcomes));
            }
        }
        for (job, outcome) in alone {
            let conclusion = self.conclude(&job, &job.lease, outcome).instrument(span(&job));
            if let Err(error) = conclusion.await {
                report(&error);
            }
        }
    }
}
