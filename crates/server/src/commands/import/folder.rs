//! Files of folders.

use std::path::Path;

use ignore::WalkBuilder;

use super::found::Found;

/// Adds every file of a folder and its subfolders, in order, without hidden files and those that git ignores. Whether the
/// service reads it is found out when it is sent.
pub(super) fn add(folder: &Path, found: &mut Found) {
    let walk = WalkBuilder::new(folder).require_git(false).sort_by_file_path(Path::cmp).build();
    for entry in walk {
        match entry {
            Ok(entry) if entry.path().is_file() => add_file(entry.path(), found),
            Ok(_) => {}
            Err(error) => found.refuse(folder.display().to_string(), error.to_string()),
        }
    }
}

/// Adds a file.
pub(super) fn add_file(path: &Path, found: &mut Found) {
    match super::super::input::load(path, false) {
        Ok(_) => found.file(path.to_owned()),
        Err(reason) => {
            let shown = path.display().to_string();
            let reason = reason.strip_prefix(&format!("`{shown}`: ")).unwrap_or(&reason).to_owned();
            found.refuse(shown, reason);
        }
    }
}
