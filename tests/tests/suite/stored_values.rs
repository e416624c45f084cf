//! Values that are not checked again come from the database alone.

use std::fs;
use std::path::{Path, PathBuf};

/// The code files of a crate that are part of the product.
fn code(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            code(&path, files);
        } else if name.ends_with(".rs") && !["tests.rs", "testing.rs"].contains(&name) {
            files.push(path);
        }
    }
}

#[test]
fn only_storage_makes_values_without_checking_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut callers = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut files = Vec::new();
        code(&folder.join("src"), &mut files);
        let calls = |file: &PathBuf| fs::read_to_string(file).unwrap().contains("::from_stored(");
        // The domain has their definitions.
        if name != "domain" && files.iter().any(calls) {
            callers.push(name);
        }
    }
    assert_eq!(callers, ["storage"]);
}
