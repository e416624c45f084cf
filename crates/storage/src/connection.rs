//! One connection to either database.

mod any;
mod attempts;

use std::cell::Cell;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::prelude::*;
use diesel::r2d2::R2D2Connection as _;
use diesel::result::Error as DieselError;

pub(crate) use any::{AnyConnection, Either};

use crate::deadline;
use crate::error::OpenError;
use crate::storage::Limits;
use crate::url::{self, DatabaseUrl, Target};
pub(crate) use attempts::Attempts;

/// What a connection to a SQLite file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anything.
    Write,
    /// Reading only; the database enforces it.
    Read,
}

/// How long a statement waits for another process that writes to the same SQLite file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two attempts to switch a new database to its write-ahead log.
const WAL_PAUSE: Duration = Duration::from_millis(20);
/// How long a PostgreSQL server waits for the next statement of a transaction before it ends the connection. Nothing but
/// computing happens between two statements, so this ends transactions of processes that are suspended or cut off. It is
/// less than a change waits for a locked row by default, so most changes of other servers that wait for such a
/// transaction succeed.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(3);
/// The first SQLite without the WAL-reset fault.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];

/// Connects. The error contains the database's own message.
pub(crate) fn connect(url: &DatabaseUrl, access: Access) -> Result<AnyConnection, OpenError> {
    let failed = |cause: String| OpenError::Connect { url: url.clone(), cause };
    match &url.0 {
        Target::Postgres(address) => {
            let mut connection = PgConnection::establish(&url::with_limits(address))
                .map_err(|error| failed(error.to_string().trim_end().to_owned()))?;
            // libpq writes notices to standard error, for example that a table already exists.
            connection
                .batch_execute("SET client_min_messages TO WARNING")
                .map_err(|error| failed(error.to_string()))?;
            Ok(Either::Postgres(connection).into())
        }
        Target::Sqlite(path) => {
            deadline::install();
            let path = path.to_str().ok_or_else(|| failed("the path is not UTF-8".to_owned()))?;
            // With `./` in front, SQLite does not interpret the name as a URI or a special name.
            let path = if path.starts_with('/') { path.to_owned() } else { format!("./{path}") };
            let mut connection =
                SqliteConnection::establish(&path).map_err(|error| failed(error.to_string()))?;
            // This comes first: any statement may meet another process that is switching the
            // journal mode.
            let wait = format!("PRAGMA busy_timeout = {}", BUSY_TIMEOUT.as_millis());
            connection.batch_execute(&wait).map_err(|error| failed(error.to_string()))?;
            check_version(&mut connection).map_err(|found| match found {
                Ok(found) => OpenError::SqliteTooOld { found },
                Err(error) => failed(error.to_string()),
            })?;
            prepare(&mut connection, access).map_err(|error| failed(error.to_string()))?;
            Ok(Either::Sqlite(connection).into())
        }
    }
}

/// Returns an error with the version that was found, or with the reason why it could not be read.
fn check_version(connection: &mut SqliteConnection) -> Result<(), Result<String, DieselError>> {
    let version: String =
        diesel::select(diesel::dsl::sql::<diesel::sql_types::Text>("sqlite_version()"))
            .get_result(connection)
            .map_err(Err)?;
    let parts: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    if parts.as_slice() < OLDEST_SQLITE.as_slice() { Err(Ok(version)) } else { Ok(()) }
}

/// Sets what SQLite leaves to its users. `secure_delete` overwrites deleted data. The caches are small, because the
/// system's page cache backs them. The server runs checkpoints on a separate thread (`db/checkpoint`); SQLite's
/// checkpoint within a commit, at 64 MB, is for loads that this thread cannot keep up with, and for programs without
/// it.
fn prepare(connection: &mut SqliteConnection, access: Access) -> QueryResult<()> {
    let (cache_kib, query_only) = match access {
        Access::Write => (4_000, "OFF"),
        Access::Read => (1_000, "ON"),
    };
    connection.batch_execute(&format!(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA journal_size_limit = 67108864;
         PRAGMA wal_autocheckpoint = 16000;
         PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -{cache_kib};
         PRAGMA query_only = {query_only};",
    ))?;
    match access {
        Access::Write => enter_wal(connection),
        Access::Read => Ok(()),
    }
}

/// Switches a new database to the write-ahead log, which it then keeps. When several processes try
/// that at once, SQLite refuses all but one without waiting.
fn enter_wal(connection: &mut SqliteConnection) -> QueryResult<()> {
    let tries = BUSY_TIMEOUT.as_millis() / WAL_PAUSE.as_millis();
    for _ in 0..tries {
        match connection.batch_execute("PRAGMA journal_mode = WAL") {
            Err(DieselError::DatabaseError(_, cause)) if cause.message().contains("locked") => {
                std::thread::sleep(WAL_PAUSE);
            }
            other => return other,
        }
    }
    connection.batch_execute("PRAGMA journal_mode = WAL")
}

/// Limits how long a PostgreSQL statement may run, and how long a transaction may stay idle, unless the address's own
/// `options` say so. Transactions that write have their own limit, set when they begin. SQLite's statements end at the
/// deadline of their thread. If the server does not answer at all, the thread is given up (`db/post.rs`).
fn bound(connection: &mut AnyConnection, limits: Limits) -> QueryResult<()> {
    match connection.either() {
        Either::Postgres(connection) => connection.batch_execute(&format!(
            "SET statement_timeout = {};
             SELECT set_config(name, '{}', false) FROM pg_settings
             WHERE name = 'idle_in_transaction_session_timeout' AND source <> 'client';",
            limits.read.as_millis(),
            limits.write.min(IDLE_IN_TRANSACTION).as_millis(),
        )),
        Either::Sqlite(_) => Ok(()),
    }
}

/// Makes and judges the connections of a pool.
#[derive(Debug)]
pub(crate) struct Manager {
    pub(crate) url: DatabaseUrl,
    pub(crate) access: Access,
    pub(crate) limits: Limits,
    pub(crate) attempts: Attempts,
}

/// A connection to PostgreSQL that has sent or received a larger value is closed after its work.
const LARGE_VALUE: usize = 1_024 * 1_024;

thread_local! {
    /// Whether the work on this thread has sent or received a large value.
    static HAD_LARGE_VALUE: Cell<bool> = const { Cell::new(false) };
}

/// Notes that a value is sent to the database or was received from it.
pub(crate) fn note_value(value: &str) {
    if value.len() > LARGE_VALUE {
        HAD_LARGE_VALUE.set(true);
    }
}

/// Runs work on a connection of a pool. Also returns whether that leaves the connection with large buffers. The buffers of
/// PostgreSQL's client library grow to twice the largest value and are freed with the connection only.
pub(crate) fn with_noted_values<T>(
    connection: &mut AnyConnection,
    work: impl FnOnce(&mut AnyConnection) -> T,
) -> (T, bool) {
    HAD_LARGE_VALUE.set(false);
    let outcome = work(connection);
    (outcome, connection.is_postgres() && HAD_LARGE_VALUE.get())
}

/// A place of a pool, with its connection.
pub(crate) struct Pooled {
    /// `None` while a thread works with it. The place is given to another connection if the thread does not come back.
    pub(crate) connection: Option<AnyConnection>,
    /// When the connection was made.
    pub(crate) since: Instant,
    /// Set by the work that finds the connection lost, or refused to write by its server; the pool then replaces it.
    /// Diesel alone does not notice a connection lost while a statement was being sent.
    pub(crate) is_lost: bool,
    /// Whether its buffers are large. The pool then replaces it too.
    pub(crate) is_swollen: bool,
}

impl r2d2::ManageConnection for Manager {
    type Connection = Pooled;
    type Error = OpenError;

    fn connect(&self) -> Result<Pooled, OpenError> {
        let (url, access, limits) = (self.url.clone(), self.access, self.limits);
        let connection = self.attempts.make(&self.url, move || {
            let mut connection = connect(&url, access)?;
            match bound(&mut connection, limits) {
                Ok(()) => Ok(connection),
                Err(error) => Err(OpenError::Connect { url, cause: error.to_string() }),
            }
        })?;
        let since = Instant::now();
        Ok(Pooled { connection: Some(connection), since, is_lost: false, is_swollen: false })
    }

    /// The pool does not ask: a lost connection is noticed by the work that needs it.
    fn is_valid(&self, _: &mut Pooled) -> Result<(), OpenError> {
        Ok(())
    }

    fn has_broken(&self, pooled: &mut Pooled) -> bool {
        let is_broken = pooled.connection.as_mut().is_none_or(AnyConnection::is_broken);
        is_broken || pooled.is_lost || pooled.is_swollen
    }
}
