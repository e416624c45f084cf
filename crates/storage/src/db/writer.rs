//! The one writer of a SQLite file: a thread that commits together what has queued up.
//!
//! A commit with `synchronous = FULL` waits for the disk. One transaction for all that arrived during
//! the wait before makes writes durable and fast at once. One that fails leaves no trace in what the
//! others commit: then all of it is taken back and done again, each unit in a savepoint of its own.
//! Failures are rare, and two savepoint statements a unit would be a tenth of what a reply costs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::Error;
use cicerone_domain::fairness::{FairPermit, FairPool, Urgency};
use diesel::connection::TransactionManager as _;
use parking_lot::RwLock;
use tokio::sync::{mpsc, oneshot};

use super::threads::{closed, hand_over, in_time, spawn, too_late};
use super::{Party, guarded, timed, waited};
use crate::connection::{Access, AnyConnection, connect};
use crate::dialect::{Begin, begin_transaction, transaction};
use crate::error::{Failure, OpenError};
use crate::reserve::Reserve;
use crate::url::DatabaseUrl;

/// Units of work in one commit.
const BATCH: usize = 256;
/// How long others are waited for while several write at once: what a commit costs the processor is
/// then shared by more of them. Whoever writes alone waits for nobody.
const GATHER: Duration = Duration::from_millis(1);
/// Units that may wait; beyond, callers wait to hand theirs over.
const QUEUE: usize = 1_024;
/// Units of one party that are on their way to the writer or in a batch, if no other party writes; as
/// many are in reserve for parties that have fewer than their share. So a flood of one account delays
/// another's change by so many others at most.
const UNDER_WAY: u64 = 64;

/// What a change is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Anything.
    Change,
    /// Giving space back: carried out on a full disk too.
    Deletion,
}

/// How SQLite says that the disk is full.
const FULL: &str = "disk is full";

/// The writer's thread and the way to it.
pub(super) struct Writer {
    queue: RwLock<Option<mpsc::Sender<Box<dyn Unit>>>>,
    places: FairPool<Party>,
    /// Closed when the thread has ended.
    ended: tokio::sync::Mutex<mpsc::Receiver<()>>,
    /// How long a change may take, and how long it may wait for its turn.
    limit: Duration,
    /// Space that is held back for deletions.
    reserve: Option<Arc<Reserve>>,
}

/// One change, from the queue until its outcome is delivered.
trait Unit: Send {
    /// Does the work in the open transaction and keeps the outcome. False where it failed, and may
    /// have left something half done.
    fn run(&mut self, c: &mut AnyConnection) -> bool;
    /// The same in a savepoint, which a failure takes back.
    fn run_apart(&mut self, c: &mut AnyConnection);
    /// Forgets the outcome: what it rests on was rolled back.
    fn reset(&mut self);
    /// What it is for.
    fn purpose(&self) -> Purpose;
    /// Whether it failed since the disk is full.
    fn met_a_full_disk(&self) -> bool;
    /// Hands the outcome to whoever waits: what was kept if the transaction was committed, else that
    /// nothing was changed, and why.
    fn deliver(self: Box<Self>, committed: Result<(), &str>);
}

struct Work<T, F> {
    queued: Instant,
    /// Until when it may begin.
    deadline: Option<Instant>,
    /// How long it may take.
    limit: Duration,
    purpose: Purpose,
    /// Space that is held back for deletions.
    reserve: Option<Arc<Reserve>>,
    work: F,
    outcome: Option<Result<T, Error>>,
    _place: Option<FairPermit<Party>>,
    reply: oneshot::Sender<Result<T, Error>>,
}

impl<T, F> Unit for Work<T, F>
where
    T: Send,
    F: FnMut(&mut AnyConnection) -> Result<T, Failure> + Send,
{
    fn run(&mut self, c: &mut AnyConnection) -> bool {
        waited("writer", self.queued);
        if let Err(refusal) = in_time(self.deadline).and_then(|()| self.check_space()) {
            // It has changed nothing, and disturbs nobody.
            self.outcome = Some(Err(refusal));
            return true;
        }
        let outcome = timed("write", self.limit, || guarded(c, &mut self.work));
        let succeeded = outcome.is_ok();
        self.outcome = Some(outcome.map_err(Error::from));
        succeeded
    }

    fn run_apart(&mut self, c: &mut AnyConnection) {
        let outcome = timed("write", self.limit, || {
            transaction(c, Begin::Savepoint, |c| guarded(c, &mut self.work))
        });
        self.outcome = Some(outcome.map_err(Error::from));
    }

    fn reset(&mut self) {
        self.outcome = None;
    }

    fn purpose(&self) -> Purpose {
        self.purpose
    }

    fn met_a_full_disk(&self) -> bool {
        let Some(Err(Error::Unavailable(cause))) = &self.outcome else { return false };
        cause.to_string().contains(FULL)
    }

    fn deliver(self: Box<Self>, committed: Result<(), &str>) {
        let outcome = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            // Its own fault says more than that of the transaction.
            (Err(_), Some(Err(error @ Error::Unavailable(_)))) => Err(error),
            // Invariant: a refusal is not delivered where nothing was committed. It was judged beside
            // changes of others that were rolled back.
            (Ok(()), None) => Err(Error::unavailable("the transaction ended before this change")),
            (Err(cause), _) => Err(Error::unavailable(cause.to_owned())),
        };
        // A caller that went away wants no outcome.
        let _ = self.reply.send(outcome);
    }
}

impl<T, F> Work<T, F> {
    /// Refuses a change while the space is used up that is held back for deletions.
    fn check_space(&self) -> Result<(), Error> {
        let is_short = self.reserve.as_ref().is_some_and(|reserve| !reserve.is_held());
        if is_short && self.purpose == Purpose::Change {
            return Err(Error::unavailable(format!("the {FULL}: only deletions are carried out")));
        }
        Ok(())
    }
}

impl Writer {
    /// Starts the thread over this connection. A change may take `limit`, and wait as long for its turn.
    pub(super) fn start(
        connection: AnyConnection,
        url: DatabaseUrl,
        limit: Duration,
        reserve: Option<Arc<Reserve>>,
    ) -> Result<Self, OpenError> {
        let (queue, units) = mpsc::channel(QUEUE);
        let (alive, ended) = mpsc::channel(1);
        let held = reserve.clone();
        spawn("storage-writer".to_owned(), move || {
            drain(units, connection, &url, held.as_deref());
            drop(alive);
        })?;
        let places = FairPool::new(UNDER_WAY, UNDER_WAY);
        let queue = RwLock::new(Some(queue));
        Ok(Self { queue, places, ended: tokio::sync::Mutex::new(ended), limit, reserve })
    }

    /// Does `work` in a transaction that is committed when this returns, when it is the party's turn.
    pub(super) async fn run<T, F>(
        &self,
        party: Party,
        purpose: Purpose,
        work: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, Failure> + Send + 'static,
    {
        let (reply, outcome) = oneshot::channel();
        let (queued, limit) = (Instant::now(), self.limit);
        let deadline = queued.checked_add(limit);
        let place = self.places.acquire(party, 1, Urgency::Question);
        let place = tokio::time::timeout(limit, place).await.map_err(|_| too_late())?;
        let place = Some(place);
        let reserve = self.reserve.clone();
        let unit = Work {
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
        self.hand_over(Box::new(unit)).await?;
        outcome.await.map_err(|_| closed())?
    }

    /// Queues a unit; waits where many are queued.
    async fn hand_over(&self, unit: Box<dyn Unit>) -> Result<(), Error> {
        let queue = self.queue.read().clone().ok_or_else(closed)?;
        hand_over(&queue, unit, self.limit).await
    }

    /// Takes no more work and waits for the thread to end.
    pub(super) async fn close(&self) {
        self.queue.write().take();
        // Nothing is ever sent: this returns when the thread has dropped its end.
        self.ended.lock().await.recv().await;
    }
}

/// The thread: commits batch after batch until the queue is closed and empty.
fn drain(
    mut units: mpsc::Receiver<Box<dyn Unit>>,
    connection: AnyConnection,
    url: &DatabaseUrl,
    reserve: Option<&Reserve>,
) {
    let mut connection = Some(connection);
    let mut are_several = false;
    while let Some(first) = units.blocking_recv() {
        if are_several {
            std::thread::sleep(GATHER);
        }
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(unit) = units.try_recv()
        {
            batch.push(unit);
        }
        are_several = batch.len() > 1;
        if let Some(reserve) = reserve {
            reserve.retake();
        }
        let mut committed = carry_out(&mut connection, url, &mut batch);
        let is_for_deletions = batch.iter().any(|unit| unit.purpose() == Purpose::Deletion);
        if is_for_deletions
            && met_a_full_disk(&committed, &batch)
            && reserve.is_some_and(Reserve::release)
        {
            let (deletions, others) =
                batch.into_iter().partition(|unit| unit.purpose() == Purpose::Deletion);
            deliver(others, &committed);
            batch = deletions;
            batch.iter_mut().for_each(|unit| unit.reset());
            committed = carry_out(&mut connection, url, &mut batch);
        }
        deliver(batch, &committed);
    }
}

/// Commits a batch; fails with the cause where nothing of it was committed.
fn carry_out(
    connection: &mut Option<AnyConnection>,
    url: &DatabaseUrl,
    batch: &mut [Box<dyn Unit>],
) -> Result<(), String> {
    let committed = match usable(connection, url) {
        Ok(connection) => commit_together(connection, batch),
        Err(error) => Err(error.to_string()),
    };
    if let Err(cause) = &committed {
        tracing::warn!(changes = batch.len(), %cause, "a transaction failed as a whole");
    }
    committed
}

/// Whether a batch, or a unit of it, failed since the disk is full.
fn met_a_full_disk(committed: &Result<(), String>, batch: &[Box<dyn Unit>]) -> bool {
    committed.as_ref().is_err_and(|cause| cause.contains(FULL))
        || batch.iter().any(|unit| unit.met_a_full_disk())
}

/// Hands the outcomes to whoever waits.
fn deliver(batch: Vec<Box<dyn Unit>>, committed: &Result<(), String>) {
    for unit in batch {
        unit.deliver(committed.as_ref().copied().map_err(String::as_str));
    }
}

/// The connection, opened anew where the one before got stuck in a transaction.
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

/// Runs every unit in one transaction and commits it. Fails with the cause where nothing of it was
/// committed.
fn commit_together(c: &mut AnyConnection, batch: &mut [Box<dyn Unit>]) -> Result<(), String> {
    if commit_all(c, batch)? || batch.len() == 1 {
        return Ok(());
    }
    batch.iter_mut().for_each(|unit| unit.reset());
    begin_transaction(c, Begin::Write).map_err(|error| error.to_string())?;
    for unit in batch.iter_mut() {
        unit.run_apart(c);
        check_open(c)?;
    }
    AnyConnection::commit_transaction(c).map_err(|error| error.to_string())
}

/// Runs every unit and commits. Where one fails, everything is rolled back and the answer is false.
fn commit_all(c: &mut AnyConnection, batch: &mut [Box<dyn Unit>]) -> Result<bool, String> {
    begin_transaction(c, Begin::Write).map_err(|error| error.to_string())?;
    for unit in batch.iter_mut() {
        let succeeded = unit.run(c);
        check_open(c)?;
        if !succeeded {
            AnyConnection::rollback_transaction(c).map_err(|error| error.to_string())?;
            return Ok(false);
        }
    }
    AnyConnection::commit_transaction(c).map_err(|error| error.to_string())?;
    Ok(true)
}

/// On a full disk and the like SQLite ends the whole transaction by itself. Whatever ran after that
/// would be committed on its own, so nothing may.
fn check_open(c: &mut AnyConnection) -> Result<(), String> {
    if is_open(c) {
        return Ok(());
    }
    Err("the database ended the transaction after a failure".to_owned())
}

/// Whether the transaction of the batch is still open, and no savepoint in it.
fn is_open(c: &mut AnyConnection) -> bool {
    let status = AnyConnection::transaction_manager_status_mut(c);
    status.transaction_depth().is_ok_and(|depth| depth.is_some_and(|depth| depth.get() == 1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use cicerone_domain::{Error, Id, SystemEntropy};
    use diesel::RunQueryDsl as _;
    use diesel::connection::SimpleConnection as _;
    use diesel::dsl::sql;
    use diesel::sql_types::BigInt;
    use tokio::sync::oneshot;

    use super::super::Party;
    use super::{Purpose, Unit, Work, Writer, commit_together};
    use crate::connection::{Access, AnyConnection, connect};
    use crate::error::Failure;
    use crate::reserve::Reserve;
    use crate::url::DatabaseUrl;

    const LIMIT: Duration = Duration::from_secs(60);

    /// A unit with this work, and where its outcome is delivered.
    fn unit(
        work: impl FnMut(&mut AnyConnection) -> Result<(), Failure> + Send + 'static,
    ) -> (Box<dyn Unit>, oneshot::Receiver<Result<(), Error>>) {
        let (reply, outcome) = oneshot::channel();
        let queued = Instant::now();
        let (deadline, limit, _place, outcome_of) = (None, LIMIT, None, outcome);
        let (purpose, reserve, outcome) = (Purpose::Change, None, None);
        let unit = Work { queued, deadline, limit, purpose, reserve, work, outcome, _place, reply };
        (Box::new(unit), outcome_of)
    }

    #[test]
    fn a_refusal_beside_changes_that_were_rolled_back_is_not_delivered() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("refusal.db"));
        let mut connection = connect(&url, Access::Write).unwrap();
        connection.batch_execute("CREATE TABLE t (x INTEGER PRIMARY KEY)").unwrap();
        let mut runs = 0;
        let (one, of_one) = unit(move |c| {
            runs += 1;
            // The second time the database ends the transaction, as it does on a full disk.
            let sql = if runs == 1 { "INSERT INTO t VALUES (1)" } else { "ROLLBACK" };
            Ok(c.batch_execute(sql)?)
        });
        let (other, of_other) = unit(|c| {
            let found: i64 =
                diesel::select(sql::<BigInt>("(SELECT count(*) FROM t)")).get_result(c)?;
            if found > 0 { Err(Error::Conflict("taken".to_owned()).into()) } else { Ok(()) }
        });
        let mut batch = vec![one, other];
        let committed = commit_together(&mut connection, &mut batch);
        assert!(committed.is_err(), "{committed:?}");
        for unit in batch {
            unit.deliver(committed.as_ref().copied().map_err(String::as_str));
        }
        for outcome in [of_one, of_other] {
            let outcome = outcome.blocking_recv().unwrap();
            assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
        }
    }

    #[tokio::test]
    async fn a_change_that_takes_too_long_ends_and_the_next_one_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("slow.db"));
        let mut connection = connect(&url, Access::Write).unwrap();
        connection.batch_execute("CREATE TABLE t (x INTEGER)").unwrap();
        let limit = Duration::from_millis(300);
        let writer = Writer::start(connection, url.clone(), limit, None).unwrap();
        let slow = "INSERT INTO t WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                    SELECT x FROM n WHERE x < 0";
        for _ in 0..2 {
            let outcome =
                writer.run(None, Purpose::Change, move |c| Ok(c.batch_execute(slow)?)).await;
            assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
            writer
                .run(None, Purpose::Change, |c| Ok(c.batch_execute("INSERT INTO t VALUES (1)")?))
                .await
                .unwrap();
        }
        writer.close().await;
    }

    #[tokio::test]
    async fn on_a_full_disk_exactly_what_was_acknowledged_is_stored_and_the_writer_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("full.db"));
        let mut connection = connect(&url, Access::Write).unwrap();
        let setup = "CREATE TABLE t (x BLOB); PRAGMA max_page_count = 10";
        connection.batch_execute(setup).unwrap();
        let writer = Writer::start(connection, url.clone(), LIMIT, None).unwrap();
        let insert = async |bytes: usize| {
            let sql = format!("INSERT INTO t VALUES (zeroblob({bytes}))");
            writer.run(None, Purpose::Change, move |c| Ok(c.batch_execute(&sql)?)).await
        };
        let mut acknowledged = 0;
        for _ in 0..3 {
            let (before, large, after) = tokio::join!(insert(10), insert(1_000_000), insert(10));
            assert!(matches!(large, Err(Error::Unavailable(_))), "{large:?}");
            acknowledged += i64::from(before.is_ok()) + i64::from(after.is_ok());
            insert(10).await.unwrap();
            acknowledged += 1;
        }
        writer.close().await;
        assert!(insert(10).await.is_err());

        let mut connection = connect(&url, Access::Read).unwrap();
        let stored: i64 = diesel::select(sql::<BigInt>("(SELECT count(*) FROM t)"))
            .get_result(&mut connection)
            .unwrap();
        assert_eq!(stored, acknowledged);
    }

    #[tokio::test]
    async fn what_fails_leaves_no_trace_in_what_is_committed_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("batch.db"));
        let mut connection = connect(&url, Access::Write).unwrap();
        connection.batch_execute("CREATE TABLE t (x INTEGER PRIMARY KEY)").unwrap();
        let writer = Writer::start(connection, url.clone(), LIMIT, None).unwrap();
        let insert = async |writer: &Writer, number: usize| {
            let is_refused = number.is_multiple_of(5);
            let sql = format!("INSERT INTO t VALUES ({number})");
            let work = move |c: &mut AnyConnection| {
                c.batch_execute(&sql)?;
                if is_refused { Err(Error::ClaimLost.into()) } else { Ok(number) }
            };
            writer.run(None, Purpose::Change, work).await
        };
        let mut tasks = tokio::task::JoinSet::new();
        let writer = std::sync::Arc::new(writer);
        for number in 1..=200 {
            let writer = std::sync::Arc::clone(&writer);
            tasks.spawn(async move { (number, insert(&writer, number).await) });
        }
        for (number, outcome) in tasks.join_all().await {
            assert_eq!(outcome.is_ok(), !number.is_multiple_of(5), "{number}: {outcome:?}");
        }
        writer.close().await;
        let mut connection = connect(&url, Access::Read).unwrap();
        let stored = diesel::select(sql::<diesel::sql_types::Text>(
            "(SELECT count(*) || ' ' || coalesce(sum(x % 5 = 0), 0) FROM t)",
        ));
        assert_eq!(stored.get_result::<String>(&mut connection).unwrap(), "160 0");
    }

    #[tokio::test]
    async fn a_flood_of_changes_lets_another_party_s_pass() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("flood.db"));
        let mut connection = connect(&url, Access::Write).unwrap();
        connection.batch_execute("CREATE TABLE t (party TEXT)").unwrap();
        let writer =
            std::sync::Arc::new(Writer::start(connection, url.clone(), LIMIT, None).unwrap());
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = parking_lot::Mutex::new(wait);
        let insert = |party: Party, name: &'static str| {
            let writer = std::sync::Arc::clone(&writer);
            tokio::spawn(async move {
                let sql = format!("INSERT INTO t VALUES ('{name}')");
                writer.run(party, Purpose::Change, move |c| Ok(c.batch_execute(&sql)?)).await
            })
        };
        // The writer stands still until all of them wait.
        let still = {
            let writer = std::sync::Arc::clone(&writer);
            let work = move |_: &mut AnyConnection| {
                // An error says that all of them wait.
                let _ = wait.lock().recv();
                Ok(())
            };
            tokio::spawn(async move { writer.run(None, Purpose::Change, work).await })
        };
        let (flood, other) = (Id::random(&SystemEntropy), Id::random(&SystemEntropy));
        let mut changes: Vec<_> = (0..1_000).map(|_| insert(Some(flood), "flood")).collect();
        let under_way = async |count: u64| {
            while writer.places.in_use() < count {
                tokio::task::yield_now().await;
            }
        };
        under_way(super::UNDER_WAY).await;
        changes.push(insert(Some(other), "other"));
        under_way(super::UNDER_WAY + 1).await;
        drop(go);
        still.await.unwrap().unwrap();
        for change in changes {
            change.await.unwrap().unwrap();
        }
        writer.close().await;
        let mut connection = connect(&url, Access::Read).unwrap();
        let before =
            "(SELECT count(*) FROM t WHERE rowid < (SELECT rowid FROM t WHERE party = 'other'))";
        let before: i64 =
            diesel::select(sql::<BigInt>(before)).get_result(&mut connection).unwrap();
        assert!(before <= i64::try_from(super::UNDER_WAY).unwrap(), "behind {before} others");
    }

    #[tokio::test]
    async fn on_a_full_disk_only_deletions_are_carried_out_in_the_space_held_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reserve.db");
        let url = DatabaseUrl::sqlite(&path);
        let mut connection = connect(&url, Access::Write).unwrap();
        let setup = "CREATE TABLE t (x BLOB); PRAGMA max_page_count = 10";
        connection.batch_execute(setup).unwrap();
        let reserve = Arc::new(Reserve::hold(&path, 100_000));
        let writer =
            Writer::start(connection, url.clone(), LIMIT, Some(Arc::clone(&reserve))).unwrap();
        // The disk is full for as long as the space is held.
        let insert = async |purpose: Purpose| {
            let reserve = Arc::clone(&reserve);
            let work = move |c: &mut AnyConnection| {
                let bytes = if reserve.is_held() { 1_000_000 } else { 10 };
                Ok(c.batch_execute(&format!("INSERT INTO t VALUES (zeroblob({bytes}))"))?)
            };
            writer.run(None, purpose, work).await
        };
        let refused = insert(Purpose::Change).await;
        assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
        assert!(reserve.is_held(), "a change does not get it");
        let (change, deletion) = tokio::join!(insert(Purpose::Change), insert(Purpose::Deletion));
        assert!(matches!(change, Err(Error::Unavailable(_))), "{change:?}");
        deletion.unwrap();
        assert!(!reserve.is_held());
        let refused = insert(Purpose::Change).await.unwrap_err();
        let Error::Unavailable(cause) = refused else { panic!("{refused:?}") };
        assert!(cause.to_string().contains("only deletions"), "{cause}");
        // As soon as there is room, it is held again, and changes are made.
        let deadline = Instant::now() + LIMIT;
        while !reserve.is_held() {
            assert!(Instant::now() < deadline);
            // Refused, in either case: the writer looks for room at every change.
            insert(Purpose::Change).await.unwrap_err();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        writer.run(None, Purpose::Change, |c| Ok(c.batch_execute("DELETE FROM t")?)).await.unwrap();
    }
}
