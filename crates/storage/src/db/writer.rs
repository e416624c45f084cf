//! The one writer of a SQLite file: a thread that commits all queued changes together.
//!
//! A commit with `synchronous = FULL` waits for the disk. One transaction for all changes that arrived during the
//! previous wait makes writes both durable and fast. If a change fails, all of them are rolled back and repeated, each
//! in its own savepoint, so that the failed one has no effect. Failures are rare, and two savepoint statements for each
//! change would take a tenth of the time of a reply.
//!
//! Parties take turns, and a batch ends after a time slice: a change waits for the batch before it
//! and for one change of each other party, not for all changes that others have queued.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use diesel::connection::TransactionManager as _;
use parking_lot::RwLock;
use tokio::sync::{mpsc, oneshot};

use super::checkpoint::Checkpoints;
use super::kept::{OwnedWork, Work};
use super::threads::{closed, hand_over, in_time, spawn, too_late};
use super::{Party, guarded, limited, timed, waited};
use crate::connection::{Access, AnyConnection, connect};
use crate::dialect::{Begin, begin_transaction, transaction};
use crate::error::{OpenError, TransactionError};
use crate::reserve::Reserve;
use crate::url::DatabaseUrl;
use crate::usage::{Counted, Counts};
use line::Line;

mod line;

/// Units of work in one commit.
const BATCH: usize = 256;
/// How long units are added to a commit: the next ones wait for it. The unit in progress is
/// finished.
const SLICE: Duration = Duration::from_millis(10);
/// How long a commit waits at most for more units while several callers write, so that more of them
/// share its cost. A single write is not delayed.
const GATHER: Duration = Duration::from_millis(1);
/// The pause between two checks for more units, if few are expected.
const LOOK: Duration = Duration::from_micros(50);
/// The maximum number of units that count as few.
const FEW: usize = 8;
/// Units that may wait in the queue; further callers wait until there is room.
const QUEUE: usize = 1_024;
/// Units of one party that are queued or in a batch, if no other party writes. As many are in
/// reserve for parties that use less than their share, so a flood from one account delays another
/// account's change by at most this many units.
const UNDER_WAY: u64 = 64;

/// What a change is for.
pub(super) enum Purpose {
    /// Anything.
    Change,
    /// Storing a turn, which changes only conversations and their counts.
    Turn(Box<Counted>),
    /// Freeing space: also carried out on a full disk.
    Deletion,
}

/// SQLite's message for a full disk.
const FULL: &str = "disk is full";

/// The writer's thread and its queue.
pub(super) struct Writer {
    queue: RwLock<Option<mpsc::Sender<Unit>>>,
    /// Commits of more than turns.
    changes: Arc<AtomicU64>,
    places: FairPool<Party>,
    /// Closed after the thread has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    /// How long a change may take, and how long it may wait for its turn.
    limit: Duration,
    /// Space that is reserved for deletions.
    reserve: Option<Arc<Reserve>>,
}

/// One change, from the queue until its outcome is delivered.
struct Unit {
    /// The party that it is done for.
    party: Party,
    queued: Instant,
    /// When it must have begun.
    deadline: Option<Instant>,
    /// How long it may take.
    limit: Duration,
    purpose: Purpose,
    /// Space that is reserved for deletions.
    reserve: Option<Arc<Reserve>>,
    work: OwnedWork,
    outcome: Option<Result<(), Error>>,
    _place: Option<FairPermit<Party>>,
    reply: oneshot::Sender<Delivered>,
}

/// An outcome, with what the caller allocated for the change. The caller frees it: threads that free each other's memory
/// wait for each other in glibc's allocator, and the writer would become the owner of memory of all of them.
struct Delivered {
    outcome: Result<(), Error>,
    _work: OwnedWork,
    _purpose: Purpose,
}

impl Unit {
    /// Does the work in the open transaction and keeps the outcome. Returns false if it failed and
    /// may have left something half done.
    fn run(&mut self, c: &mut AnyConnection) -> bool {
        waited("writer", self.queued);
        if let Err(refusal) = in_time(self.deadline).and_then(|()| self.check_space()) {
            // It has changed nothing, so the other units of the batch are not affected.
            self.outcome = Some(Err(refusal));
            return true;
        }
        let outcome = limited("write", self.limit, c, &mut *self.work);
        let succeeded = outcome.is_ok();
        self.outcome = Some(outcome.map_err(Error::from));
        succeeded
    }

    /// The same in a savepoint, which is rolled back after a failure.
    fn run_apart(&mut self, c: &mut AnyConnection) {
        let outcome = in_savepoint(c, self.limit, &self.purpose, &mut *self.work);
        self.outcome = Some(outcome.map_err(Error::from));
    }

    /// Discards the outcome, because the transaction was rolled back.
    fn reset(&mut self) {
        self.outcome = None;
    }

    /// Whether it succeeded.
    fn is_done(&self) -> bool {
        matches!(self.outcome, Some(Ok(_)))
    }

    /// Whether it failed because the disk is full.
    fn met_a_full_disk(&self) -> bool {
        let Some(Err(Error::Unavailable(cause))) = &self.outcome else { return false };
        cause.to_string().contains(FULL)
    }

    /// Sends the outcome to the waiting caller: the kept one if the transaction was committed,
    /// otherwise an error with the reason why nothing was changed.
    fn deliver(self, committed: Result<(), &str>) {
        let outcome = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            // The unit's own error is more informative than the transaction's.
            (Err(_), Some(Err(error @ Error::Unavailable(_)))) => Err(error),
            // Invariant: a refusal is not delivered if nothing was committed. It was decided in the
            // presence of other changes that were rolled back.
            (Ok(()), None) => Err(Error::unavailable("the transaction ended before this change")),
            (Err(cause), _) => Err(Error::unavailable(cause.to_owned())),
        };
        // A caller that went away needs no outcome.
        let delivered = Delivered { outcome, _work: self.work, _purpose: self.purpose };
        let _ = self.reply.send(delivered);
    }

    /// Refuses a change while the space that is reserved for deletions is used up.
    fn check_space(&self) -> Result<(), Error> {
        let is_short = self.reserve.as_ref().is_some_and(|reserve| !reserve.is_held());
        if is_short && !matches!(self.purpose, Purpose::Deletion) {
            return Err(Error::unavailable(format!("the {FULL}: only deletions are carried out")));
        }
        Ok(())
    }
}

/// Does work in a savepoint, with what it counts.
fn in_savepoint(
    c: &mut AnyConnection,
    limit: Duration,
    purpose: &Purpose,
    work: Work<'_>,
) -> Result<(), TransactionError> {
    timed("write", limit, || {
        transaction(c, Begin::Savepoint, |c| {
            guarded(c, work)?;
            if let Purpose::Turn(counted) = purpose {
                counted.store(c)?;
            }
            Ok(())
        })
    })
}

impl Writer {
    /// Starts the thread with this connection. A change may take `limit`, and wait as long for its
    /// turn.
    pub(super) fn start(
        connection: AnyConnection,
        url: DatabaseUrl,
        limit: Duration,
        reserve: Option<Arc<Reserve>>,
    ) -> Result<Self, OpenError> {
        let (queue, units) = mpsc::channel(QUEUE);
        let (alive, ended) = mpsc::channel(1);
        let held = reserve.clone();
        let checkpoints = Checkpoints::start(&url)?;
        let changes = Arc::new(AtomicU64::new(0));
        let changed = Arc::clone(&changes);
        spawn("storage-writer".to_owned(), move || {
            drain(units, connection, &url, &checkpoints, held.as_deref(), &changed);
            drop(checkpoints);
            drop(alive);
        })?;
        let places = FairPool::new(UNDER_WAY, UNDER_WAY);
        let queue = RwLock::new(Some(queue));
        Ok(Self { queue, changes, places, ended: tokio::sync::Mutex::new(ended), limit, reserve })
    }

    /// How many commits of more than turns there were. It grows before their units are delivered.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// When it is the party's turn, does `work` in a transaction that is committed when this
    /// returns.
    pub(super) async fn run(
        &self,
        party: Party,
        purpose: Purpose,
        work: OwnedWork,
    ) -> Result<(), Error> {
        let (reply, outcome) = oneshot::channel();
        let (queued, limit) = (Instant::now(), self.limit);
        let deadline = queued.checked_add(limit);
        let place = self.places.acquire(party, 1, Urgency::Question);
        let place = tokio::time::timeout(limit, place).await.map_err(|_| too_late())?;
        let place = Some(place);
        let reserve = self.reserve.clone();
        let unit = Unit {
            party,
            queued,
            deadline,
            limit,
            purpose,
            reserve,
            work,
            outcome: None,
            _place: place,
            reply,
        };
        self.hand_over(unit).await?;
        outcome.await.map_err(|_| closed())?.outcome
    }

    /// Queues a unit; waits if many are queued.
    async fn hand_over(&self, unit: Unit) -> Result<(), Error> {
        let queue = self.queue.read().clone().ok_or_else(closed)?;
        hand_over(&queue, unit, self.limit).await
    }

    /// Accepts no more work and waits for the thread to end.
    pub(super) async fn close(&self) {
        self.queue.write().take();
        // Nothing is ever sent: this returns when the thread has dropped its sender.
        self.ended.lock().await.recv().await;
    }
}

/// The body of the thread: commits batch after batch until the queue is closed and empty.
fn drain(
    mut units: mpsc::Receiver<Unit>,
    connection: AnyConnection,
    url: &DatabaseUrl,
    checkpoints: &Checkpoints,
    reserve: Option<&Reserve>,
    changes: &AtomicU64,
) {
    let mut connection = Some(connection);
    let mut line = Line::default();
    let mut expected = 0;
    let mut is_released = false;
    loop {
        if line.is_empty() {
            let Some(first) = units.blocking_recv() else { return };
            line.push(first);
            gather(&units, expected);
        }
        while let Ok(unit) = units.try_recv() {
            line.push(unit);
        }
        if let Some(reserve) = reserve
            && !is_released
        {
            reserve.retake();
        }
        let mut batch = Vec::new();
        let committed = carry_out(&mut connection, url, &mut line, &mut batch);
        expected = expected_after(batch.len(), expected);
        // Also if it failed: the database may have kept it.
        if !batch.iter().all(|unit| matches!(unit.purpose, Purpose::Turn(_))) {
            changes.fetch_add(1, Ordering::Release);
        }
        let (mut deletions, others): (Vec<_>, Vec<_>) =
            batch.into_iter().partition(|unit| lacks_space(unit, &committed));
        is_released = !deletions.is_empty() && reserve.is_some_and(Reserve::release);
        if is_released {
            deletions.iter_mut().for_each(Unit::reset);
            line.put_back(deletions);
        } else {
            deliver(deletions, &committed);
        }
        deliver(others, &committed);
        if let Some(connection) = &mut connection {
            checkpoints.after_commit(connection);
        }
    }
}

/// The number of units that the next commit waits for: the number in a recent commit. Two callers do not wait for a
/// third. If fewer callers write than before, each wait for missing units lowers the number.
fn expected_after(committed: usize, expected: usize) -> usize {
    committed.max(expected - expected.div_ceil(8))
}

/// Waits until the expected number of units has arrived, one of which was taken from the queue.
fn gather(queue: &mpsc::Receiver<Unit>, expected: usize) {
    // Many rarely arrive together, and looking for them would cost more than it gains.
    let pause = if expected > FEW { GATHER } else { LOOK };
    let began = Instant::now();
    while queue.len() + 1 < expected && began.elapsed() < GATHER {
        std::thread::sleep(pause);
    }
}

/// Commits a batch of waiting units. Returns the cause if nothing of it was committed.
fn carry_out(
    connection: &mut Option<AnyConnection>,
    url: &DatabaseUrl,
    line: &mut Line,
    batch: &mut Vec<Unit>,
) -> Result<(), String> {
    let committed = usable(connection, url)
        .map_err(|error| error.to_string())
        .and_then(|connection| commit_together(connection, line, batch));
    if committed.is_err() && batch.is_empty() {
        // No transaction could be started, so none of them can run.
        batch.extend(std::iter::from_fn(|| line.take()));
    }
    if let Err(cause) = &committed {
        tracing::warn!(changes = batch.len(), %cause, "a transaction failed as a whole");
    }
    committed
}

/// Whether this is a deletion that failed because the disk is full.
fn lacks_space(unit: &Unit, committed: &Result<(), String>) -> bool {
    let met_a_full_disk = match committed {
        Ok(()) => unit.met_a_full_disk(),
        Err(cause) => cause.contains(FULL) || unit.met_a_full_disk(),
    };
    matches!(unit.purpose, Purpose::Deletion) && met_a_full_disk
}

/// Hands the outcomes to the waiting callers.
fn deliver(batch: Vec<Unit>, committed: &Result<(), String>) {
    for unit in batch {
        unit.deliver(committed.as_ref().copied().map_err(String::as_str));
    }
}

/// Returns the connection, reopened if the previous one got stuck in a transaction.
fn usable<'a>(
    connection: &'a mut Option<AnyConnection>,
    url: &DatabaseUrl,
) -> Result<&'a mut AnyConnection, OpenError> {
    connection.take_if(AnyConnection::is_broken_transaction_manager);
    match connection {
        Some(connection) => Ok(connection),
        None => Ok(connection.insert(connect(url, Access::Write)?)),
    }
}

/// Moves waiting units into the batch, runs them in one transaction and commits it. Returns the
/// cause if nothing of it was committed.
fn commit_together(
    c: &mut AnyConnection,
    line: &mut Line,
    batch: &mut Vec<Unit>,
) -> Result<(), String> {
    // A single change that failed would fail again.
    if commit_all(c, line, batch)? || matches!(&batch[..], [unit] if !unit.is_done()) {
        return Ok(());
    }
    batch.iter_mut().for_each(Unit::reset);
    begin_transaction(c, Begin::Write).map_err(|error| error.to_string())?;
    for unit in batch.iter_mut() {
        unit.run_apart(c);
        check_open(c)?;
    }
    AnyConnection::commit_transaction(c).map_err(|error| error.to_string())
}

/// Takes units and runs them until none waits or the time slice is over, then counts their turns and commits. If
/// something fails, rolls everything back and returns false.
fn commit_all(
    c: &mut AnyConnection,
    line: &mut Line,
    batch: &mut Vec<Unit>,
) -> Result<bool, String> {
    begin_transaction(c, Begin::Write).map_err(|error| error.to_string())?;
    let (began, mut counts) = (Instant::now(), Counts::default());
    while batch.len() < BATCH
        && (batch.is_empty() || began.elapsed() < SLICE)
        && let Some(mut unit) = line.take()
    {
        let succeeded = unit.run(c);
        batch.push(unit);
        check_open(c)?;
        if !succeeded {
            AnyConnection::rollback_transaction(c).map_err(|error| error.to_string())?;
            return Ok(false);
        }
    }
    for unit in batch.iter().filter(|unit| unit.is_done()) {
        if let Purpose::Turn(counted) = &unit.purpose {
            counts.add(counted);
        }
    }
    if let Err(error) = counts.store(c) {
        tracing::warn!(%error, "turns could not be counted together");
        check_open(c)?;
        AnyConnection::rollback_transaction(c).map_err(|error| error.to_string())?;
        return Ok(false);
    }
    AnyConnection::commit_transaction(c).map_err(|error| error.to_string())?;
    Ok(true)
}

/// On errors such as a full disk, SQLite ends the entire transaction itself. Statements after that would be committed
/// separately, so none may run.
fn check_open(c: &mut AnyConnection) -> Result<(), String> {
    if is_open(c) {
        return Ok(());
    }
    Err("the database ended the transaction after a failure".to_owned())
}

/// Whether the transaction of the batch is still open, without a savepoint in it.
fn is_open(c: &mut AnyConnection) -> bool {
    let status = AnyConnection::transaction_manager_status_mut(c);
    status.transaction_depth().is_ok_and(|depth| depth.is_some_and(|depth| depth.get() == 1))
}

#[cfg(test)]
mod tests;
