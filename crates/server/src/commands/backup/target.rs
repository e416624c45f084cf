//! The file of an unfinished backup.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::cannot_write;
use crate::database_file::sync_folder;
use crate::failure::Failure;

/// A new file that gets its name when it is complete.
///
/// Until then it has no name if the system supports that, and the system frees it even if the process is
/// killed. On other systems its name begins with a dot and ends in `.partial`, and a killed process
/// leaves it behind.
pub(super) struct Target {
    path: PathBuf,
    file: File,
    /// The temporary name, if the file needs one.
    named: Option<tempfile::TempPath>,
}

impl Target {
    /// Creates a file that will be at `path`.
    pub(super) fn new(path: &Path) -> Result<Self, Failure> {
        let failed = |error: &io::Error| cannot_write(path, error);
        if let Some(file) = nameless(folder(path)) {
            return Ok(Self { path: path.to_owned(), file, named: None });
        }
        let mut builder = tempfile::Builder::new();
        let made = builder.prefix(".").suffix(".partial").tempfile_in(folder(path));
        let (file, name) = made.map_err(|error| failed(&error))?.into_parts();
        Ok(Self { path: path.to_owned(), file, named: Some(name) })
    }

    /// The file to write to, empty.
    pub(super) fn begin(&mut self) -> Result<File, Failure> {
        let begin = || {
            use std::io::Seek as _;
            self.file.set_len(0)?;
            (&self.file).rewind()?;
            self.file.try_clone()
        };
        begin().map_err(|error| cannot_write(&self.path, &error))
    }

    /// Gives the file its name. Fails if a file with that name exists, and leaves it alone.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let Self { path, file, named } = self;
        let named = match named {
            Some(name) => name.persist_noclobber(&path).map_err(|error| error.error),
            None => link(&file, &path),
        };
        let named = named.and_then(|()| sync_folder(folder(&path)));
        named.map_err(|error| cannot_write(&path, &error))
    }
}

/// The folder of a file.
pub(super) fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file without a name in `folder`; `None` if the system does not support it.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, folder, flags, Mode::RUSR | Mode::WUSR).ok()?;
    let file = File::from(file);
    descriptor(&file).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path) -> Option<File> {
    None
}

/// Gives a nameless file its name.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    let flags = AtFlags::SYMLINK_FOLLOW;
    rustix::fs::linkat(CWD, descriptor(file), CWD, path, flags).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The path under which an open file can be linked.
#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd as _;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::Target;

    #[test]
    fn a_file_has_no_name_before_it_is_whole_and_takes_nobody_else_s() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tar.gz");
        let mut target = Target::new(&path).unwrap();
        target.begin().unwrap().write_all(b"of a first attempt").unwrap();
        target.begin().unwrap().write_all(b"whole").unwrap();
        if cfg!(target_os = "linux") {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        target.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        let mut other = Target::new(&path).unwrap();
        other.begin().unwrap().write_all(b"another").unwrap();
        other.finish().unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
