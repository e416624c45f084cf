//! A place to restore into, in a given condition.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;

use super::Chance;
use super::history::History;
use crate::process::Program;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// An empty directory.
    Empty,
    /// The directory of a server that crashed some changes after the backup.
    Used,
    /// The directory of a server that was stopped at the time of the backup.
    Older,
    /// The rest of one of these two after a part of it was deleted.
    HalfDeleted,
    /// A single file or folder of a crashed server.
    OnePart,
    /// Unfinished copies that killed backups and restores left.
    Leftovers,
    /// The result of a restore that was killed at some point.
    KilledRestore,
    /// An empty directory, with the database elsewhere, beside the log of a crashed one.
    LogElsewhere,
    /// The directory of a crashed server in which the database file alone was replaced by hand, so
    /// that the index is older.
    FilePutBack,
}

impl Condition {
    pub(super) const ALL: [Self; 9] = [
        Self::Empty,
        Self::Used,
        Self::Older,
        Self::HalfDeleted,
        Self::OnePart,
        Self::Leftovers,
        Self::KilledRestore,
        Self::LogElsewhere,
        Self::FilePutBack,
    ];
}

/// A data directory, with the settings that belong to it.
#[derive(Debug)]
pub(super) struct Place {
    data: TempDir,
    condition: Condition,
    environment: Vec<(String, String)>,
    /// The folder of the database, if it is elsewhere.
    _elsewhere: Option<TempDir>,
}

impl Place {
    /// A place in this condition.
    pub(super) fn make(
        program: &Program,
        history: &History,
        condition: Condition,
        chance: &mut Chance,
    ) -> Self {
        let data = TempDir::with_prefix("cicerone-test-").expect("a temporary directory");
        let mut place = Self { data, condition, environment: Vec::new(), _elsewhere: None };
        let path = place.data.path().to_owned();
        match condition {
            Condition::Empty => {}
            Condition::Used => history.copy_newer(&path),
            Condition::Older => history.copy_older(&path),
            Condition::HalfDeleted => {
                if chance.below(2) == 0 {
                    history.copy_newer(&path)
                } else {
                    history.copy_older(&path)
                }
                let entries = entries(&path);
                let spared = chance.below(entries.len());
                for (number, entry) in entries.iter().enumerate() {
                    if number != spared && chance.below(2) == 0 {
                        remove(entry);
                    }
                }
            }
            Condition::OnePart => {
                history.copy_newer(&path);
                let entries = entries(&path);
                let spared = chance.below(entries.len());
                for (number, entry) in entries.iter().enumerate() {
                    if number != spared {
                        remove(entry);
                    }
                }
            }
            Condition::Leftovers => {
                for name in ["backup-aB3dE6", "restore-aB3dE6", "cicerone.db.restore-aB3dE6"] {
                    fs::create_dir(path.join(name)).unwrap();
                    fs::write(path.join(name).join("cicerone.db"), "half of everything").unwrap();
                }
            }
            Condition::KilledRestore => {
                let mut command = program.command(&path, &["restore", &history.archive()]);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                let mut child = command.spawn().expect("the program can be started");
                // At a moment that chance decides; each leaves a place from which a restore must work.
                std::thread::sleep(Duration::from_millis(chance.below(120) as u64));
                let _ = child.kill();
                let _ = child.wait();
            }
            Condition::LogElsewhere => {
                let elsewhere = TempDir::with_prefix("cicerone-test-").unwrap();
                let crashed = TempDir::new().unwrap();
                history.copy_newer(crashed.path());
                let log = elsewhere.path().join("other.db-wal");
                fs::copy(crashed.path().join("cicerone.db-wal"), log).unwrap();
                let url = format!("sqlite:{}", elsewhere.path().join("other.db").display());
                place.environment.push(("CICERONE_DATABASE_URL".to_owned(), url));
                place._elsewhere = Some(elsewhere);
            }
            Condition::FilePutBack => {
                history.copy_newer(&path);
                let older = TempDir::new().unwrap();
                history.copy_older(older.path());
                for entry in entries(&path) {
                    let name = entry.file_name().unwrap().to_str().unwrap();
                    if name.starts_with("cicerone.db") && !name.ends_with(".lock") {
                        remove(&entry);
                    }
                }
                for name in ["cicerone.db", "objects"] {
                    remove(&path.join(name));
                    fs::rename(older.path().join(name), path.join(name)).unwrap();
                }
            }
        }
        place
    }

    /// Restores the backup into it, unless that was done by hand. Returns the message of a refusal,
    /// after which everything must be unchanged.
    pub(super) fn restore(&self, program: &Program, history: &History) -> Result<(), String> {
        if self.condition == Condition::FilePutBack {
            return Ok(());
        }
        let before = contents(self.data.path());
        let mut command = program.command(self.data.path(), &["restore", &history.archive()]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().expect("the program can be started");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            for entry in entries(self.data.path()) {
                let name = entry.display().to_string();
                let is_half_made =
                    ["backup-", "restore-", "restoring"].iter().any(|part| name.contains(part));
                assert!(!is_half_made, "`{name}` is left behind");
            }
            return Ok(());
        }
        assert_eq!(output.status.code(), Some(2), "{:?}: {said}", self.condition);
        let is_as_before = contents(self.data.path()) == before;
        assert!(is_as_before, "{:?}: a refusal changed something: {said}", self.condition);
        Err(said)
    }

    /// Whether the database exists.
    pub(super) fn has_database(&self) -> bool {
        self.data.path().join("cicerone.db").exists()
    }

    /// The directory and the settings.
    pub(super) fn into_parts(self) -> (TempDir, Vec<(String, String)>) {
        (self.data, self.environment)
    }
}

/// The entries of a folder, in order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// Every file below a folder with its bytes, without locks, which are empty, and without the
/// remains of a killed restore, which the next command removes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in entries(folder) {
        let name = entry.file_name().unwrap().to_str().unwrap();
        let is_left_out = name.ends_with("lock") || name.starts_with("cicerone.db.restor");
        if !is_left_out && entry.is_dir() {
            found.extend(contents(&entry));
        } else if !is_left_out {
            found.insert(entry.clone(), fs::read(entry).unwrap());
        }
    }
    found
}
