//! The file of a backup in the making.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::cannot_write;
use crate::database_file::sync_folder;
use crate::failure::Failure;

/// A new file that gets its name when it is whole.
///
/// Where the system can make files without a name, it has none until then, and whatever happens to
/// the process the system frees it. Elsewhere it has a name that begins with a dot and ends in
/// `.partial`, which a killed process leaves behind.
pub(super) struct Target {
    path: PathBuf,
    file: File,
    /// Its name until it is whole, where it needs one.
    named: Option<tempfile::TempPath>,
}

impl Target {
    /// Begins a file that is to be at `path`.
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

    /// What is written; at its beginning, and empty.
    pub(super) fn begin(&mut self) -> Result<File, Failure> {
        let begin = || {
            use std::io::Seek as _;
            self.file.set_len(0)?;
            (&self.file).rewind()?;
            self.file.try_clone()
        };
        begin().map_err(|error| cannot_write(&self.path, &error))
    }

    /// Gives it its name. Fails where something has it already, and leaves that as it is.
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

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file without a name in `folder`; none where there is no such thing.
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

/// Where an open file can be named.
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
