//! The files that `--source` names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use cicerone_domain::UploadType;
use cicerone_domain::source::WebsiteUrl;
use cicerone_ingestion::decode;
use ignore::WalkBuilder;

use crate::commands::input::{self, InputFile};
use crate::failure::Failure;
use crate::output;

/// Extensions of the files that are taken from a folder. A file named on the command line may have any
/// extension.
const PROSE: [&str; 8] = ["md", "markdown", "mdx", "txt", "text", "rst", "adoc", "org"];
/// Extensions of documents that are reported if they are skipped.
const DOCUMENTS: [&str; 17] = [
    "pdf", "docx", "doc", "html", "htm", "odt", "rtf", "pptx", "ppt", "xlsx", "xlsm", "xls", "ods",
    "csv", "tsv", "epub", "eml",
];

/// The files, folders and websites that `--source` names.
#[derive(Debug, Default)]
pub(in crate::commands) struct Found {
    /// The files by their absolute paths.
    pub(super) files: BTreeMap<PathBuf, FoundFile>,
    /// The folders that were named. Sources of files that are no longer in them are removed.
    pub(super) folders: Vec<PathBuf>,
    pub(super) websites: Vec<WebsiteUrl>,
}

/// A file to answer from.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// The path as it was named, which citations show.
    pub(super) name: String,
    pub(super) content_type: UploadType,
    pub(super) bytes: Bytes,
    /// Whether the command line names the file itself, and not a folder that contains it.
    pub(super) is_named: bool,
}

/// Finds and reads the files. Files named on the command line must be readable; unreadable files in
/// folders are reported and skipped.
pub(in crate::commands) fn find(sources: &[String]) -> Result<Found, Failure> {
    let mut found = Found::default();
    for source in sources {
        if source.contains("://") {
            let website = WebsiteUrl::parse(source.as_str())
                .map_err(|error| Failure::misuse(format!("`{source}`: {error}")))?;
            found.websites.push(website);
            continue;
        }
        let path = Path::new(source);
        let absolute = path
            .canonicalize()
            .map_err(|error| Failure::because(&format!("cannot read `{source}`"), &error))?;
        if absolute.is_dir() {
            add_folder(&mut found, path)?;
            found.folders.push(absolute);
        } else {
            let file = read(path).map_err(Failure::new)?;
            found.files.insert(absolute, FoundFile { is_named: true, ..file });
        }
    }
    Ok(found)
}

/// Adds the texts and documents of a folder and its subfolders, without hidden files and those that git
/// ignores.
fn add_folder(found: &mut Found, folder: &Path) -> Result<(), Failure> {
    let mut others = 0_usize;
    for entry in WalkBuilder::new(folder).require_git(false).build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                output::note(&format!("skipped: {error}"))?;
                continue;
            }
        };
        let path = entry.path();
        if !path.is_file() {
            continue;
        }
        let extension = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is = |known: &[&str]| known.iter().any(|ending| extension.eq_ignore_ascii_case(ending));
        if !is(&PROSE) && !is(&DOCUMENTS) {
            others += 1;
            continue;
        }
        match (read(path), path.canonicalize()) {
            (Ok(file), Ok(absolute)) => {
                // The command line may have named it before.
                found.files.entry(absolute).or_insert(file);
            }
            (Err(reason), _) => output::note(&format!("skipped {reason}"))?,
            (_, Err(error)) => output::note(&format!("skipped `{}`: {error}", path.display()))?,
        }
    }
    if others > 0 {
        let shown = folder.display();
        output::note(&format!("skipped {others} files in `{shown}` that are not prose"))?;
    }
    Ok(())
}

/// Reads a file. The error explains why no source can be created from it.
fn read(path: &Path) -> Result<FoundFile, String> {
    let InputFile { name, content_type, bytes } = input::load(path, false)?;
    // An unreadable text is reported now instead of as a failed source.
    if content_type == UploadType::Text {
        let shown = path.display();
        let text = decode(&bytes).map_err(|reason| format!("`{shown}`: {reason}"))?;
        if text.trim().is_empty() {
            return Err(format!("`{shown}`: the file contains no text"));
        }
    }
    Ok(FoundFile { name, content_type, bytes, is_named: false })
}
