//! Files of a folder.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// All files below `folder` whose names end with this extension, in order.
pub(crate) fn with_extension(folder: &Path, extension: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder);
        for entry in entries.with_context(|| format!("reading `{}`", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end.eq_ignore_ascii_case(extension)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
