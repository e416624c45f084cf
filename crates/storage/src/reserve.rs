//! Space that is reserved on the disk of a SQLite database, so that deletions work when the disk is
//! full.
//!
//! A deletion needs space before it frees any, because SQLite first writes the changed pages to its log. So a file next
//! to the database reserves some space, and is removed when a deletion finds the disk full. Until there is room for the
//! file again, only deletions are carried out.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::url::DatabaseUrl;

/// How often the program tries to reserve the space again.
const RETRY: Duration = Duration::from_secs(1);

/// Removes the reserve of a SQLite file that no server uses, because there is no room to open the file. Returns false if
/// there is no reserve. The server that opens it then carries out only deletions until there is room.
pub fn release_reserve(url: &DatabaseUrl) -> bool {
    let Some(path) = url.sqlite_path().map(file) else { return false };
    fs::remove_file(path).is_ok()
}

/// The file that reserves space for the database at `database`.
fn file(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".reserve");
    PathBuf::from(name)
}

/// Space that is reserved, or was released.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    is_held: bool,
    /// When the space was released, or when reserving it was last tried.
    changed: Instant,
}

impl Reserve {
    /// Reserves `bytes` in a file next to the database at `database`. If there is no room, the space counts as
    /// released.
    pub(crate) fn hold(database: &Path, bytes: u64) -> Self {
        let path = file(database);
        let held = path.metadata().is_ok_and(|metadata| metadata.len() == bytes);
        let held = if held { Ok(()) } else { allocate(&path, bytes) };
        if let Err(error) = &held {
            tracing::warn!(%error, bytes, "the disk has no room for the reserve that deletions need");
        }
        Self {
            path,
            bytes,
            state: Mutex::new(State { is_held: held.is_ok(), changed: Instant::now() }),
        }
    }

    /// Whether the space is currently reserved.
    pub(crate) fn is_held(&self) -> bool {
        self.state.lock().is_held
    }

    /// Releases the space. Returns false if it was released already.
    pub(crate) fn release(&self) -> bool {
        let mut state = self.state.lock();
        if !state.is_held {
            return false;
        }
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "the reserve on the disk cannot be released");
            return false;
        }
        tracing::warn!(bytes = self.bytes, "the disk is full: only deletions are carried out");
        *state = State { is_held: false, changed: Instant::now() };
        true
    }

    /// Reserves the space again if there is room for it and for half as much in addition.
    pub(crate) fn retake(&self) {
        let mut state = self.state.lock();
        if state.is_held || state.changed.elapsed() < RETRY {
            return;
        }
        state.changed = Instant::now();
        let taken = allocate(&self.path, self.bytes.saturating_add(self.bytes / 2));
        if taken.and_then(|()| resize(&self.path, self.bytes)).is_ok() {
            tracing::info!(bytes = self.bytes, "the disk has room again");
            state.is_held = true;
        }
    }
}

/// Creates a file that occupies `bytes` bytes of the disk. Leaves no file if there is no room.
fn allocate(path: &Path, bytes: u64) -> io::Result<()> {
    let allocated = File::create(path).and_then(|file| take(&file, bytes));
    if allocated.is_err() {
        // The first error is the one that is reported.
        let _ = fs::remove_file(path);
    }
    allocated
}

#[cfg(target_os = "linux")]
fn take(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Err(rustix::io::Errno::OPNOTSUPP) => fill(file, bytes),
        taken => Ok(taken?),
    }
}

#[cfg(not(target_os = "linux"))]
fn take(file: &File, bytes: u64) -> io::Result<()> {
    fill(file, bytes)
}

/// Writes this many bytes, for a file system that cannot allocate them otherwise.
fn fill(mut file: &File, bytes: u64) -> io::Result<()> {
    let mut left = bytes;
    let zeros = [0; 64 * 1_024];
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(zeros.len());
        file.write_all(zeros.get(..length).unwrap_or(&zeros))?;
        left = left.saturating_sub(u64::try_from(length).unwrap_or(u64::MAX));
    }
    file.sync_all()
}

fn resize(path: &Path, bytes: u64) -> io::Result<()> {
    File::options().write(true).open(path)?.set_len(bytes)
}

#[cfg(test)]
mod tests {
    use super::Reserve;

    #[test]
    fn the_space_is_held_given_free_once_and_known_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("c.db");
        let file = folder.path().join("c.db.reserve");
        let reserve = Reserve::hold(&database, 100_000);
        assert!(reserve.is_held());
        assert_eq!(file.metadata().unwrap().len(), 100_000);
        assert!(Reserve::hold(&database, 100_000).is_held());
        assert!(reserve.release() && !reserve.is_held() && !file.exists());
        assert!(!reserve.release());
        reserve.retake();
        assert!(!reserve.is_held(), "it is tried once a second");
        // No disk has that much room.
        assert!(!Reserve::hold(&database, 1 << 60).is_held());
        assert!(!file.exists());
    }
}
