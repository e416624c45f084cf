//! The worker: claims jobs, makes passages of what their sources hold and stores the outcome.

mod attempt;
mod crawl;
mod material;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::job::{Claimable, ClaimedJob, Lease, Reclaim};
use cicerone_domain::ports::{
    CrawlStore, JobStore, ObjectStore, PassageIndex, UploadStore, WorkSignal,
};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::source::SourceState;
use cicerone_domain::{Clock, Entropy, Error, Id, Source, SourceContent, Timestamp, limits};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::crawl::{Crawler, ReadPage};
use attempt::Outcome;
pub use settings::WorkerSettings;

/// Pauses after the first, second, … failure of the database itself, in milliseconds.
const OUTAGE_PAUSE_MILLIS: u64 = 1_000;
/// How often jobs are taken back whose worker is gone.
const RECLAIM_INTERVAL: Duration = Duration::from_secs(5);

/// What a worker reaches the world through.
#[derive(Clone)]
pub struct WorkerPorts {
    /// The jobs.
    pub jobs: Arc<dyn JobStore>,
    /// The rows of uploaded files.
    pub uploads: Arc<dyn UploadStore>,
    /// Their bytes.
    pub objects: Arc<dyn ObjectStore>,
    /// What reads files.
    pub reader: Arc<dyn ReadPage>,
    /// What crawls websites.
    pub crawler: Arc<Crawler>,
    /// Where crawls are kept.
    pub crawls: Arc<dyn CrawlStore>,
    /// The index, to be brought up to date before the first question.
    pub index: Arc<dyn PassageIndex>,
    /// Set when this process has queued a job.
    pub signal: WorkSignal,
    /// To be set when work has ended, of which an event tells.
    pub told: WorkSignal,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub entropy: Arc<dyn Entropy>,
}

/// What one step of a worker did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// No job was due.
    Idle,
    /// A job ended: its source is trained or failed, or was deleted meanwhile.
    Done,
    /// A job went back to be tried again.
    Retried,
}

/// Processes sources. Cloning it gives another handle on the same worker.
#[derive(Clone)]
pub struct Worker {
    ports: WorkerPorts,
    settings: WorkerSettings,
    /// Bounds the extractions that occupy a thread; one whose job was cancelled holds its place
    /// until it is really over.
    threads: Arc<Semaphore>,
    /// Bounds the crawls, which wait for others most of the time and must hold up nothing else.
    crawls: Arc<Semaphore>,
}

impl Worker {
    /// A worker over these ports.
    pub fn new(ports: WorkerPorts, settings: WorkerSettings) -> Self {
        let places = |count: usize| Arc::new(Semaphore::new(count.max(1)));
        let (threads, crawls) = (places(settings.parallel), places(settings.crawls));
        Self { ports, settings, threads, crawls }
    }

    /// Claims one job and carries it through.
    ///
    /// Fails as the store does where not even its outcome could be stored: then its lease runs out
    /// and another worker takes it.
    pub async fn run_one(&self) -> Result<Step, Error> {
        self.step(&CancellationToken::new()).await
    }

    /// Works with as many jobs at once as its settings say, until `stop`. Jobs that are not done
    /// within the grace period then go back to the queue.
    pub async fn run(&self, stop: CancellationToken) {
        let release = CancellationToken::new();
        let places = self.settings.parallel.max(1) + self.settings.crawls.max(1);
        let loops = (0..places).map(|_| self.work(&stop, &release));
        let grace = async {
            stop.cancelled().await;
            tokio::time::sleep(self.settings.grace).await;
            release.cancel();
        };
        let work = futures_util::future::join_all(loops);
        tokio::pin!(work);
        tokio::select! {
            _ = &mut work => return,
            () = self.take_back() => {}
            () = grace => {}
        }
        work.await;
    }

    /// Steps until `stop`.
    async fn work(&self, stop: &CancellationToken, release: &CancellationToken) {
        while !stop.is_cancelled() {
            match self.step(release).await {
                Ok(Step::Done | Step::Retried) => {}
                Ok(Step::Idle) => {
                    stop.run_until_cancelled(self.until_due()).await;
                }
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "a step of the worker failed; it will try again"
                    );
                    let pause = Duration::from_millis(OUTAGE_PAUSE_MILLIS);
                    stop.run_until_cancelled(tokio::time::sleep(pause)).await;
                }
            }
        }
    }

    /// Waits for this process's signal, or until a look at the queue shows a job that is due: one of
    /// another process, or one that was to be tried again.
    async fn until_due(&self) {
        let looks = async {
            loop {
                tokio::time::sleep(self.settings.poll).await;
                match self.ports.jobs.next_due().await {
                    Ok(due) if due.is_some_and(|due| due <= self.ports.clock.now()) => return,
                    Ok(_) => {}
                    // The step that follows meets the same fault, and reports it.
                    Err(_) => return,
                }
            }
        };
        tokio::select! {
            () = self.ports.signal.wait() => {}
            () = looks => {}
        }
    }

    /// Takes back jobs whose worker is gone, for ever.
    async fn take_back(&self) {
        loop {
            if let Err(error) = self.reclaim(Reclaim::Expired).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "jobs of workers that are gone could not be taken back; the next look will"
                );
            }
            tokio::time::sleep(RECLAIM_INTERVAL).await;
        }
    }

    /// Takes back jobs that are marked as running and whose worker is gone.
    pub async fn reclaim(&self, which: Reclaim) -> Result<(), Error> {
        let entropy = Arc::clone(&self.ports.entropy);
        let event_id = Arc::new(move || Id::random(entropy.as_ref()));
        let back = self.ports.jobs.reclaim(which, self.ports.clock.now(), event_id).await?;
        if back.requeued > 0 || back.poisoned > 0 {
            tracing::warn!(
                requeued = back.requeued,
                failed = back.poisoned,
                "took back jobs whose worker was gone"
            );
            self.ports.signal.notify();
            self.ports.told.notify();
        }
        Ok(())
    }

    async fn step(&self, release: &CancellationToken) -> Result<Step, Error> {
        let token = Id::<cicerone_domain::kind::Job>::random(self.ports.entropy.as_ref());
        let now = self.ports.clock.now();
        let until = now.plus_millis(limits::JOB_LEASE_MILLIS);
        let place = self.crawls.try_acquire().ok();
        let which = if place.is_some() { Claimable::Any } else { Claimable::NoWebsite };
        let token = token.suffix().to_owned();
        let Some(job) = self.ports.jobs.claim_job(which, token, now, until).await? else {
            return Ok(Step::Idle);
        };
        let is_crawl = matches!(job.source.content, SourceContent::Website { .. });
        let _place = place.filter(|_| is_crawl);
        let span = tracing::info_span!(
            "job",
            job_id = %job.lease.job_id,
            source_id = %job.source.id,
            agent_id = %job.source.agent_id,
            kind = job.source.content.source_type().name(),
            request_id = job.request_id.map(tracing::field::display),
        );
        let work = async {
            let outcome = self.attempt(&job, release).await;
            self.conclude(&job, &job.lease, outcome).await
        };
        work.instrument(span).await
    }

    /// Stores what became of a job.
    async fn conclude(
        &self,
        job: &ClaimedJob,
        lease: &Lease,
        outcome: Outcome,
    ) -> Result<Step, Error> {
        let (jobs, now) = (&self.ports.jobs, self.ports.clock.now());
        let event = Id::random(self.ports.entropy.as_ref());
        let ended = match outcome {
            Outcome::Extracted(extracted) => {
                match jobs.finish_trained(lease, extracted, event, now).await {
                    Ok(source) => source,
                    Err(error) if is_transient(&error) => {
                        return self.try_again(job, lease, error).await;
                    }
                    Err(error) => self.give_up(lease, &error).await?,
                }
            }
            Outcome::Crawled(title) => {
                match self.ports.crawls.finish_crawl(lease, title, event, now).await {
                    Ok(source) => source,
                    Err(error) if is_transient(&error) => {
                        return self.try_again(job, lease, error).await;
                    }
                    Err(error) => self.give_up(lease, &error).await?,
                }
            }
            Outcome::Unreadable(message) => jobs.finish_failed(lease, message, event, now).await?,
            Outcome::Fault(error) if is_transient(&error) => {
                return self.try_again(job, lease, error).await;
            }
            Outcome::Fault(error) => self.give_up(lease, &error).await?,
            Outcome::Released => {
                jobs.requeue(lease, now, false).await?;
                return Ok(Step::Retried);
            }
            Outcome::Lost => None,
        };
        match ended {
            Some(source) => {
                self.ports.told.notify();
                self.ended(job, &source, now);
            }
            None => {
                tracing::info!(
                    "a job was cancelled: its source was deleted, or another worker has it"
                )
            }
        }
        Ok(Step::Done)
    }

    /// After a transient fault: back to the queue with a pause that doubles, until the attempts are
    /// used up.
    async fn try_again(
        &self,
        job: &ClaimedJob,
        lease: &Lease,
        error: Error,
    ) -> Result<Step, Error> {
        let now = self.ports.clock.now();
        let attempt = job.attempts.saturating_add(1);
        tracing::warn!(
            attempt,
            error = &error as &dyn std::error::Error,
            "processing met a transient fault"
        );
        if attempt < limits::JOB_ATTEMPTS {
            let pause = settings::backoff_millis(attempt, self.ports.entropy.as_ref());
            self.ports.jobs.requeue(lease, now.plus_millis(pause), true).await?;
            return Ok(Step::Retried);
        }
        let message = format!(
            "the server's storage was out of reach {attempt} times while this was processed; add it \
             again later"
        );
        let event = Id::random(self.ports.entropy.as_ref());
        if let Some(source) = self.ports.jobs.finish_failed(lease, message, event, now).await? {
            self.ended(job, &source, now);
        }
        Ok(Step::Done)
    }

    /// After a fault of the service itself, which trying again would only meet again.
    async fn give_up(&self, lease: &Lease, error: &Error) -> Result<Option<Source>, Error> {
        tracing::error!(error = error as &dyn std::error::Error, "processing failed");
        let message = "an internal error stopped the processing; the server's log has the cause";
        let event = Id::random(self.ports.entropy.as_ref());
        let now = self.ports.clock.now();
        self.ports.jobs.finish_failed(lease, message.to_owned(), event, now).await
    }

    /// Notes how a job ended, and warms the index.
    fn ended(&self, job: &ClaimedJob, source: &Source, now: Timestamp) {
        let millis = now.as_millis() - job.queued_at.as_millis();
        let status = source.state.status().name();
        let kind = source.content.source_type().name();
        metrics::counter!("cicerone_jobs_total", "type" => kind, "status" => status).increment(1);
        metrics::histogram!("cicerone_job_duration_seconds", "type" => kind)
            .record(Duration::from_millis(u64::try_from(millis).unwrap_or(0)).as_secs_f64());
        tracing::info!(status, millis, "processed a source");
        if let SourceState::Trained(trained) = &source.state {
            let version = AgentVersion { id: source.agent_id, generation: trained.version };
            let index = Arc::clone(&self.ports.index);
            tokio::spawn(async move {
                if let Err(error) = index.synchronise(version).await {
                    tracing::warn!(agent_id = %version.id, error = &error as &dyn std::error::Error, "the index was not brought up to date; the next question does it");
                }
            });
        }
    }
}

/// Whether trying again may help.
fn is_transient(error: &Error) -> bool {
    matches!(error, Error::Unavailable(_) | Error::Overloaded)
}
