//! Scripted ports: a queue in memory with faults chosen by the test.

mod guard;
mod reader;
mod site;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::idempotency::Completion;
use cicerone_domain::job::{
    Claimable, ClaimableAccounts, ClaimedJob, FinishedJob, Lane, Lease, Reclaim, Reclaimed,
};
use cicerone_domain::ports::{
    JobStore, ObjectStore, PassageIndex, UploadStore, WorkListener, WorkSignal,
};
use cicerone_domain::retrieval::{AgentVersion, Found, Query};
use cicerone_domain::source::{SourceText, Trained};
use cicerone_domain::upload::{Filename, ObjectKey};
use cicerone_domain::{
    Clock, Error, Extracted, Id, Scope, Source, SourceContent, SourceState, SystemEntropy,
    Timestamp, Upload, UploadType, kind,
};
use cicerone_processing::{Worker, WorkerPorts, WorkerSettings};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Characters of a source that cannot be stored together with others.
const LARGE: u64 = 100;

#[derive(Default)]
struct State {
    queue: VecDeque<ClaimedJob>,
    /// When the queue is due, in milliseconds.
    due: i64,
    running: Vec<ClaimedJob>,
    uploads: Vec<(Upload, Option<Bytes>)>,
    log: Vec<String>,
    now: i64,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    signal: WorkSignal,
    event_written: WorkSignal,
    objects_broken: AtomicBool,
    objects_stalled: AtomicBool,
    finish_broken: AtomicBool,
    lease_lost: AtomicBool,
    guard: Mutex<guard::Guarded>,
    claimed: Notify,
    synchronised: Notify,
}

/// All ports of a worker, with controls for the test.
#[derive(Clone, Default)]
pub(crate) struct Script(Arc<Inner>);

/// A text as the content of a source.
pub(crate) fn text(text: &str) -> SourceContent {
    SourceContent::Text(SourceText::from_stored(text))
}

fn lane(job: &ClaimedJob) -> Lane {
    Lane::of(job.source.content.source_type())
}

fn out_of_reach() -> Error {
    Error::unavailable(std::io::Error::other("scripted"))
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn worker(&self) -> Worker {
        let reader = Arc::new(reader::Texts);
        let ports = WorkerPorts {
            jobs: Arc::new(self.clone()),
            uploads: Arc::new(self.clone()),
            objects: Arc::new(self.clone()),
            crawler: Arc::new(self.crawler(reader.clone())),
            reader,
            crawls: Arc::new(self.clone()),
            answers: Arc::new(self.clone()),
            index: Arc::new(self.clone()),
            signal: self.0.signal.clone(),
            event_written: self.0.event_written.clone(),
            clock: Arc::new(self.clone()),
            entropy: Arc::new(SystemEntropy),
        };
        Worker::new(ports, WorkerSettings::default())
    }

    pub(crate) fn queue(&self, content: SourceContent) {
        self.queue_for(Id::random(&SystemEntropy), content);
    }

    pub(crate) fn queue_for(&self, account_id: Id<kind::Account>, content: SourceContent) {
        self.queue_of(account_id, Id::random(&SystemEntropy), content);
    }

    pub(crate) fn queue_of(
        &self,
        account_id: Id<kind::Account>,
        agent_id: Id<kind::Agent>,
        content: SourceContent,
    ) {
        let source = Source {
            id: Id::random(&SystemEntropy),
            account_id,
            agent_id,
            content,
            state: SourceState::Pending,
            progress: None,
            guarded: false,
            managed: None,
            created_at: Timestamp::from_millis(0),
        };
        let lease = Lease {
            job_id: Id::random(&SystemEntropy),
            source_id: source.id,
            token: String::new(),
        };
        let job = ClaimedJob {
            lease,
            source,
            attempts: 0,
            queued_at: Timestamp::from_millis(0),
            request_id: None,
        };
        self.0.state.lock().queue.push_back(job);
        self.0.signal.notify();
    }

    pub(crate) fn queue_file(&self, name: &str, bytes: Option<&'static [u8]>) {
        self.queue_file_for(Id::random(&SystemEntropy), name, bytes);
    }

    pub(crate) fn queue_file_for(
        &self,
        account: Id<kind::Account>,
        name: &str,
        bytes: Option<&'static [u8]>,
    ) {
        let upload = Upload {
            id: Id::random(&SystemEntropy),
            account_id: Id::random(&SystemEntropy),
            filename: Filename::clean(name),
            content_type: UploadType::Text,
            bytes: bytes.map_or(0, |bytes| bytes.len() as u64),
            created_at: Timestamp::from_millis(0),
        };
        let content = SourceContent::File(upload.id);
        self.0.state.lock().uploads.push((upload, bytes.map(Bytes::from_static)));
        self.queue_for(account, content);
    }

    /// The sources that run, by account.
    pub(crate) fn running_of(&self, account: Id<kind::Account>) -> usize {
        let state = self.0.state.lock();
        state.running.iter().filter(|job| job.source.account_id == account).count()
    }

    /// Waits until this many jobs run.
    pub(crate) async fn running(&self, count: usize) {
        while self.0.state.lock().running.len() < count {
            self.0.claimed.notified().await;
        }
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.0.state.lock().log.clone()
    }

    pub(crate) fn advance_millis(&self, by: i64) {
        self.0.state.lock().now += by;
    }

    pub(crate) fn break_objects(&self) {
        self.0.objects_broken.store(true, Ordering::SeqCst);
    }

    pub(crate) fn stall_objects(&self) {
        self.0.objects_stalled.store(true, Ordering::SeqCst);
    }

    pub(crate) fn break_finish(&self) {
        self.0.finish_broken.store(true, Ordering::SeqCst);
    }

    pub(crate) fn lose_lease(&self) {
        self.0.lease_lost.store(true, Ordering::SeqCst);
    }

    /// Listens from now on for events to be delivered.
    pub(crate) fn event_written(&self) -> WorkListener {
        self.0.event_written.listen()
    }

    pub(crate) async fn claimed(&self) {
        self.0.claimed.notified().await;
    }

    pub(crate) async fn synchronised(&self) {
        self.0.synchronised.notified().await;
    }

    /// Ends the running job, if `lease` still holds it.
    fn end(&self, lease: &Lease, line: String, state: SourceState) -> Option<Source> {
        let mut inner = self.0.state.lock();
        let index = inner.running.iter().position(|job| job.lease == *lease)?;
        let job = inner.running.swap_remove(index);
        inner.log.push(line);
        Some(Source { state, ..job.source })
    }
}

impl Clock for Script {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.state.lock().now)
    }
}

#[async_trait]
impl JobStore for Script {
    async fn claim_job(
        &self,
        which: Claimable,
        token: String,
        now: Timestamp,
        _until: Timestamp,
    ) -> Result<Option<ClaimedJob>, Error> {
        let mut state = self.0.state.lock();
        if state.due > now.as_millis() {
            return Ok(None);
        }
        let running = |job: &ClaimedJob| {
            let is_same = |other: &&ClaimedJob| {
                lane(other) == lane(job) && other.source.account_id == job.source.account_id
            };
            state.running.iter().filter(is_same).count()
        };
        let may = |job: &ClaimedJob| {
            lane(job) == which.lane
                && (which.accounts == ClaimableAccounts::All || running(job) == 0)
        };
        let allowed = state.queue.iter().enumerate().filter(|(_, job)| may(job));
        let Some((index, _)) = allowed.min_by_key(|(_, job)| running(job)) else {
            return Ok(None);
        };
        let Some(mut job) = state.queue.remove(index) else { return Ok(None) };
        job.lease.token = token;
        state.running.push(job.clone());
        self.0.claimed.notify_one();
        Ok(Some(job))
    }

    async fn claim_alike(
        &self,
        claimed: &ClaimedJob,
        _now: Timestamp,
        _until: Timestamp,
    ) -> Result<Vec<ClaimedJob>, Error> {
        let mut state = self.0.state.lock();
        let is_alike = |job: &ClaimedJob| job.source.agent_id == claimed.source.agent_id;
        let (mut alike, queue): (Vec<_>, Vec<_>) = state.queue.drain(..).partition(is_alike);
        alike.iter_mut().for_each(|job| job.lease.token.clone_from(&claimed.lease.token));
        state.queue = queue.into();
        state.running.extend(alike.iter().cloned());
        Ok(alike)
    }

    async fn heartbeat(&self, _lease: &Lease, _until: Timestamp) -> Result<bool, Error> {
        Ok(!self.0.lease_lost.load(Ordering::SeqCst))
    }

    async fn finish_trained(
        &self,
        lease: &Lease,
        extracted: Extracted,
        _event: Id<kind::Event>,
        _now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        if self.0.finish_broken.load(Ordering::SeqCst) {
            return Err(out_of_reach());
        }
        let line = format!("trained {} passages", extracted.passages().count());
        let trained =
            Trained { character_count: 0, title: extracted.title, version: 1, partial: None };
        Ok(self.end(lease, line, SourceState::Trained(trained)))
    }

    async fn finish_together(
        &self,
        _account: Id<kind::Account>,
        finished: Vec<FinishedJob>,
        now: Timestamp,
    ) -> Result<Vec<Option<Source>>, Error> {
        let count = finished.len();
        let is_large = |job: &FinishedJob| job.extracted.character_count() > LARGE;
        if finished.iter().any(is_large) {
            self.0.state.lock().log.push(format!("refused {count} together"));
            return Err(out_of_reach());
        }
        self.0.state.lock().log.push(format!("{count} together"));
        let mut sources = Vec::new();
        for FinishedJob { lease, extracted, event } in finished {
            sources.push(self.finish_trained(&lease, extracted, event, now).await?);
        }
        Ok(sources)
    }

    async fn finish_failed(
        &self,
        lease: &Lease,
        message: String,
        _event: Id<kind::Event>,
        _now: Timestamp,
    ) -> Result<Option<Source>, Error> {
        let line = format!("failed {message}");
        Ok(self.end(lease, line, SourceState::Failed { message, last: None }))
    }

    async fn requeue(&self, lease: &Lease, at: Timestamp, counts: bool) -> Result<bool, Error> {
        let mut state = self.0.state.lock();
        let Some(index) = state.running.iter().position(|job| job.lease == *lease) else {
            return Ok(false);
        };
        let mut job = state.running.swap_remove(index);
        job.attempts += u32::from(counts);
        state.log.push(if counts { "requeued, counts" } else { "requeued" }.to_owned());
        state.due = at.as_millis();
        state.queue.push_back(job);
        Ok(true)
    }

    async fn reclaim(
        &self,
        _which: Reclaim,
        _now: Timestamp,
        _event_id: Arc<dyn Fn() -> Id<kind::Event> + Send + Sync>,
    ) -> Result<Reclaimed, Error> {
        Ok(Reclaimed::default())
    }

    async fn next_due(&self, wanted: Lane) -> Result<Option<Timestamp>, Error> {
        let state = self.0.state.lock();
        let is_any = state.queue.iter().any(|job| lane(job) == wanted);
        Ok(is_any.then(|| Timestamp::from_millis(state.due)))
    }
}

#[async_trait]
impl UploadStore for Script {
    async fn expect_object(&self, _key: &ObjectKey, _deadline: Timestamp) -> Result<(), Error> {
        Ok(())
    }

    async fn insert_upload(
        &self,
        upload: Upload,
        _completion: Option<Completion<Upload>>,
    ) -> Result<Upload, Error> {
        Ok(upload)
    }

    async fn find_upload(
        &self,
        _scope: &Scope,
        id: Id<kind::Upload>,
    ) -> Result<Option<Upload>, Error> {
        let state = self.0.state.lock();
        Ok(state.uploads.iter().map(|(upload, _)| upload).find(|upload| upload.id == id).cloned())
    }

    async fn delete_upload(
        &self,
        _scope: &Scope,
        _id: Id<kind::Upload>,
        _now: Timestamp,
        _completion: Option<Completion<()>>,
    ) -> Result<(), Error> {
        Ok(())
    }
}

#[async_trait]
impl ObjectStore for Script {
    async fn put(&self, _key: &ObjectKey, _bytes: Bytes) -> Result<(), Error> {
        Ok(())
    }

    async fn get(&self, key: &ObjectKey) -> Result<Option<Bytes>, Error> {
        if self.0.objects_stalled.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.0.objects_broken.load(Ordering::SeqCst) {
            return Err(out_of_reach());
        }
        let state = self.0.state.lock();
        let found = state.uploads.iter().find(|(upload, _)| upload.object_key() == *key);
        Ok(found.and_then(|(_, bytes)| bytes.clone()))
    }

    async fn delete(&self, _key: &ObjectKey) -> Result<(), Error> {
        Ok(())
    }
}

#[async_trait]
impl PassageIndex for Script {
    async fn search(
        &self,
        _agent: AgentVersion,
        _query: &Query,
        _limit: usize,
    ) -> Result<Found, Error> {
        Ok(Found::default())
    }

    async fn candidate(
        &self,
        _: (Id<kind::Account>, Id<kind::Agent>),
        _: Id<kind::Source>,
    ) -> Result<Option<Arc<dyn PassageIndex>>, Error> {
        Ok(self.new_content())
    }

    async fn synchronise(&self, _agent: AgentVersion) -> Result<(), Error> {
        self.0.synchronised.notify_one();
        Ok(())
    }

    async fn remove(&self, _agent: Id<kind::Agent>) -> Result<(), Error> {
        Ok(())
    }
}
