//! Files of folders.

use std::path::Path;

use ignore::WalkBuilder;

use super::found::Found;

/// Adds every file of a folder and its subfolders, in order, without hidden files and those that git ignores. Links are
/// not followed, because they may lead out of the folder to files that were not meant to be published.
pub(super) fn add(folder: &Path, found: &mut Found) {
    let walk = WalkBuilder::new(folder).require_git(false).sort_by_file_path(Path::cmp).build();
    for entry in walk {
        match entry {
            // A folder that is named may be a link itself.
            Ok(entry) if entry.depth() == 0 => {}
            Ok(entry) => match entry.file_type() {
                Some(kind) if kind.is_file() => add_file(entry.path(), found),
                Some(kind) if kind.is_dir() => {}
                Some(kind) if kind.is_symlink() => {
                    let reason =
                        "it is a symbolic link; to import its target, name the link or the target";
                    found.refuse(entry.path().display().to_string(), reason);
                }
                _ => found.refuse(entry.path().display().to_string(), "it is not a file"),
            },
            Err(error) => found.refuse(folder.display().to_string(), error.to_string()),
        }
    }
}

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
