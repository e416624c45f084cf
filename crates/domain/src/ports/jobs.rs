//! The job port, and the signal that wakes workers in this process.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;

use crate::content::Extracted;
use crate::error::Error;
use crate::id::{Id, kind};
use crate::job::{Claimable, ClaimedJob, FinishedJob, Lane, Lease, Reclaim, Reclaimed};
use crate::source::Source;
use crate::timestamp::Timestamp;
use crate::upload::ObjectKey;
use crate::usage::Day;

/// Jobs as leased rows. A method that takes a [`Lease`] returns `None` or false, and changes nothing,
/// if it was lost: the job went to another worker, or the source was deleted.
#[async_trait]
pub trait JobStore: Send + Sync {
    /// Claims a job among those due at `now` that `which` allows, until `until`; its source goes to
    /// processing. `token` names the lease.
    ///
    /// The account with the fewest running jobs in the lane comes first, over all servers of the
    /// database; among equals, the job that has been due the longest.
    async fn claim_job(
        &self,
        which: Claimable,
        token: String,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<ClaimedJob>, Error>;
    /// Claims further jobs under the token of `job`, which was just claimed, to be carried out together with it: jobs
    /// of the quick lane, of small sources ([`limits::SMALL_SOURCE_BYTES`](crate::limits::SMALL_SOURCE_BYTES)) of the same
    /// agent, that come next in the account and have not crashed. There are fewer than
    /// [`limits::JOBS_TOGETHER`](crate::limits::JOBS_TOGETHER). Claims none if `job` is not such a job itself.
    async fn claim_alike(
        &self,
        job: &ClaimedJob,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<ClaimedJob>, Error>;
    /// Extends a lease.
    async fn heartbeat(&self, lease: &Lease, until: Timestamp) -> Result<bool, Error>;
    /// Stores what was extracted, and ends the job successfully. In one transaction the agent's
    /// generation is raised, the extracted content replaces the previous content, the source
    /// becomes trained with that generation as its version, the event `event` is written and the
    /// job is removed. Returns the source.
    ///
    /// Large content is first stored in several transactions, so that other writes can be made
    /// between them. It is not visible until the last one, and a later attempt or a failure removes
    /// it.
    async fn finish_trained(
        &self,
        lease: &Lease,
        extracted: Extracted,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<Source>, Error>;
    /// Does the same for several jobs of small sources of one agent, in one transaction. Returns their sources, in
    /// the same order. If it fails, nothing has changed.
    async fn finish_together(
        &self,
        account: Id<kind::Account>,
        finished: Vec<FinishedJob>,
        now: Timestamp,
    ) -> Result<Vec<Option<Source>>, Error>;
    /// Ends a job as failed. In one transaction the source becomes failed with `message` (replies
    /// still use its previous content), what the job has stored so far is removed, the event is
    /// written and the job is removed. Returns the source.
    async fn finish_failed(
        &self,
        lease: &Lease,
        message: String,
        event: Id<kind::Event>,
        now: Timestamp,
    ) -> Result<Option<Source>, Error>;
    /// Returns a job to the queue, to be tried again at `at`: after a transient failure, which counts as an attempt, or
    /// at a graceful stop, which does not.
    async fn requeue(&self, lease: &Lease, at: Timestamp, counts: bool) -> Result<bool, Error>;
    /// Releases jobs whose worker has stopped, each as a crash. A job with too many of them
    /// ([`Crashes::are_too_many`](crate::job::Crashes::are_too_many)) ends: its source fails with
    /// [`POISONED`](crate::job::POISONED) and gets its event, whose id `event_id` gives.
    async fn reclaim(
        &self,
        which: Reclaim,
        now: Timestamp,
        event_id: Arc<dyn Fn() -> Id<kind::Event> + Send + Sync>,
    ) -> Result<Reclaimed, Error>;
    /// When the next queued job of a lane is due, for a worker with nothing to do.
    async fn next_due(&self, lane: Lane) -> Result<Option<Timestamp>, Error>;
}

/// Regular removal of what is no longer needed.
#[async_trait]
pub trait Housekeeping: Send + Sync {
    /// Objects noted as discarded that are due at `now`, at most `limit`.
    async fn discarded_objects(&self, now: Timestamp, limit: u32) -> Result<Vec<ObjectKey>, Error>;
    /// Removes the records of deleted objects.
    async fn forget_objects(&self, keys: &[ObjectKey]) -> Result<(), Error>;
    /// Removes uploads older than `before` that no source uses, noting their objects as discarded.
    /// Returns their number.
    async fn expire_uploads(&self, before: Timestamp, now: Timestamp) -> Result<u64, Error>;
    /// Removes idempotency records whose life ended before `now`. Returns their number.
    async fn expire_idempotency(&self, now: Timestamp) -> Result<u64, Error>;
    /// Removes the deliveries from before a moment, but for those that an enabled endpoint still waits
    /// for, and the events without deliveries. Returns the number of deliveries.
    async fn expire_deliveries(&self, before: Timestamp) -> Result<u64, Error>;
    /// Gives ids to documents that a server of an earlier version stored without one. Accounts take turns, a source at a
    /// time; after `limit` sources, the turns end. Returns the number of sources.
    async fn complete_documents(&self, limit: u64) -> Result<u64, Error>;
    /// Continues interrupted deletions of agents, sources and conversations. Returns the number of
    /// those that it finished.
    async fn finish_removals(&self, now: Timestamp) -> Result<u64, Error>;
    /// Removes the conversations whose last message is older than their agent keeps them, and the
    /// stored answers that contain them. Returns their number.
    async fn expire_conversations(&self, now: Timestamp) -> Result<u64, Error>;
    /// Removes records of the audit log from before a moment. Returns their number.
    async fn expire_audit(&self, before: Timestamp) -> Result<u64, Error>;
    /// Removes the usage of days before `before`. Returns how many rows were removed.
    async fn expire_usage(&self, before: Day) -> Result<u64, Error>;
    /// Removes the numbers of messages of widgets on days before `before`. Returns how many were removed.
    async fn expire_widget_days(&self, before: Day) -> Result<u64, Error>;
    /// Removes questions in gaps of agents that have more than are kept, and gaps without questions. Looks at some
    /// agents after `after`, in the order of their ids. Returns how many questions were removed, and where to continue;
    /// `None` after the last agent.
    async fn expire_gaps(
        &self,
        after: Option<Id<kind::Agent>>,
    ) -> Result<(u64, Option<Id<kind::Agent>>), Error>;
    /// Removes deleted content from the files of the database: copies the write-ahead log into the
    /// database and empties it.
    async fn empty_log(&self) -> Result<(), Error>;
    /// The numbers of waiting and of running jobs, for the metrics.
    async fn job_counts(&self) -> Result<(u64, u64), Error>;
    /// When the oldest waiting job was queued, for the metrics.
    async fn oldest_waiting(&self) -> Result<Option<Timestamp>, Error>;
    /// How many deliveries are pending for enabled endpoints, and how many of them are due at `now`:
    /// for the metrics.
    async fn delivery_counts(&self, now: Timestamp) -> Result<(u64, u64), Error>;
}

/// Wakes the workers of this process when there is work. Workers find work queued by other
/// processes by polling.
#[derive(Debug, Clone)]
pub struct WorkSignal(watch::Sender<()>);

/// One worker's end of a [`WorkSignal`].
#[derive(Debug)]
pub struct WorkListener(watch::Receiver<()>);

impl Default for WorkSignal {
    fn default() -> Self {
        Self(watch::Sender::new(()))
    }
}

impl WorkSignal {
    /// Signals that there is work. Every listener is woken, now or when it waits next.
    pub fn notify(&self) {
        self.0.send_replace(());
    }

    /// Starts listening. Earlier signals are not delivered: listen first, then look for work.
    pub fn listen(&self) -> WorkListener {
        WorkListener(self.0.subscribe())
    }
}

impl WorkListener {
    /// Waits for a signal, or returns immediately if there was one since the last wait.
    pub async fn wait(&mut self) {
        if self.0.changed().await.is_err() {
            // Every sender is gone, so that no signal can come.
            std::future::pending::<()>().await;
        }
    }
}
