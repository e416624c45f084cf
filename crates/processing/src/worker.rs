//! The worker: claims jobs, turns the content of their sources into passages and stores the outcome.

mod attempt;
mod crawl;
mod guard;
mod material;
mod settings;
mod together;

use std::sync::Arc;
use std::time::Duration;

use cicerone_domain::fairness::{FairPermit, FairPool, Vacancy};
use cicerone_domain::job::{
    Claimable, ClaimableAccounts, ClaimedJob, Lane, Lease, Reclaim, pause_after_failure,
};
use cicerone_domain::ports::{
    AskChecks, CrawlStore, JobStore, ObjectStore, PassageIndex, UploadStore, WorkSignal,
};
use cicerone_domain::retrieval::AgentVersion;
use cicerone_domain::source::SourceState;
use cicerone_domain::{Clock, Entropy, Error, Id, Source, Timestamp, kind, limits};
use cicerone_ingestion::{Crawler, ReadPage};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::OUTAGE_PAUSE;
use crate::warmer::Warmer;
use attempt::Outcome;
pub use settings::WorkerSettings;

/// How often jobs of vanished workers are taken back.
const RECLAIM_INTERVAL: Duration = Duration::from_secs(5);

/// What a worker reads, calls and changes.
#[derive(Clone)]
pub struct WorkerPorts {
    /// Claims jobs and ends them.
    pub jobs: Arc<dyn JobStore>,
    /// The records of uploaded files.
    pub uploads: Arc<dyn UploadStore>,
    /// Their bytes.
    pub objects: Arc<dyn ObjectStore>,
    /// Reads files.
    pub reader: Arc<dyn ReadPage>,
    /// Crawls websites.
    pub crawler: Arc<Crawler>,
    /// Stores crawls.
    pub crawls: Arc<dyn CrawlStore>,
    /// Asks the checks of guarded sources.
    pub answers: Arc<dyn AskChecks>,
    /// The index, to be brought up to date before the first question.
    pub index: Arc<dyn PassageIndex>,
    /// Notified when this process has queued a job.
    pub signal: WorkSignal,
    /// To be notified when a job has ended and its event can be delivered.
    pub event_written: WorkSignal,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
}

/// The outcome of one step of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// No job was due.
    Idle,
    /// A job ended: its source is trained or failed, or was deleted.
    Done,
    /// A job went back to be tried again.
    Retried,
}

/// Processes sources. Clones share one worker.
#[derive(Clone)]
pub struct Worker {
    ports: WorkerPorts,
    settings: WorkerSettings,
    /// Limits the extractions that occupy a thread; one whose job was cancelled keeps its place
    /// until it has actually ended.
    threads: FairPool<Id<kind::Account>>,
    lanes: Lanes,
    warmer: Warmer,
}

/// The places of jobs, by lane. Each lane has as many again for accounts without a job in it, so
/// that no account waits for the slow work of another.
#[derive(Clone)]
struct Lanes {
    quick: FairPool<Id<kind::Account>>,
    files: FairPool<Id<kind::Account>>,
    websites: FairPool<Id<kind::Account>>,
}

impl Lanes {
    fn new(settings: &WorkerSettings) -> Self {
        let (parallel, crawls) = (places(settings.parallel), places(settings.crawls));
        Self { quick: parallel(), files: parallel(), websites: crawls() }
    }

    fn of(&self, lane: Lane) -> &FairPool<Id<kind::Account>> {
        match lane {
            Lane::Quick => &self.quick,
            Lane::File => &self.files,
            Lane::Website => &self.websites,
        }
    }
}

/// Pools of `count` places, with as many in reserve.
fn places(count: usize) -> impl Fn() -> FairPool<Id<kind::Account>> {
    let count = u64::try_from(count.max(1)).unwrap_or(u64::MAX);
    move || FairPool::new(count, count)
}

/// A claimed job, those that are carried out together with it, and their place.
struct Claimed {
    job: ClaimedJob,
    alike: Vec<ClaimedJob>,
    place: FairPermit<Id<kind::Account>>,
}

impl Worker {
    /// A worker over these ports.
    pub fn new(ports: WorkerPorts, settings: WorkerSettings) -> Self {
        let (threads, lanes) = (places(settings.parallel)(), Lanes::new(&settings));
        let warmer = Warmer::new(Arc::clone(&ports.index));
        Self { ports, settings, threads, lanes, warmer }
    }

    /// Claims one job, from the first lane that has one, and carries it out.
    ///
    /// # Errors
    ///
    /// Those of the store if the outcome could not be stored: then the lease expires and another worker
    /// takes the job.
    pub async fn run_one(&self) -> Result<Step, Error> {
        for lane in Lane::ALL {
            if let Some(claimed) = self.claim(lane).await? {
                return self.carry(claimed, &CancellationToken::new()).await;
            }
        }
        Ok(Step::Idle)
    }

    /// Carries out jobs, as many at once as its settings say, until `stop`. Jobs that do not finish within the grace
    /// period then return to the queue. Dropping the future ends them at once.
    pub async fn run(&self, stop: CancellationToken) {
        let release = CancellationToken::new();
        let grace = async {
            stop.cancelled().await;
            tokio::time::sleep(self.settings.grace).await;
            release.cancel();
        };
        let lanes = Lane::ALL.map(|lane| self.work(lane, &stop, &release));
        let work = futures_util::future::join_all(lanes);
        tokio::pin!(work);
        tokio::select! {
            _ = &mut work => return,
            () = self.take_back() => {}
            () = grace => {}
        }
        work.await;
    }

    /// Starts the jobs of a lane until `stop`, then waits for those that run.
    ///
    /// Invariant: there is one such loop for each lane in a process, so that a place that is free
    /// is not taken twice.
    async fn work(&self, lane: Lane, stop: &CancellationToken, release: &CancellationToken) {
        let mut jobs = JoinSet::new();
        let mut signal = self.ports.signal.listen();
        while !stop.is_cancelled() {
            match self.claim(lane).await {
                Ok(Some(claimed)) => {
                    let claimed = self.with_alike(claimed).await;
                    let (worker, release) = (self.clone(), release.clone());
                    jobs.spawn(async move { worker.carry_on(claimed, &release).await });
                }
                Ok(None) => tokio::select! {
                    () = stop.cancelled() => {}
                    () = signal.wait() => {}
                    () = self.until_due(lane) => {}
                    // The panic hook has logged a job that panicked; its lease expires.
                    Some(_) = jobs.join_next(), if !jobs.is_empty() => {}
                },
                Err(error) => {
                    report(&error);
                    stop.run_until_cancelled(tokio::time::sleep(OUTAGE_PAUSE)).await;
                }
            }
            while jobs.try_join_next().is_some() {}
        }
        while jobs.join_next().await.is_some() {}
    }

    /// Waits until the queue has a due job of the lane: one of another process, or one that is tried again.
    async fn until_due(&self, lane: Lane) {
        loop {
            tokio::time::sleep(self.settings.poll).await;
            match self.ports.jobs.next_due(lane).await {
                Ok(due) if due.is_some_and(|due| due <= self.ports.clock.now()) => return,
                Ok(_) => {}
                // The claim that follows fails in the same way and reports it.
                Err(_) => return,
            }
        }
    }

    /// Takes back jobs of vanished workers at regular intervals.
    async fn take_back(&self) {
        loop {
            if let Err(error) = self.reclaim(Reclaim::Expired).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "jobs of workers that have stopped could not be released; the next attempt \
                     will try again"
                );
            }
            tokio::time::sleep(RECLAIM_INTERVAL).await;
        }
    }

    /// Takes back jobs that are marked as running although their worker no longer exists.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] and [`Error::Internal`], as of every [store](cicerone_domain::ports).
    pub async fn reclaim(&self, which: Reclaim) -> Result<(), Error> {
        let entropy = Arc::clone(&self.ports.entropy);
        let event_id = Arc::new(move || Id::random(entropy.as_ref()));
        let back = self.ports.jobs.reclaim(which, self.ports.clock.now(), event_id).await?;
        if back.requeued > 0 || back.poisoned > 0 {
            tracing::warn!(
                requeued = back.requeued,
                failed = back.poisoned,
                "released jobs whose worker had stopped"
            );
            self.ports.signal.notify();
            self.ports.event_written.notify();
        }
        Ok(())
    }

    /// Claims the next job of a lane, if there is a place for it.
    async fn claim(&self, lane: Lane) -> Result<Option<Claimed>, Error> {
        let accounts = match self.lanes.of(lane).vacancy() {
            Vacancy::Anybody => ClaimableAccounts::All,
            Vacancy::Newcomer => ClaimableAccounts::Idle,
            Vacancy::Nobody => return Ok(None),
        };
        let token = Id::<kind::Job>::random(self.ports.entropy.as_ref()).suffix().to_owned();
        let now = self.ports.clock.now();
        let until = now.plus_millis(limits::JOB_LEASE_MILLIS);
        let which = Claimable { lane, accounts };
        let job = self.ports.jobs.claim_job(which, token, now, until).await?;
        Ok(job.map(|job| {
            let place = self.lanes.of(lane).hold(job.source.account_id, 1);
            Claimed { job, alike: Vec::new(), place }
        }))
    }

    /// Carries out a job. Logs an error if its outcome could not be stored.
    async fn carry_on(&self, claimed: Claimed, release: &CancellationToken) {
        if let Err(error) = self.carry(claimed, release).await {
            report(&error);
        }
    }

    /// Carries out jobs. Their place is freed after their outcomes are stored.
    async fn carry(&self, claimed: Claimed, release: &CancellationToken) -> Result<Step, Error> {
        let Claimed { job, alike, place: _place } = claimed;
        if !alike.is_empty() {
            self.carry_together([vec![job], alike].concat(), release).await;
            return Ok(Step::Done);
        }
        let work = async {
            let outcome = self.attempt(&job, release).await;
            self.conclude(&job, &job.lease, outcome).await
        };
        work.instrument(span(&job)).await
    }

    /// Stores the outcome of a job.
    async fn conclude(
        &self,
        job: &ClaimedJob,
        lease: &Lease,
        outcome: Outcome,
    ) -> Result<Step, Error> {
        let (jobs, now) = (&self.ports.jobs, self.ports.clock.now());
        let event = Id::random(self.ports.entropy.as_ref());
        let stored = match outcome {
            Outcome::Extracted(extracted) => {
                jobs.finish_trained(lease, extracted, event, now).await
            }
            Outcome::Crawled(title) => {
                self.ports.crawls.finish_crawl(lease, title, event, now).await
            }
            Outcome::Compared(title, comparison) => {
                let events = (event, Id::random(self.ports.entropy.as_ref()));
                self.ports.crawls.finish_compared(lease, title, comparison, events, now).await
            }
            Outcome::Unreadable(message) => {
                Ok(jobs.finish_failed(lease, message, event, now).await?)
            }
            Outcome::Fault(error) => Err(error),
            Outcome::Released => {
                jobs.requeue(lease, now, false).await?;
                return Ok(Step::Retried);
            }
            Outcome::Lost => Ok(None),
        };
        let ended = match stored {
            Ok(ended) => ended,
            Err(error) if error.is_transient() => return self.try_again(job, lease, error).await,
            Err(error) => self.give_up(lease, &error).await?,
        };
        self.note(job, ended.as_ref(), now);
        Ok(Step::Done)
    }

    /// Notes how a job ended; `None` if its lease was lost.
    fn note(&self, job: &ClaimedJob, ended: Option<&Source>, now: Timestamp) {
        match ended {
            Some(source) => self.ended(job, source, now),
            None => {
                tracing::info!(
                    "a job was cancelled: its source was deleted, or another worker has it"
                )
            }
        }
    }

    /// After a transient fault: puts the job back into the queue with a doubling pause, until its
    /// attempts are used up.
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
            "a transient failure interrupted the processing"
        );
        if let Some(pause) = pause_after_failure(attempt, self.ports.entropy.as_ref()) {
            self.ports.jobs.requeue(lease, now.after(pause), true).await?;
            return Ok(Step::Retried);
        }
        let message = if let Error::ContentMissing { .. } = error {
            material::NOT_STORED.to_owned()
        } else {
            format!(
                "the server's storage was unavailable {attempt} times during processing; add \
                 it again later"
            )
        };
        let event = Id::random(self.ports.entropy.as_ref());
        let ended = self.ports.jobs.finish_failed(lease, message, event, now).await?;
        self.note(job, ended.as_ref(), now);
        Ok(Step::Done)
    }

    /// After a refusal of the store or an internal error, which would only happen again: fails the
    /// source.
    async fn give_up(&self, lease: &Lease, error: &Error) -> Result<Option<Source>, Error> {
        let message = if let Error::BytesExceeded { .. } = error {
            error.to_string()
        } else {
            tracing::error!(error = error as &dyn std::error::Error, "processing failed");
            "an internal error stopped the processing; the server's log has the cause".to_owned()
        };
        let event = Id::random(self.ports.entropy.as_ref());
        let now = self.ports.clock.now();
        self.ports.jobs.finish_failed(lease, message, event, now).await
    }

    /// Logs how a job ended, wakes the deliverer of its event, and updates the index.
    fn ended(&self, job: &ClaimedJob, source: &Source, now: Timestamp) {
        self.ports.event_written.notify();
        let millis = now.as_millis() - job.queued_at.as_millis();
        let status = source.state.status().name();
        let kind = source.content.source_type().name();
        metrics::counter!("cicerone_jobs_total", "type" => kind, "status" => status).increment(1);
        metrics::histogram!("cicerone_job_duration_seconds", "type" => kind)
            .record(Duration::from_millis(u64::try_from(millis).unwrap_or(0)).as_secs_f64());
        tracing::info!(status, millis, "processed a source");
        if let SourceState::Trained(trained) = &source.state {
            let version = AgentVersion {
                id: source.agent_id,
                account_id: source.account_id,
                generation: trained.version,
            };
            self.warmer.warm(version);
        }
    }
}

/// The span of a job in the log and in traces.
fn span(job: &ClaimedJob) -> tracing::Span {
    tracing::info_span!(
        "job",
        job_id = %job.lease.job_id,
        source_id = %job.source.id,
        agent_id = %job.source.agent_id,
        kind = job.source.content.source_type().name(),
        request_id = job.request_id.map(tracing::field::display),
    )
}

/// Reports that the store could not be reached between jobs, or for the outcome of one.
fn report(error: &Error) {
    tracing::error!(
        error = error as &dyn std::error::Error,
        "a step of the worker failed; it will try again"
    );
}
