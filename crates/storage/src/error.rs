//! The errors of this crate, and the domain's error that a port returns for each.

use std::fmt;

use cicerone_domain::Error;
use diesel::result::{DatabaseErrorKind, Error as DieselError};

use crate::url::DatabaseUrl;

/// The database could not be opened, or its schema does not match this program.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No connection could be made; the cause is the database's own message.
    #[error("cannot open the database `{url}`: {cause}")]
    Connect {
        /// The database that was to be opened; shown without its password.
        url: DatabaseUrl,
        /// The message of the database or its library.
        cause: String,
    },
    /// The SQLite library has a fault that damages databases.
    #[error(
        "SQLite {found} can corrupt a database (its WAL-reset fault); 3.51.3 or newer is needed"
    )]
    SqliteTooOld {
        /// The library's version.
        found: String,
    },
    /// A newer program has changed the schema.
    #[error(
        "the database `{url}` is newer than this program: it has the unknown migration `{migration}`"
    )]
    Newer {
        /// The database that was to be opened; shown without its password.
        url: DatabaseUrl,
        /// A migration that this program does not have.
        migration: String,
    },
    /// The schema is older than this program.
    #[error("the database `{url}` lacks the migration `{migration}`; run `cicerone migrate run`")]
    Pending {
        /// The database that was to be opened; shown without its password.
        url: DatabaseUrl,
        /// The first migration that is missing.
        migration: String,
    },
    /// A migration failed and was rolled back.
    #[error("migrating the database `{url}` failed: {cause}")]
    Migration {
        /// The database that was to be opened; shown without its password.
        url: DatabaseUrl,
        /// What went wrong.
        cause: String,
    },
    /// A database could not be copied, or a copy is damaged.
    #[error("copying the database `{url}` failed: {cause}")]
    Snapshot {
        /// The database that was to be opened; shown without its password.
        url: DatabaseUrl,
        /// What went wrong.
        cause: String,
    },
    /// A thread could not be started.
    #[error("cannot start a thread for the database")]
    Thread(#[source] std::io::Error),
}

impl OpenError {
    /// Whether a SQLite file could not be opened because its disk may be full. SQLite reports a full disk as an I/O error
    /// if it has no room for the index of its log.
    pub fn may_lack_space(&self) -> bool {
        let (Self::Connect { cause, .. } | Self::Migration { cause, .. }) = self else {
            return false;
        };
        ["disk is full", "disk I/O error"].iter().any(|part| cause.contains(part))
    }
}

/// Why a transaction ends without a commit.
#[derive(Debug)]
pub(crate) enum TransactionError {
    /// An error of the domain, which is returned unchanged.
    Refused(Error),
    /// The database failed before anything could have been committed: the work may be repeated.
    Database(DieselError),
    /// The database failed, and repeating the work could do it twice or is impossible.
    Final(DieselError),
}

impl TransactionError {
    /// An internal error: the database's content, or the request to it, is not valid.
    pub(crate) fn internal(cause: impl Into<cicerone_domain::error::Cause>) -> Self {
        Self::Refused(Error::internal(cause))
    }

    /// Whether the same work may succeed when it is repeated from the start, on another connection
    /// if this one was lost.
    ///
    /// Diesel does not name every kind of error: PostgreSQL's deadlock is reported as `Unknown`, with a message in the
    /// server's language. So every error without a name is worth a retry; the entire transaction was rolled back.
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Self::Database(DieselError::DatabaseError(kind, _)) => matches!(
                kind,
                DatabaseErrorKind::SerializationFailure
                    | DatabaseErrorKind::ClosedConnection
                    | DatabaseErrorKind::UnableToSendCommand
                    | DatabaseErrorKind::Unknown
            ),
            Self::Database(error) => matches!(error, DieselError::BrokenTransactionManager),
            Self::Refused(_) | Self::Final(_) => false,
        }
    }

    /// Whether the database failed with an error that diesel has no name for, such as a statement
    /// that took too long.
    pub(crate) fn is_unnamed(&self) -> bool {
        let (Self::Database(error) | Self::Final(error)) = self else { return false };
        matches!(error, DieselError::DatabaseError(DatabaseErrorKind::Unknown, _))
    }

    /// Whether PostgreSQL refused to write, before anything was written: its server is a standby, or was told to read
    /// only.
    pub(crate) fn is_refusal_to_write(&self) -> bool {
        let Self::Database(error) = self else { return false };
        matches!(error, DieselError::DatabaseError(DatabaseErrorKind::ReadOnlyTransaction, _))
    }

    /// Whether the connection is lost, which does not affect the next one.
    pub(crate) fn is_lost_connection(&self) -> bool {
        let (Self::Database(error) | Self::Final(error)) = self else { return false };
        matches!(
            error,
            DieselError::BrokenTransactionManager
                | DieselError::RollbackErrorOnCommit { .. }
                | DieselError::DatabaseError(
                    DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand,
                    _
                )
        )
    }
}

impl fmt::Display for TransactionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Database(error) | Self::Final(error) => error.fmt(f),
        }
    }
}

impl From<DieselError> for TransactionError {
    fn from(error: DieselError) -> Self {
        Self::Database(error)
    }
}

impl From<Error> for TransactionError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<TransactionError> for Error {
    fn from(failure: TransactionError) -> Self {
        match failure {
            TransactionError::Refused(error) => error,
            TransactionError::Database(error) | TransactionError::Final(error) => {
                if is_passing(&error) { Self::unavailable(error) } else { Self::internal(error) }
            }
        }
    }
}

/// Whether the error comes from the environment (another writer, the disk, the network, a server
/// that is stopping) rather than from the request.
fn is_passing(error: &DieselError) -> bool {
    match error {
        DieselError::BrokenTransactionManager => true,
        DieselError::RollbackErrorOnCommit { commit_error, .. } => is_passing(commit_error),
        DieselError::DatabaseError(kind, information) => match kind {
            DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::SerializationFailure
            | DatabaseErrorKind::ReadOnlyTransaction => true,
            DatabaseErrorKind::Unknown => {
                let message = information.message();
                PASSING.iter().any(|part| message.contains(part))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Parts of messages that diesel has no name for, first SQLite's, then PostgreSQL's.
const PASSING: [&str; 17] = [
    "database is locked",
    "database table is locked",
    "disk is full",
    "disk I/O error",
    "unable to open database file",
    "readonly database",
    "interrupted",
    "out of memory",
    "deadlock detected",
    "No space left",
    "could not ",
    "timeout",
    "too many ",
    "remaining connection slots",
    "the database system is",
    "terminating connection",
    "read-only transaction",
];

/// A column contains a value that this program never writes. The message names the column, and
/// contains the value only if it is an id or a name.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) column: &'static str,
    pub(crate) value: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the column `{}` holds `{}`, which has no meaning there", self.column, self.value)
    }
}

impl std::error::Error for Unreadable {}
