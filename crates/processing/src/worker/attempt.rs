//! One attempt at a job: its work, and a heartbeat that notices if the lease is lost.

use cicerone_domain::check::Comparison;
use cicerone_domain::fairness::Urgency;
use cicerone_domain::job::{ClaimedJob, Lease};
use cicerone_domain::{Error, Extracted, Id, SourceContent, kind, limits};
use tokio_util::sync::CancellationToken;

use super::Worker;
use super::material::Content;

#[derive(Debug)]
pub(super) enum Outcome {
    /// Documents and passages.
    Extracted(Extracted),
    /// All pages of a website are recorded; the title of the source.
    Crawled(Option<String>),
    /// The same for a guarded website, with a comparison of its checks.
    Compared(Option<String>, Comparison),
    /// The content cannot be read, with a reason for the owner.
    Unreadable(String),
    /// Something else failed.
    Fault(Error),
    /// The worker stops and releases the job.
    Released,
    /// The lease was lost: the source was deleted, or another worker has the job.
    Lost,
}

impl Worker {
    /// Works on a job until it is done, its lease is lost, its deadline passes or `release` is
    /// cancelled.
    pub(super) async fn attempt(&self, job: &ClaimedJob, release: &CancellationToken) -> Outcome {
        tokio::select! {
            biased;
            outcome = self.process(job) => outcome,
            () = self.lose(&job.lease) => Outcome::Lost,
            () = release.cancelled() => Outcome::Released,
            () = tokio::time::sleep(self.settings.deadline) => {
                let minutes = self.settings.deadline.as_secs().div_ceil(60);
                Outcome::Unreadable(format!(
                    "processing was stopped after {minutes} minutes; split the content and add it \
                     in parts"
                ))
            }
        }
    }

    /// Processes a source of any type.
    async fn process(&self, job: &ClaimedJob) -> Outcome {
        let content = match &job.source.content {
            SourceContent::Website { url, crawl_subpages } => {
                return self.crawl(job, url, *crawl_subpages).await;
            }
            SourceContent::Text(text) => Content::Text(text.clone()),
            SourceContent::Qa(pairs) => Content::Pairs(pairs.clone()),
            SourceContent::File(id) => match self.read_file(&job.source, *id).await {
                Ok(content) => content,
                Err(outcome) => return outcome,
            },
            SourceContent::Unread { .. } => {
                return Outcome::Fault(Error::internal("a job was claimed without the text"));
            }
        };
        self.extract(job.source.account_id, content).await
    }

    /// Extracts on a thread for blocking work. If it panics, the content counts as unreadable.
    async fn extract(&self, account: Id<kind::Account>, content: Content) -> Outcome {
        let permit = self.threads.acquire(account, 1, Urgency::Learning).await;
        let work = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            content.extract()
        });
        match work.await {
            Ok(Ok(extracted)) => Outcome::Extracted(extracted),
            Ok(Err(unreadable)) => Outcome::Unreadable(unreadable.to_string()),
            Err(failure) if failure.is_panic() => Outcome::Unreadable(
                "the content could not be processed: reading it failed unexpectedly; check that it \
                 is not damaged, or add its text as a `text` source"
                    .to_owned(),
            ),
            Err(failure) => Outcome::Fault(Error::internal(failure)),
        }
    }

    /// Extends the lease regularly. Returns when it is lost.
    async fn lose(&self, lease: &Lease) {
        let mut until = self.ports.clock.now().plus_millis(limits::JOB_LEASE_MILLIS);
        loop {
            tokio::time::sleep(self.settings.heartbeat).await;
            let now = self.ports.clock.now();
            let next = now.plus_millis(limits::JOB_LEASE_MILLIS);
            match self.ports.jobs.heartbeat(lease, next).await {
                Ok(true) => until = next,
                Ok(false) => return,
                Err(error) => {
                    tracing::warn!(source_id = %lease.source_id, error = &error as &dyn std::error::Error, "a heartbeat failed");
                    if now >= until {
                        return;
                    }
                }
            }
        }
    }
}
