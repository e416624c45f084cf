//! Locks for what only one process at a time may use: a data directory and a SQLite database.

use crate::configuration::Configuration;
use crate::data_directory::DataDirectory;
use crate::database_file::{DatabaseFile, DatabaseLock};
use crate::failure::Failure;
use crate::leftovers;

/// The right to both, held until it is dropped or the process ends.
///
/// The data directory has its own lock, for the index and the uploads in it. The lock of the database is next to the
/// database, so it also stops two servers whose settings name one file and different directories. Commands that work
/// while a server runs (`backup`, `account`, `key`) take neither.
#[derive(Debug)]
pub(crate) struct Alone {
    _directory: DataDirectory,
    _database: Option<DatabaseLock>,
}

impl Alone {
    /// Takes both locks, and removes unfinished copies of the database that killed processes left.
    ///
    /// Fails if another process holds one of them.
    pub(crate) fn open(configuration: &Configuration) -> Result<Self, Failure> {
        let directory = DataDirectory::open(configuration.data_dir())?;
        leftovers::sweep_backups(configuration.data_dir())?;
        let Some(path) = configuration.database.sqlite_path() else {
            return Ok(Self { _directory: directory, _database: None });
        };
        let file = DatabaseFile::find(path)?;
        let database = file.lock()?;
        leftovers::sweep_restores(configuration.data_dir(), &file)?;
        file.check_single_name()?;
        file.settle_restore()?;
        Ok(Self { _directory: directory, _database: Some(database) })
    }
}
