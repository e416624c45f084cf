//! The implementation of the ports.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cicerone_domain::ports::Health;
use cicerone_domain::{Error, Scope};

use crate::agents::KnownAgents;
use crate::connection::AnyConnection;
use crate::conversations::GatheredTurns;
use crate::db::Db;
use crate::dialect::{Begin, transaction};
use crate::error::{OpenError, TransactionError};
use crate::keys;
use crate::migrations;
use crate::scope::Visible;
use crate::sources::GatheredSources;
use crate::url::DatabaseUrl;

/// Every store port over one database. Clones share it; when the last clone is dropped, its threads
/// finish their work and end.
#[derive(Clone)]
pub struct Storage {
    pub(crate) db: Arc<Db>,
    /// The bytes that an account without its own quota may store; `None` for no limit.
    pub(crate) account_bytes: Option<u64>,
    /// The agents that an account may have; `None` for no limit.
    pub(crate) account_agents: Option<u64>,
    /// Turns that wait to be stored together.
    pub(crate) gathered: Arc<GatheredTurns>,
    /// New sources that wait to be stored together.
    pub(crate) gathered_sources: Arc<GatheredSources>,
    /// The agents that replies have read from a SQLite file.
    pub(crate) known: Arc<KnownAgents>,
}

/// How much of the machine and of the database server a [`Storage`] takes.
#[derive(Debug, Clone)]
pub struct StorageOptions {
    /// Connections that read a SQLite file; one more writes.
    pub read_connections: u32,
    /// Connections to PostgreSQL, each with its own thread.
    pub connections: u32,
    /// How long a request waits for a connection before the database is considered unreachable.
    pub connection_timeout: Duration,
    /// How long a read may take, and how long a change waits for a locked row.
    pub read_timeout: Duration,
    /// How long a change may take, and on SQLite how long it waits for its turn.
    pub write_timeout: Duration,
    /// Bytes that are reserved on the disk of a SQLite file, for deletions when the disk is full; 0
    /// for none. Only the file's single server may reserve them.
    pub reserve_bytes: u64,
    /// The bytes of sources and files that an account without its own quota may store; `None` for no limit.
    pub account_bytes: Option<u64>,
    /// The agents that an account may have; `None` for no limit.
    pub account_agents: Option<u64>,
}

/// How long work at the database may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) read: Duration,
    pub(crate) write: Duration,
}

impl Default for StorageOptions {
    fn default() -> Self {
        Self {
            read_connections: 6,
            connections: 16,
            connection_timeout: Duration::from_secs(3),
            read_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(60),
            reserve_bytes: 0,
            account_bytes: None,
            account_agents: None,
        }
    }
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").finish_non_exhaustive()
    }
}

impl Storage {
    /// Reads what a scope can see, in its account's turn and in one transaction, so that all queries of `work` see the
    /// same moment. `work` may run again if its connection turns out to be lost.
    pub(crate) async fn snapshot<T, F>(&self, scope: &Scope, mut work: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnMut(&mut AnyConnection, &Visible) -> Result<T, TransactionError> + Send + 'static,
    {
        let visible = Visible::from(scope);
        let read =
            move |c: &mut AnyConnection| transaction(c, Begin::Snapshot, |c| work(c, &visible));
        self.db.of(scope.account).read(read).await
    }

    /// Opens a database whose schema matches this program: see [`migrations::run`]. Blocks until it
    /// is connected.
    pub fn open(url: &DatabaseUrl, options: &StorageOptions) -> Result<Self, OpenError> {
        migrations::check(url)?;
        Ok(Self {
            db: Arc::new(Db::open(url, options)?),
            account_bytes: options.account_bytes,
            account_agents: options.account_agents,
            gathered: Arc::default(),
            gathered_sources: Arc::default(),
            known: Arc::default(),
        })
    }

    /// Accepts no more work, and returns when accepted work is committed and every thread has
    /// ended. Later calls fail with [`Error::Unavailable`].
    pub async fn close(&self) {
        self.db.close().await;
    }
}

#[async_trait]
impl Health for Storage {
    async fn check(&self) -> Result<(), Error> {
        self.db.read(|c: &mut AnyConnection| migrations::check_applied(c)).await
    }

    async fn check_writes(&self) -> Result<(), Error> {
        let probe = |c: &mut AnyConnection| keys::rewrite_secret(c);
        if self.db.probe_is_due()? { self.db.write(probe).await } else { Ok(()) }
    }
}
