//! The place that a backup is restored into: empty, or refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::alone::Alone;
use crate::configuration::Configuration;
use crate::database_file::{DatabaseFile, sync_folder};
use crate::failure::Failure;

/// The default name of the database, and the prefix of the files that belong to it.
const DATABASE: &str = "cicerone.db";
/// The default folder of uploads.
const OBJECTS: &str = "objects";
/// The manifest of `ask`.
const MANIFEST: &str = "ask.json";

/// A place without a database and without files that belong to one. While it is held, no server can
/// start in it.
pub(super) struct RestoreTarget {
    database: DatabaseFile,
    /// The folder in which the database is prepared; removed at the end.
    folder: tempfile::TempDir,
    /// The folder of uploads, if the settings name no other place.
    objects: PathBuf,
    is_done: bool,
    _alone: Alone,
}

impl RestoreTarget {
    /// Locks the place that the settings name, and marks in it that a restore has begun.
    ///
    /// Fails if it contains a database or a part of one: its log, its index, its uploads. Such a
    /// part belongs to other content, and SQLite would apply an old log to the new database.
    /// Remains of an interrupted restore are removed.
    pub(super) fn take(configuration: &Configuration, database: &Path) -> Result<Self, Failure> {
        crate::data_directory::create(configuration.data_dir())?;
        if let Some(parent) = database.parent() {
            fs::create_dir_all(parent).map_err(|error| cannot(database, &error))?;
        }
        let alone = Alone::open(configuration)?;
        let database = DatabaseFile::find(database)?;
        let objects = configuration.data_dir().join(OBJECTS);
        if database.is_half_restored() {
            remove_uploads(&objects).map_err(|error| cannot(&objects, &error))?;
        }
        check_empty(configuration, &database)?;
        database.begin_restore().map_err(|error| cannot(&database.path(), &error))?;
        let folder = tempfile::Builder::new()
            .prefix(&database.restore_prefix())
            .tempdir_in(database.folder())
            .map_err(|error| cannot(&database.path(), &error))?;
        Ok(Self { database, folder, objects, is_done: false, _alone: alone })
    }

    /// The database's path.
    pub(super) fn database(&self) -> PathBuf {
        self.database.path()
    }

    /// The path at which the database is prepared.
    pub(super) fn copy(&self) -> PathBuf {
        self.folder.path().join(DATABASE)
    }

    /// Moves the prepared database into place and syncs it, after everything else was restored.
    /// Fails if a database was created there in the meantime, and leaves that one alone.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let path = self.database.path();
        let finish = || {
            // Renaming would replace an existing file; adding a second name does not.
            match fs::hard_link(self.copy(), &path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) => fs::rename(self.copy(), &path)?,
                Ok(()) => fs::remove_file(self.copy())?,
            }
            sync_folder(self.database.folder())?;
            self.database.end_restore()
        };
        finish().map_err(|error| cannot(&path, &error))?;
        self.is_done = true;
        Ok(())
    }
}

/// Leaves the place as empty as it was if the restore fails.
impl Drop for RestoreTarget {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        // If this fails too, the mark remains, and the next restore tries again.
        let undone = remove_uploads(&self.objects).and_then(|()| self.database.end_restore());
        if let Err(error) = undone {
            tracing::warn!(%error, "a failed restore leaves uploads behind");
        }
    }
}

/// Removes what a restore put there: the folder was empty when it began.
fn remove_uploads(objects: &Path) -> io::Result<()> {
    match fs::remove_dir_all(objects) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns an error that names the first file that exists.
fn check_empty(configuration: &Configuration, database: &DatabaseFile) -> Result<(), Failure> {
    let directory = configuration.data_dir();
    let default = DatabaseFile::find(&directory.join(DATABASE))?;
    let files = database.files().into_iter().chain(default.files());
    let found = files
        .map(|file| (file, "a database or the log of one"))
        .chain([(directory.join(MANIFEST), "the list of sources that `cicerone ask` has indexed")])
        .find(|(path, _)| path.symlink_metadata().is_ok());
    let folders = [
        (configuration.index_dir(), "the index of a database"),
        (directory.join(OBJECTS), "the uploads of a database"),
    ];
    let mut found = found;
    for (folder, what) in folders {
        let is_empty = is_empty(&folder).map_err(|error| cannot(&folder, &error))?;
        if found.is_none() && !is_empty {
            found = Some((folder, what));
        }
    }
    let Some((path, what)) = found else { return Ok(()) };
    Err(Failure::misuse(format!(
        "`{}` exists, {what}; restore into an empty data directory, or move the existing data away first",
        path.display()
    )))
}

/// Whether the folder does not exist, or has no files in it or in its subfolders.
fn is_empty(folder: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || !is_empty(&entry.path())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The failure of a write at `path`.
pub(super) fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::because(&format!("cannot write `{}`", path.display()), error)
}
