//! Access to a database: reading and writing.

mod changes;
mod checkpoint;
mod gathered;
mod kept;
mod outage;
mod patience;
mod post;
mod threads;
mod writer;
mod writes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cicerone_domain::idempotency::Completion;
use cicerone_domain::{Error, Id, kind};
use r2d2::Pool;

use crate::connection::{Access, AnyConnection, Attempts, Manager, connect, with_noted_values};
use crate::deadline;
use crate::error::{OpenError, TransactionError};
use crate::idempotency;
use crate::reserve::Reserve;
use crate::storage::{Limits, StorageOptions};
use crate::url::DatabaseUrl;
use crate::usage::Counted;
pub(crate) use changes::Changes;
pub(crate) use gathered::{Gather, Gathered};
use kept::{OwnedWork, Work, keeping, valued};
use outage::Outage;
use patience::Patience;
use post::Post;
use threads::Threads;
pub(crate) use threads::{closed, too_late};
use writer::{Purpose, Writer};
use writes::Writes;

/// How long work waits for a connection, by kind of access.
pub(crate) const WAIT: &str = "cicerone_database_wait_seconds";
/// How often work exceeded its time limit, by kind of access.
pub(crate) const TIMEOUTS: &str = "cicerone_database_timeouts_total";
/// How long a connection to PostgreSQL may be unused. Until it is closed, its buffers keep the size of the largest row
/// that it has sent or received, up to 16 MB. The pool hands out the connection that was used last, so those that
/// steady work needs stay open.
const POSTGRES_IDLE: Duration = Duration::from_secs(25);

/// For whom work is done: an account, or `None` for the process itself. All of the process's own
/// work is one party among the accounts.
type Party = Option<Id<kind::Account>>;

/// An open database, as used by one party. Clones share it; when the last one is dropped, its
/// threads end.
#[derive(Clone)]
pub(crate) struct Db {
    pool: Pool<Manager>,
    threads: Arc<Threads>,
    /// The one writer of a SQLite file; `None` if the pool's connections write.
    writer: Option<Arc<Writer>>,
    limits: Limits,
    writes: Arc<Writes>,
    url: Arc<DatabaseUrl>,
    party: Party,
}

impl Db {
    /// The same database on behalf of an account, whose work shares threads and the writer with
    /// that of others.
    pub(crate) fn of(&self, account: Id<kind::Account>) -> Self {
        Self { party: Some(account), ..self.clone() }
    }

    /// Connects. The error contains the database's own message.
    pub(crate) fn open(url: &DatabaseUrl, options: &StorageOptions) -> Result<Self, OpenError> {
        let is_sqlite = url.sqlite_path().is_some();
        let limits = Limits { read: options.read_timeout, write: options.write_timeout };
        let first = connect(url, Access::Write)?;
        let reserve = url.sqlite_path().filter(|_| options.reserve_bytes > 0);
        let reserve = reserve.map(|path| Arc::new(Reserve::hold(path, options.reserve_bytes)));
        let writer = if is_sqlite {
            Some(Arc::new(Writer::start(first, url.clone(), limits.write, reserve)?))
        } else {
            None
        };
        let (access, size) = if is_sqlite {
            (Access::Read, options.read_connections)
        } else {
            (Access::Write, options.connections)
        };
        let outage = Outage::default();
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(if is_sqlite { size } else { 0 }))
            .test_on_check_out(false)
            .connection_timeout(options.connection_timeout)
            .max_lifetime(if is_sqlite { None } else { Some(Duration::from_secs(1_800)) })
            .idle_timeout(if is_sqlite { None } else { Some(POSTGRES_IDLE) })
            .event_handler(Box::new(outage.clone()))
            .error_handler(Box::new(outage))
            .build_unchecked(Manager {
                url: url.clone(),
                access,
                limits,
                attempts: Attempts::default(),
            });
        // On SQLite only long reads use the threads. They leave two connections to short reads.
        let threads = if is_sqlite { size.saturating_sub(2).max(1) } else { size };
        let patience = options.connection_timeout;
        let threads = Arc::new(Threads::start("storage", threads, patience, !is_sqlite)?);
        let (writes, url) = (Arc::default(), Arc::new(url.clone()));
        Ok(Self { pool, threads, writer, limits, writes, url, party: None })
    }

    /// Reads on a thread of the pool. `work` may run again if its connection turns out to be lost.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        let (work, value) = keeping(work);
        value.after(self.read_apart(work).await)
    }

    async fn read_apart(&self, mut work: OwnedWork) -> Result<(), Error> {
        let (pool, limit) = (self.pool.clone(), self.limits.read);
        let read = Box::new(move |post: &Post| {
            pooled(&pool, post, ("read", limit), &mut |c| limited("read", limit, c, &mut *work))
        });
        self.threads.run(self.party, read).await
    }

    /// Reads a few rows by their keys. On SQLite this takes microseconds, less than handing it to a
    /// thread, so it runs on the calling thread if a connection is free.
    pub(crate) async fn lookup<T, F>(&self, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        if self.writer.is_some()
            && let Some(mut pooled) = self.pool.try_get()
            && let Some(c) = &mut pooled.connection
        {
            let limit = self.limits.read;
            return valued(&mut work, |work| limited("read", limit, c, work)).map_err(Error::from);
        }
        self.read(work).await
    }

    /// Changes something in one transaction, which is committed when this returns. Once started, it continues even if
    /// the caller disconnects. An error of `work` rolls it back; `work` may run again after a deadlock or on a lost
    /// connection.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        let (work, value) = keeping(work);
        value.after(self.change_noted(Purpose::Change, work).await)
    }

    /// Like [`Db::write_completing`], for work that changes only conversations: it is not among the [changes so
    /// far](Self::changes_so_far). On SQLite, `counted` is added to what the turns of its commit count; elsewhere,
    /// `work` counts.
    pub(crate) async fn write_turn<T, F>(
        &self,
        counted: Counted,
        completion: Option<Completion<T>>,
        work: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        let (work, value) = keeping(completing(completion, work));
        let purpose = Purpose::Turn(Box::new(counted));
        value.after(self.change_noted(purpose, work).await)
    }

    /// How many commits to a SQLite file this process has made that changed more than conversations. It has grown before
    /// such a change is acknowledged. `None` if other processes make changes too.
    pub(crate) fn changes_so_far(&self) -> Option<u64> {
        self.writer.as_ref().map(|writer| writer.changes())
    }

    /// Like [`Db::write`], for work that frees space. It also runs on a full disk, in the space
    /// that is reserved for it.
    pub(crate) async fn free<T, F>(&self, work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        let (work, value) = keeping(work);
        value.after(self.change(Purpose::Deletion, work).await)
    }

    /// Whether to test that writes work, because the last one failed due to the disk or the server.
    /// Returns an error if that was tested a moment ago.
    pub(crate) fn probe_is_due(&self) -> Result<bool, Error> {
        self.writes.probe_is_due()
    }

    async fn change_noted(&self, purpose: Purpose, work: OwnedWork) -> Result<(), Error> {
        let outcome = self.change(purpose, work).await;
        self.writes.note(&outcome);
        outcome
    }

    async fn change(&self, purpose: Purpose, mut work: OwnedWork) -> Result<(), Error> {
        if let Some(writer) = &self.writer {
            return writer.run(self.party, purpose, work).await;
        }
        let changes = self.changes();
        self.threads.run(self.party, Box::new(move |post| changes(post).run(&mut *work))).await
    }

    /// Whether each change is a transaction of its own. On SQLite, one writer commits the changes of all
    /// callers together.
    pub(crate) const fn commits_apart(&self) -> bool {
        self.writer.is_none()
    }

    /// Runs `work`, which makes changes one after the other, on one of the threads. Only if [changes are committed
    /// apart](Self::commits_apart).
    pub(crate) async fn with_changes(
        &self,
        work: impl FnOnce(&Changes<'_>) + Send + 'static,
    ) -> Result<(), Error> {
        let changes = self.changes();
        let work = Box::new(move |post: &Post| {
            work(&changes(post));
            Ok(())
        });
        self.threads.run(self.party, work).await
    }

    /// The way to the database for the thread of a post.
    fn changes(&self) -> impl FnOnce(&Post) -> Changes<'_> + Send + use<> {
        let (pool, limits, writes) = (self.pool.clone(), self.limits, Arc::clone(&self.writes));
        move |post| Changes { post, pool, limits, writes }
    }

    /// How long work waits for its turn at a thread.
    pub(crate) fn patience(&self) -> Duration {
        self.threads.patience()
    }

    /// How long a change waits for a locked row on PostgreSQL.
    pub(crate) const fn patience_with_locks(&self) -> Duration {
        self.limits.read
    }

    /// Like [`Db::write`], and completes the claim of an idempotency key with the outcome, in the
    /// same transaction.
    pub(crate) async fn write_completing<T, F>(
        &self,
        completion: Option<Completion<T>>,
        work: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        self.write(completing(completion, work)).await
    }

    /// Like [`Db::free`], and completes the claim of an idempotency key with the outcome, in the
    /// same transaction.
    pub(crate) async fn free_completing<T, F>(
        &self,
        completion: Option<Completion<T>>,
        work: F,
    ) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
    {
        self.free(completing(completion, work)).await
    }

    /// Copies the write-ahead log of a SQLite file into the file, and empties the log. Writers wait
    /// only for the second step, which has little left to copy.
    pub(crate) async fn empty_log(&self) -> Result<(), Error> {
        if self.writer.is_none() {
            return Ok(());
        }
        let url = Arc::clone(&self.url);
        let work = Box::new(move |_: &Post| {
            let mut connection = connect(&url, Access::Write).map_err(Error::unavailable)?;
            if checkpoint::empty(&mut connection).map_err(TransactionError::from)? {
                return Ok(());
            }
            Err(Error::unavailable("the write-ahead log is in use and was not emptied"))
        });
        self.threads.run(self.party, work).await
    }

    /// Accepts no more work, and returns when accepted work is done and the threads have ended.
    pub(crate) async fn close(&self) {
        self.threads.close().await;
        if let Some(writer) = &self.writer {
            writer.close().await;
        }
    }
}

/// Wraps `work`: locks the claim of a completion first, and completes it with the outcome.
fn completing<T>(
    completion: Option<Completion<T>>,
    mut work: impl FnMut(&mut AnyConnection) -> Result<T, TransactionError>,
) -> impl FnMut(&mut AnyConnection) -> Result<T, TransactionError> {
    move |c| {
        idempotency::begin(c, completion.as_ref())?;
        let outcome = work(c)?;
        idempotency::finish(c, completion.as_ref(), &outcome)?;
        Ok(outcome)
    }
}

/// Runs `work` on a connection of the pool: again on the next one if it was lost, and again after a
/// deadlock. A lost connection leaves the pool, which replaces it, and so does one that only reads. So does one that does
/// not answer although the `limit` of the work is over; then the thread is given up.
fn pooled(
    pool: &Pool<Manager>,
    post: &Post,
    limit: (&'static str, Duration),
    work: Work<'_>,
) -> Result<(), Error> {
    let mut patience = Patience::new(pool.max_size());
    loop {
        let pooled = check_out(pool)?;
        let done = post.with(pooled, limit, |c| with_noted_values(c, &mut *work));
        let Some(((outcome, is_swollen), mut pooled)) = done else {
            return Err(Error::unavailable("the database did not answer in time"));
        };
        pooled.is_swollen |= is_swollen;
        match outcome {
            Ok(()) => return Ok(()),
            Err(failure) => patience.try_again(&mut pooled, failure)?,
        }
    }
}

/// Waits for a connection of the pool.
fn check_out(pool: &Pool<Manager>) -> Result<r2d2::PooledConnection<Manager>, Error> {
    let began = Instant::now();
    let pooled = pool.get();
    waited("pool", began);
    pooled.map_err(|error| {
        metrics::counter!("cicerone_database_wait_timeouts_total").increment(1);
        Error::unavailable(error)
    })
}

/// Records how long work has waited for a connection since `began`.
fn waited(door: &'static str, began: Instant) {
    metrics::histogram!(WAIT, "door" => door).record(began.elapsed());
}

/// Runs `work`, which may take `limit` on SQLite; PostgreSQL's server ends statements itself. Work
/// that was cut off is refused, not repeated.
fn timed(
    door: &'static str,
    limit: Duration,
    work: impl FnOnce() -> Result<(), TransactionError>,
) -> Result<(), TransactionError> {
    let began = Instant::now();
    let (outcome, is_cut_off) = deadline::within(limit, work);
    match outcome {
        // Diesel names neither database's error, and PostgreSQL's message is in the server's
        // language.
        Err(failure) if failure.is_unnamed() && (is_cut_off || began.elapsed() >= limit) => {
            metrics::counter!(TIMEOUTS, "door" => door).increment(1);
            tracing::warn!(
                door,
                limit_ms = limit.as_millis(),
                "work at the database took too long"
            );
            Err(Error::unavailable(format!("a {door} took too long: {failure}")).into())
        }
        outcome => outcome,
    }
}

/// Runs `work` within a limit of time, and turns a panic into an error.
fn limited(
    door: &'static str,
    limit: Duration,
    c: &mut AnyConnection,
    work: Work<'_>,
) -> Result<(), TransactionError> {
    timed(door, limit, || guarded(c, work))
}

/// Runs `work` and turns a panic into an error, so that the thread survives and the surrounding
/// transaction is rolled back.
fn guarded(c: &mut AnyConnection, work: Work<'_>) -> Result<(), TransactionError> {
    // Incomplete state after the panic is only in the transaction, or in `work`, which is not used again.
    catch_unwind(AssertUnwindSafe(|| work(c)))
        .unwrap_or_else(|_| Err(TransactionError::internal("a panic in a database transaction")))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cicerone_domain::Error;
    use diesel::dsl::sql;
    use diesel::prelude::*;
    use diesel::sql_types::BigInt;

    use super::Db;
    use crate::connection::AnyConnection;
    use crate::error::TransactionError;
    use crate::storage::StorageOptions;
    use crate::url::DatabaseUrl;

    fn select(c: &mut AnyConnection, text: &str) -> Result<i64, TransactionError> {
        Ok(diesel::select(sql::<BigInt>(text)).get_result(c)?)
    }

    #[tokio::test]
    async fn a_read_of_a_sqlite_file_ends_in_time_by_either_way_and_the_next_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("slow.db"));
        let read_timeout = Duration::from_millis(100);
        let options = StorageOptions { read_timeout, read_connections: 1, ..Default::default() };
        let db = Db::open(&url, &options).unwrap();
        let slow = "(WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
                    SELECT count(*) FROM n WHERE x < 0)";
        for _ in 0..2 {
            for outcome in
                [db.read(move |c| select(c, slow)).await, db.lookup(move |c| select(c, slow)).await]
            {
                assert!(matches!(outcome, Err(Error::Unavailable(_))), "{outcome:?}");
            }
            assert_eq!(db.read(|c| select(c, "(SELECT 7)")).await.unwrap(), 7);
        }
        db.close().await;
    }

    #[tokio::test]
    async fn a_read_waits_for_its_turn_no_longer_than_for_a_connection() {
        let folder = tempfile::tempdir().unwrap();
        let url = DatabaseUrl::sqlite(folder.path().join("busy.db"));
        let options = StorageOptions {
            read_connections: 1,
            connection_timeout: Duration::from_millis(50),
            ..Default::default()
        };
        let db = std::sync::Arc::new(Db::open(&url, &options).unwrap());
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let mut begun = Some(begun);
        let busy = std::sync::Arc::clone(&db);
        let busy = tokio::spawn(async move {
            let work = move |_: &mut AnyConnection| {
                begun.take().map(|begun| begun.send(()));
                Ok(ends.recv().map_err(Error::internal)?)
            };
            busy.read(work).await
        });
        has_begun.await.unwrap();
        let late = db.read(|c| select(c, "(SELECT 7)")).await;
        assert!(matches!(late, Err(Error::Unavailable(_))), "{late:?}");
        end.send(()).unwrap();
        busy.await.unwrap().unwrap();
        assert_eq!(db.read(|c| select(c, "(SELECT 7)")).await.unwrap(), 7);
    }
}
