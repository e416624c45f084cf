//! The data directory, which one process at a time may use.

use std::fs::{DirBuilder, File};
use std::path::Path;

use crate::failure::Failure;
use crate::file_lock;

/// The file that is locked while a process uses the directory.
const LOCK_FILE: &str = "lock";

/// The right to use a data directory, held until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    _lock: File,
}

impl DataDirectory {
    /// Creates the directory if it is missing, readable by its owner only, and locks it.
    ///
    /// Fails if another process uses it.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        create(path)?;
        let lock = file_lock::exclusive(&path.join(LOCK_FILE), "`CICERONE_DATA_DIR`", || {
            format!(
                "`CICERONE_DATA_DIR`: another cicerone process uses `{}`; stop it, or give each its own \
                 directory",
                path.display()
            )
        })?;
        Ok(Self { _lock: lock })
    }
}

/// Creates the directory with mode 0700 if it is missing. Files that the process creates from here on
/// are readable by their owner only: databases, uploads and indexes too, also those elsewhere.
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
        assert!(format!("{refusal:?}").contains("another cicerone process uses"), "{refusal:?}");
        drop(held);
        DataDirectory::open(&path).unwrap();
    }
}
