//! Checkpoints of the write-ahead log of a SQLite file, on a separate thread from the writer.
//!
//! By default, SQLite runs a checkpoint within the commit that makes the log large enough, and all
//! changes wait while tens of megabytes are copied. A passive checkpoint on another connection
//! blocks neither readers nor the writer. But SQLite restarts the log only if all of it is copied
//! when a change begins, which may never happen while changes follow each other. So the writer
//! itself copies the last few pages between two changes, after the thread has copied the rest.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::Integer;
use diesel::{QueryResult, QueryableByName, RunQueryDsl as _};

use super::threads::spawn;
use crate::connection::{Access, AnyConnection, connect};
use crate::error::OpenError;
use crate::url::DatabaseUrl;

/// Pages that are copied at once: 16 MB. A page that has changed several times is copied once, so
/// large steps copy less; steps of 4 MB cost a tenth of the replies per second.
const STEP: i32 = 4_000;
/// The length in pages from which a log is restarted after it was copied.
const LONG: i32 = 4_000;
/// How often pages that were added during a copy are copied, at most.
const PASSES: usize = 8;
/// The pause between two checks of the log.
const PAUSE: Duration = Duration::from_millis(20);
/// The pause after a failure, for example on a full disk.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// For how long emptying the log is tried while others use it.
const PATIENCE: Duration = Duration::from_secs(4);
/// The pause between two of these attempts.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);
/// How long one of them waits for readers, in milliseconds. SQLite blocks all writers during this
/// time.
const WAIT_FOR_READERS: u32 = 50;

/// The writer's end of the thread. Dropping it waits for the thread to end and close its connection: SQLite
/// removes the log when the last connection is closed.
pub(super) struct Checkpoints {
    /// `None` while it is being dropped.
    wake: Option<SyncSender<()>>,
    is_nearly_copied: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.wake = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the checkpoint thread of the write-ahead log has panicked");
        }
    }
}

/// What SQLite reports about its log.
#[derive(QueryableByName)]
struct Log {
    /// 1 if a checkpoint could not finish, because another connection uses the log.
    #[diesel(sql_type = Integer)]
    busy: i32,
    /// Pages in it; -1 if there is none.
    #[diesel(sql_type = Integer)]
    log: i32,
    /// How many of them are copied.
    #[diesel(sql_type = Integer)]
    checkpointed: i32,
}

impl Log {
    /// Whether there are enough pages to copy.
    fn is_behind(&self) -> bool {
        self.log.saturating_sub(self.checkpointed) >= STEP
    }
}

impl Checkpoints {
    /// Starts the thread, with its own connection.
    pub(super) fn start(url: &DatabaseUrl) -> Result<Self, OpenError> {
        let connection = connect(url, Access::Write)?;
        // Signals need not queue up: one is enough.
        let (wake, woken) = sync_channel(1);
        let is_nearly_copied = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&is_nearly_copied);
        let thread = spawn("storage-log".to_owned(), move || copy(&woken, connection, &tell))?;
        Ok(Self { wake: Some(wake), is_nearly_copied, thread: Some(thread) })
    }

    /// To be called by the writer after each commit, with its connection.
    pub(super) fn after_commit(&self, connection: &mut AnyConnection) {
        if self.is_nearly_copied.swap(false, Ordering::AcqRel)
            && let Err(error) = look(connection, "PASSIVE")
        {
            tracing::debug!(%error, "the write-ahead log could not be restarted and grows until it is");
        }
        if let Some(wake) = &self.wake {
            // If the channel is full, the thread is about to check anyway.
            let _ = wake.try_send(());
        }
    }
}

/// The body of the thread.
fn copy(woken: &Receiver<()>, mut connection: AnyConnection, is_nearly_copied: &AtomicBool) {
    let mut has_failed = false;
    let mut next_restart = LONG;
    while woken.recv().is_ok() {
        // A panic, which is logged where all are, counts as a failure: without this thread, the log grows until SQLite's own
        // checkpoint holds up a commit.
        let outcome = catch_unwind(AssertUnwindSafe(|| copy_if_long(&mut connection)));
        match &outcome {
            Ok(Ok(log)) if log.log < LONG => next_restart = LONG,
            Ok(Ok(log)) if log.log >= next_restart && !log.is_behind() => {
                // A long read keeps the log from being restarted. Then this is not tried at every
                // commit.
                next_restart = log.log.saturating_add(LONG);
                is_nearly_copied.store(true, Ordering::Release);
            }
            Ok(Err(error)) if !has_failed => {
                tracing::warn!(%error, "a checkpoint of the write-ahead log failed");
            }
            Ok(_) | Err(_) => {}
        }
        has_failed = !matches!(outcome, Ok(Ok(_)));
        std::thread::sleep(if has_failed { AFTER_FAILURE } else { PAUSE });
    }
}

/// Copies the new pages of the log if there are enough of them, and returns the state of the log
/// afterwards.
///
/// SQLite forces the database file to the disk only if no change was added during the copying. That takes as long
/// as the copied pages are many, so it must happen here, and not when the writer copies the last few: the passes
/// become short enough to fit between two changes.
fn copy_if_long(connection: &mut AnyConnection) -> QueryResult<Log> {
    let found = look(connection, "NOOP")?;
    if !found.is_behind() {
        return Ok(found);
    }
    let mut log = found;
    for _ in 0..PASSES {
        look(connection, "PASSIVE")?;
        log = look(connection, "NOOP")?;
        if log.checkpointed >= log.log {
            break;
        }
    }
    Ok(log)
}

/// Copies the entire log into the database file and empties it. Returns `false` if other connections used the log
/// during all attempts.
///
/// SQLite waits for readers and writers, up to the connection's busy timeout, but not for a checkpoint of another
/// connection, and [`Checkpoints`] runs one whenever the log is long. A long read, such as that of a backup, keeps the
/// log from being emptied, and must not block writers for long.
pub(super) fn empty(connection: &mut AnyConnection) -> QueryResult<bool> {
    connection.batch_execute(&format!("PRAGMA busy_timeout = {WAIT_FOR_READERS}"))?;
    let started = Instant::now();
    loop {
        // Then the writer waits only for the rest.
        look(connection, "PASSIVE")?;
        if look(connection, "TRUNCATE")?.busy == 0 {
            return Ok(true);
        }
        if started.elapsed() >= PATIENCE {
            return Ok(false);
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
}

/// Runs a checkpoint of this kind and returns the state of the log after it.
fn look(connection: &mut AnyConnection, kind: &str) -> QueryResult<Log> {
    diesel::sql_query(format!("PRAGMA wal_checkpoint({kind})")).get_result(connection)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// A file whose log contains pages that are not copied, a connection that reads the state
    /// before the last change, and a second connection.
    fn log_that_is_read() -> (TempDir, AnyConnection, AnyConnection) {
        let directory = tempfile::tempdir().expect("a directory");
        let url = DatabaseUrl::sqlite(directory.path().join("log.db"));
        let mut reader = connect(&url, Access::Write).expect("a connection");
        reader
            .batch_execute("CREATE TABLE item (id INTEGER); INSERT INTO item VALUES (1)")
            .expect("a table");
        reader.batch_execute("BEGIN; SELECT * FROM item").expect("a read");
        let mut emptier = connect(&url, Access::Write).expect("a connection");
        emptier.batch_execute("INSERT INTO item VALUES (2)").expect("a change");
        (directory, reader, emptier)
    }

    fn bytes_of_log(directory: &TempDir) -> u64 {
        std::fs::metadata(directory.path().join("log.db-wal")).map_or(0, |log| log.len())
    }

    #[test]
    fn the_log_is_emptied_as_soon_as_nobody_reads_it() {
        let (directory, mut reader, mut emptier) = log_that_is_read();
        let end = std::thread::spawn(move || {
            std::thread::sleep(BETWEEN_ATTEMPTS * 3);
            reader.batch_execute("COMMIT").expect("the end of the read");
            reader
        });

        let emptied = empty(&mut emptier).expect("a checkpoint");

        assert!(emptied, "the read ended long before patience does");
        assert_eq!(bytes_of_log(&directory), 0);
        end.join().expect("the reader");
    }

    #[test]
    fn a_log_that_stays_in_use_is_reported() {
        let (directory, _reader, mut emptier) = log_that_is_read();

        assert!(!empty(&mut emptier).expect("a checkpoint"));
        assert!(bytes_of_log(&directory) > 0);
    }
}
