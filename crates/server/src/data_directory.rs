//! The data directory, which one process at a time may use.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::path::Path;

use crate::failure::Failure;

/// The file whose lock says that a process uses the directory.
const LOCK_FILE: &str = "lock";

/// The right to use a data directory, held until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    _lock: File,
}

impl DataDirectory {
    /// Creates the directory where it is missing, readable by its owner only, and locks it.
    ///
    /// Fails where another process uses it.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        create(path)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let lock = options.open(path.join(LOCK_FILE)).map_err(|error| {
            Failure::because(&format!("`CICERONE_DATA_DIR`: cannot write in `{shown}`"), &error)
        })?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Failure::new(format!(
                "`CICERONE_DATA_DIR`: another cicerone uses `{shown}`; stop it, or give each its \
                 own directory"
            ))),
            Err(TryLockError::Error(error)) => Err(Failure::because(
                &format!("`CICERONE_DATA_DIR`: cannot lock `{shown}`"),
                &error,
            )),
        }
    }
}

/// Creates the directory with mode 0700 where it is missing. Whatever the process makes from here
/// on is its owner's alone: databases, uploads and indexes too, also those that lie elsewhere.
pub(crate) fn create(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use rustix::fs::Mode;
        rustix::process::umask(Mode::RWXG | Mode::RWXO);
    }
    DirBuilder::new().recursive(true).create(path).map_err(|error| {
        let context = format!("`CICERONE_DATA_DIR`: cannot create `{}`", path.display());
        Failure::because(&context, &error)
    })
}

#[cfg(test)]
mod tests {
    use super::DataDirectory;

    #[test]
    fn a_directory_is_private_and_used_by_one_at_a_time() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/b");
        let held = DataDirectory::open(&path).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        let refusal = DataDirectory::open(&path).unwrap_err();
        assert!(format!("{refusal:?}").contains("another cicerone uses"), "{refusal:?}");
        drop(held);
        DataDirectory::open(&path).unwrap();
    }
}
