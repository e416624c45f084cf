//! Locks on files. The system releases them when their process ends, for whatever reason.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::failure::Failure;

/// Opens the file `path` for locking, and creates it if it does not exist. A failure names `setting`.
pub(crate) fn open(path: &Path, setting: &str) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(|error| {
        Failure::because(&format!("{setting}: cannot write `{}`", path.display()), &error)
    })
}

/// Locks the file `path` exclusively. Fails with the message of `held` if another process holds the lock.
pub(crate) fn exclusive(
    path: &Path,
    setting: &str,
    held: impl FnOnce() -> String,
) -> Result<File, Failure> {
    let lock = open(path, setting)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Failure::new(held())),
        Err(TryLockError::Error(error)) => {
            Err(Failure::because(&format!("{setting}: cannot lock `{}`", path.display()), &error))
        }
    }
}
