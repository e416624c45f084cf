//! A small separate disk in memory, and a file that fills it.

use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// Unmounts the disk when its standard input is closed, which also happens if this program panics
/// or is killed.
const GUARDIAN: &str = "cat >/dev/null; umount \"$1\" || umount -l \"$1\"; rmdir \"$1\"";

/// A mounted disk. Dropping it unmounts it.
#[derive(Debug)]
pub struct Disk {
    folder: TempDir,
    guardian: Child,
}

impl Disk {
    /// Mounts a disk of `megabytes` megabytes. Returns an error if that is not permitted.
    pub fn new(megabytes: u32) -> io::Result<Self> {
        let folder = TempDir::with_prefix("cicerone-disk-")?;
        let guardian = guardian(folder.path())?;
        let disk = Self { folder, guardian };
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(disk.path())
            .output()?;
        if !output.status.success() {
            return Err(io::Error::other(format!(
                "mounting a disk is not permitted ({}): run this as root, or within \
                 `unshare --map-root-user --mount`",
                String::from_utf8_lossy(&output.stderr).trim()
            )));
        }
        Ok(disk)
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.guardian.stdin.take());
        let _ = self.guardian.wait();
    }
}

fn guardian(folder: &Path) -> io::Result<Child> {
    Command::new("sh")
        .args(["-c", GUARDIAN, "guardian"])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Interrupting this program at the terminal must not reach the guardian, which unmounts the
        // disk afterwards.
        .process_group(0)
        .spawn()
}

/// A file that takes all free space.
#[derive(Debug)]
pub struct Ballast {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Ballast {
    /// Fills the disk.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let path = folder.join("ballast");
        let file = File::create(&path)?;
        let mut ballast = Self { path, file, bytes: 0 };
        ballast.fill()?;
        Ok(ballast)
    }

    /// Takes newly freed space.
    fn fill(&mut self) -> io::Result<()> {
        let piece = vec![0_u8; 64 * 1_024];
        loop {
            match self.file.write(&piece) {
                Ok(0) => return Ok(()),
                Ok(count) => self.bytes += count as u64,
                Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Its size.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Frees the space.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}
