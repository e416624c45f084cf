//! Attempts to connect to PostgreSQL.
//!
//! libpq limits the time until a server has accepted a connection, but not the statements that prepare it. A server that
//! stops answering in between would block the few threads with which the pool connects.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;

use crate::connection::AnyConnection;
use crate::error::OpenError;
use crate::url::{DatabaseUrl, Target, connect_limit};

/// Attempts that may be in progress, including those that were given up.
const ATTEMPTS: usize = 32;

/// The attempts in progress.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Arc<()>);

impl Attempts {
    /// Runs `connect`. On PostgreSQL it runs on its own thread. After the time limit of the address, this returns an error;
    /// the thread ends later, with the connection.
    pub(super) fn make(
        &self,
        url: &DatabaseUrl,
        connect: impl FnOnce() -> Result<AnyConnection, OpenError> + Send + 'static,
    ) -> Result<AnyConnection, OpenError> {
        let limit = match &url.0 {
            Target::Postgres(address) => connect_limit(address),
            Target::Sqlite(_) => None,
        };
        let Some(limit) = limit else { return connect() };
        let failed = |cause: &str| OpenError::Connect { url: url.clone(), cause: cause.to_owned() };
        if Arc::strong_count(&self.0) > ATTEMPTS {
            return Err(failed("too many earlier attempts have no answer yet"));
        }
        let (made, wait) = sync_channel(1);
        let in_progress = Arc::clone(&self.0);
        let attempt = move || {
            let _in_progress = in_progress;
            // If it was given up, the connection is closed.
            let _ = made.send(connect());
        };
        let name = "storage-connect".to_owned();
        thread::Builder::new().name(name).spawn(attempt).map_err(OpenError::Thread)?;
        match wait.recv_timeout(limit) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => Err(failed("the server does not answer")),
            Err(RecvTimeoutError::Disconnected) => Err(failed("the attempt has panicked")),
        }
    }
}
