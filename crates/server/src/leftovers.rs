//! Copies of the database: those in progress, and unfinished ones that a killed process left.
//!
//! A copy contains everything in plain text, so none may be left behind.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest as _, Sha256};

use crate::database_file::DatabaseFile;
use crate::failure::Failure;
use crate::file_lock;

/// The prefix of folders with a copy for a backup in the data directory.
const BACKUP: &str = "backup-";
/// How the names of those next to an archive begin: see [`elsewhere`]. People do not name folders like that.
const ELSEWHERE: &str = ".cicerone-backup-";
/// The earlier prefix of restore folders, which are now named after the database.
const RESTORE: &str = "restore-";
/// The file on which every running backup holds a shared lock. An exclusive lock shows that none runs.
const LOCK_FILE: &str = "copies.lock";
/// The files that such a folder may contain. A folder with anything else is not ours.
const FILES: [&str; 4] =
    ["cicerone.db", "cicerone.db-wal", "cicerone.db-shm", "cicerone.db-journal"];

/// Marks that a copy is in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Copying {
    directory: PathBuf,
    /// The prefix of folders next to an archive.
    elsewhere: String,
    _shared: File,
}

impl Copying {
    /// Removes what killed backups left in the data directory and in the folder `target`, and marks a new one.
    pub(crate) fn begin(directory: &Path, target: &Path) -> Result<Self, Failure> {
        let elsewhere = elsewhere(directory).map_err(|error| {
            let shown = directory.display();
            Failure::because(&format!("`CICERONE_DATA_DIR`: cannot read `{shown}`"), &error)
        })?;
        sweep_copies(directory, Some((target, &elsewhere)))?;
        let path = directory.join(LOCK_FILE);
        let shared = file_lock::open(&path, "`CICERONE_DATA_DIR`")?;
        shared.lock_shared().map_err(|error| cannot_lock(&path, &error))?;
        Ok(Self { directory: directory.to_owned(), elsewhere, _shared: shared })
    }

    /// A new folder for a copy in `place`, which is removed when it is dropped.
    pub(crate) fn folder(&self, place: &Path) -> io::Result<tempfile::TempDir> {
        let prefix = if place == self.directory { BACKUP } else { &self.elsewhere };
        tempfile::Builder::new().prefix(prefix).tempdir_in(place)
    }
}

/// Removes what killed backups left in the data directory, unless a backup is running. In that case, the
/// next start does.
pub(crate) fn sweep_backups(directory: &Path) -> Result<(), Failure> {
    sweep_copies(directory, None)
}

/// The prefix of folders with a copy for a backup of this data directory next to an archive. Several installations may
/// write their backups to the same folder, perhaps from containers in which their data directories have the same path.
fn elsewhere(directory: &Path) -> io::Result<String> {
    let path = fs::canonicalize(directory)?;
    let data = path.metadata()?;
    let mut hash = Sha256::new();
    hash.update(data.ino().to_be_bytes());
    // Not every file system knows when a folder was created.
    if let Some(age) = data.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()) {
        hash.update(age.as_nanos().to_be_bytes());
    }
    hash.update(path.as_os_str().as_bytes());
    let digest: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{ELSEWHERE}{digest}-"))
}

/// Removes the copies of killed backups from the data directory and from a folder, where they have a prefix.
fn sweep_copies(directory: &Path, target: Option<(&Path, &str)>) -> Result<(), Failure> {
    let path = directory.join(LOCK_FILE);
    let lock = file_lock::open(&path, "`CICERONE_DATA_DIR`")?;
    match lock.try_lock() {
        Ok(()) => {
            sweep(directory, OsStr::new(BACKUP))?;
            target.map_or(Ok(()), |(target, prefix)| sweep(target, OsStr::new(prefix)))
        }
        Err(TryLockError::WouldBlock) => Ok(()),
        Err(TryLockError::Error(error)) => Err(cannot_lock(&path, &error)),
    }
}

/// Removes what killed restores left. The caller holds the locks of the data directory and the
/// database.
pub(crate) fn sweep_restores(directory: &Path, database: &DatabaseFile) -> Result<(), Failure> {
    sweep(directory, OsStr::new(RESTORE))?;
    sweep(database.folder(), &database.restore_prefix())
}

fn sweep(directory: &Path, prefix: &OsStr) -> Result<(), Failure> {
    let failed = |error: &io::Error| {
        let shown = directory.display();
        Failure::because(&format!("cannot remove half-made copies in `{shown}`"), error)
    };
    for entry in fs::read_dir(directory).map_err(|error| failed(&error))? {
        let entry = entry.map_err(|error| failed(&error))?;
        let is_one = entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes())
            && entry.file_type().map_err(|error| failed(&error))?.is_dir()
            && holds_nothing_else(&entry.path()).map_err(|error| failed(&error))?;
        if is_one {
            fs::remove_dir_all(entry.path()).map_err(|error| failed(&error))?;
            tracing::info!(folder = %entry.path().display(), "removed an incomplete copy");
        }
    }
    Ok(())
}

/// Whether a folder contains nothing but a database.
fn holds_nothing_else(folder: &Path) -> io::Result<bool> {
    let names: io::Result<Vec<OsString>> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    Ok(names?.iter().all(|name| FILES.iter().any(|known| name == known)))
}

fn cannot_lock(path: &Path, error: &io::Error) -> Failure {
    Failure::because(&format!("`CICERONE_DATA_DIR`: cannot lock `{}`", path.display()), error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Copying, sweep_backups, sweep_restores};
    use crate::database_file::DatabaseFile;

    #[test]
    fn half_made_copies_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseFile::find(&folder.path().join("own.db")).unwrap();
        let make = |name: &str, file: &str| {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join(file), "everything").unwrap();
        };
        let gone = ["backup-a1B2c3", "restore-a1B2c3", "own.db.restore-a1B2c3"];
        let kept = ["backup-of-mine", "other.db.restore-a1B2c3", "objects"];
        gone.iter().for_each(|name| make(name, "cicerone.db"));
        make("backup-of-mine", "letters.txt");
        make("other.db.restore-a1B2c3", "cicerone.db");
        make("objects", "cicerone.db");
        fs::write(folder.path().join("backup-file"), "").unwrap();
        sweep_backups(folder.path()).unwrap();
        sweep_restores(folder.path(), &database).unwrap();
        for name in gone {
            assert!(!folder.path().join(name).exists(), "{name}");
        }
        for name in kept.into_iter().chain(["backup-file"]) {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn next_to_an_archive_only_copies_with_their_own_name_are_removed() {
        let (data, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = target.path().join("backup-monday");
        fs::create_dir(&own).unwrap();
        fs::write(own.join("cicerone.db"), "a copy by hand").unwrap();
        let copying = Copying::begin(data.path(), target.path()).unwrap();
        let left = copying.folder(target.path()).unwrap().keep();
        fs::write(left.join("cicerone.db"), "everything").unwrap();
        drop(copying);
        Copying::begin(data.path(), target.path()).unwrap();
        assert!(own.exists() && !left.exists());
    }

    #[test]
    fn a_backup_of_another_installation_to_the_same_folder_keeps_its_copy() {
        let [one, other, target] = [0; 3].map(|_| tempfile::tempdir().unwrap());
        let copying = Copying::begin(one.path(), target.path()).unwrap();
        let copy = copying.folder(target.path()).unwrap();
        fs::write(copy.path().join("cicerone.db"), "everything").unwrap();
        let second = Copying::begin(other.path(), target.path()).unwrap();
        assert!(copy.path().exists());
        let left = second.folder(target.path()).unwrap().keep();
        drop((second, copy, copying));
        Copying::begin(one.path(), target.path()).unwrap();
        assert!(left.exists());
        Copying::begin(other.path(), target.path()).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_backup_that_runs_keeps_its_copy() {
        let folder = tempfile::tempdir().unwrap();
        let one = Copying::begin(folder.path(), folder.path()).unwrap();
        let copy = one.folder(folder.path()).unwrap();
        let other = Copying::begin(folder.path(), folder.path()).unwrap();
        drop(other);
        sweep_backups(folder.path()).unwrap();
        assert!(copy.path().exists());
        let left = copy.keep();
        drop(one);
        sweep_backups(folder.path()).unwrap();
        assert!(!left.exists());
    }
}
