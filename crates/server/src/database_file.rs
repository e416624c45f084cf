//! The file of a SQLite database: its real path, the files next to it, and its lock.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::file_lock;

/// The suffixes of files that SQLite and this program keep next to a database. A database without its log, or a log
/// without its database, has different content.
const COMPANIONS: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// The number of symbolic links that are followed before they count as a cycle.
const LINKS: usize = 40;

/// A SQLite database by its canonical path. Symbolic links are followed, even to a file that does
/// not exist yet, so two spellings of one path are recognised as the same database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DatabaseFile {
    folder: PathBuf,
    name: OsString,
}

/// The right to be the only server on a database, held until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct DatabaseLock {
    _lock: File,
}

impl DatabaseFile {
    /// Resolves `path`, whose folder must exist.
    pub(crate) fn find(path: &Path) -> Result<Self, Failure> {
        Self::resolve(path).map_err(|error| {
            let context = format!("`CICERONE_DATABASE_URL`: cannot find `{}`", path.display());
            Failure::because(&context, &error)
        })
    }

    fn resolve(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..LINKS {
            let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
            match fs::read_link(folder.join(&name)) {
                Ok(target) => path = folder.join(target),
                // It is not a link, or does not exist.
                Err(_) => return Ok(Self { folder, name }),
            }
        }
        Err(io::Error::other("too many symbolic links"))
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A path next to it, which begins with its name.
    pub(crate) fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.name.clone();
        name.push(suffix);
        self.folder.join(name)
    }

    /// The prefix of folders in which a restore prepares this database.
    pub(crate) fn restore_prefix(&self) -> OsString {
        let mut name = self.name.clone();
        name.push(".restore-");
        name
    }

    /// The files of the database and of its parts, whether they exist or not.
    pub(crate) fn files(&self) -> [PathBuf; 4] {
        COMPANIONS.map(|suffix| self.beside(suffix))
    }

    /// The file that marks that a restore into this place has begun.
    fn mark(&self) -> PathBuf {
        self.beside(".restoring")
    }

    /// Marks that a restore into this place has begun, and syncs the mark to the disk.
    pub(crate) fn begin_restore(&self) -> io::Result<()> {
        File::create(self.mark())?.sync_all()?;
        sync_folder(&self.folder)
    }

    /// Removes the mark, as the restore is complete.
    pub(crate) fn end_restore(&self) -> io::Result<()> {
        fs::remove_file(self.mark())?;
        sync_folder(&self.folder)
    }

    /// Removes the mark of a restore that was killed after it was complete. The caller holds the lock.
    pub(crate) fn settle_restore(&self) -> Result<(), Failure> {
        if !self.path().exists() || !self.mark().exists() {
            return Ok(());
        }
        self.end_restore().map_err(|error| {
            Failure::because(&format!("cannot remove `{}`", self.mark().display()), &error)
        })
    }

    /// Whether a restore into this place was interrupted. The database is moved into place last, so
    /// a database that exists is complete.
    pub(crate) fn is_half_restored(&self) -> bool {
        self.mark().exists() && !self.path().exists()
    }

    /// Returns an error if a restore into this place was interrupted.
    pub(crate) fn check_whole(&self) -> Result<(), Failure> {
        if self.is_half_restored() {
            let shown = self.path();
            return Err(Failure::new(format!(
                "a restore of `{}` was interrupted; run `cicerone restore` again, or remove `{}` to \
                 begin with an empty database",
                shown.display(),
                self.mark().display()
            )));
        }
        Ok(())
    }

    /// Takes the lock next to the database. Fails if another process has it.
    ///
    /// The lock is advisory and works between the processes of one machine. A database with a second name
    /// (a hard link) is refused: SQLite would keep a log for each name, and lose one of them.
    pub(crate) fn lock(&self) -> Result<DatabaseLock, Failure> {
        let shown = self.path();
        let lock = file_lock::exclusive(&self.beside(".lock"), "`CICERONE_DATABASE_URL`", || {
            format!(
                "`CICERONE_DATABASE_URL`: another cicerone process uses `{}`; stop it, or give each its own \
                 database",
                shown.display()
            )
        })?;
        Ok(DatabaseLock { _lock: lock })
    }

    /// Returns an error if the database is a folder or has a second name.
    pub(crate) fn check_single_name(&self) -> Result<(), Failure> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let path = self.path();
            let metadata = path.metadata().ok();
            if metadata.as_ref().is_some_and(std::fs::Metadata::is_dir) {
                let shown = path.display();
                let message =
                    format!("`CICERONE_DATABASE_URL`: `{shown}` is a folder; name a file");
                return Err(Failure::misuse(message));
            }
            let names = metadata.map_or(1, |metadata| metadata.nlink());
            if names > 1 {
                return Err(Failure::new(format!(
                    "`CICERONE_DATABASE_URL`: `{}` has {names} names (hard links), and SQLite keeps a \
                     log for each; remove the others, or copy the file",
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

/// Syncs the entries of a folder to the disk, so that a renamed file survives a power failure.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::DatabaseFile;

    #[cfg(unix)]
    #[test]
    fn two_spellings_of_one_database_meet_in_one_lock() {
        let folder = tempfile::tempdir().unwrap();
        let (real, other) = (folder.path().join("real"), folder.path().join("other"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &other).unwrap();
        let link = folder.path().join("link.db");
        // The file does not exist yet.
        std::os::unix::fs::symlink("other/../real/c.db", &link).unwrap();
        let one = DatabaseFile::find(&real.join("c.db")).unwrap();
        assert_eq!(one, DatabaseFile::find(&other.join("./c.db")).unwrap());
        assert_eq!(one, DatabaseFile::find(&link).unwrap());
        let held = one.lock().unwrap();
        let refusal = DatabaseFile::find(&link).unwrap().lock().unwrap_err();
        assert!(format!("{refusal:?}").contains("another cicerone process uses"), "{refusal:?}");
        drop(held);
        one.lock().unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_circle_of_links_and_a_second_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.db");
        std::os::unix::fs::symlink("c.db", &path).unwrap();
        DatabaseFile::find(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "").unwrap();
        let file = DatabaseFile::find(&path).unwrap();
        file.check_single_name().unwrap();
        std::fs::hard_link(&path, folder.path().join("again.db")).unwrap();
        let refusal = file.check_single_name().unwrap_err();
        assert!(format!("{refusal:?}").contains("2 names"), "{refusal:?}");
        let refusal = DatabaseFile::find(folder.path()).unwrap().check_single_name().unwrap_err();
        assert!(format!("{refusal:?}").contains("is a folder"), "{refusal:?}");
    }

    #[test]
    fn a_restore_that_was_broken_off_is_known_until_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::find(&folder.path().join("c.db")).unwrap();
        file.check_whole().unwrap();
        file.begin_restore().unwrap();
        let refusal = file.check_whole().unwrap_err();
        assert!(format!("{refusal:?}").contains("was interrupted"), "{refusal:?}");
        std::fs::write(file.path(), "whole").unwrap();
        file.check_whole().unwrap();
        file.end_restore().unwrap();
        std::fs::remove_file(file.path()).unwrap();
        file.check_whole().unwrap();
    }
}
