//! The folder that is written: new files only.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The folder of the file.
pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Writes a file below the folder. Returns its path as the declarations name it.
    pub(super) fn add(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<String, Failure> {
        let path = format!("{folder}/{name}");
        self.write(&self.root.join(&path), bytes)?;
        Ok(path)
    }

    /// Writes a file that must not exist.
    pub(super) fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let failed =
            |error| Failure::because(&format!("cannot write `{}`", path.display()), &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        file.write_all(bytes).map_err(failed)
    }
}
