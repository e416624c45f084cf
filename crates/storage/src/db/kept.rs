//! Work whose value takes another way than its outcome.
//!
//! Queues, threads and the writer see work without its value. They are compiled once, and not for each of some 170
//! kinds of work, which was a sixth of this crate's code.

use std::sync::Arc;

use cicerone_domain::Error;
use parking_lot::Mutex;

use crate::connection::AnyConnection;
use crate::error::TransactionError;

/// Work on a connection that keeps its value itself.
pub(super) type Work<'w> = &'w mut dyn FnMut(&mut AnyConnection) -> Result<(), TransactionError>;

/// The same, for another thread.
pub(super) type OwnedWork =
    Box<dyn FnMut(&mut AnyConnection) -> Result<(), TransactionError> + Send>;

/// The value of `work`, which `run` runs until it succeeds.
pub(super) fn valued<T, E: From<TransactionError>>(
    mut work: impl FnMut(&mut AnyConnection) -> Result<T, TransactionError>,
    run: impl FnOnce(Work<'_>) -> Result<(), E>,
) -> Result<T, E> {
    let mut value = None;
    run(&mut |c| {
        value = Some(work(c)?);
        Ok(())
    })?;
    value.ok_or_else(|| TransactionError::internal(NOT_RUN).into())
}

/// Splits `work` into work for another thread and the value that it will have.
pub(super) fn keeping<T: Send + 'static>(
    mut work: impl FnMut(&mut AnyConnection) -> Result<T, TransactionError> + Send + 'static,
) -> (OwnedWork, ValueOfWork<T>) {
    let value = Arc::new(Mutex::new(None));
    let kept = ValueOfWork(Arc::clone(&value));
    let work = Box::new(move |c: &mut AnyConnection| {
        let done = work(c)?;
        *value.lock() = Some(done);
        Ok(())
    });
    (work, kept)
}

/// The value of work that another thread runs: that of its last successful run.
pub(super) struct ValueOfWork<T>(Arc<Mutex<Option<T>>>);

impl<T> ValueOfWork<T> {
    /// The value, if the work has succeeded.
    pub(super) fn after(self, outcome: Result<(), Error>) -> Result<T, Error> {
        outcome?;
        self.0.lock().take().ok_or_else(|| Error::internal(NOT_RUN))
    }
}

const NOT_RUN: &str = "work succeeded without running";
