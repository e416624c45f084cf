//! Which files `--source` means.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use cicerone_domain::source::WebsiteUrl;
use cicerone_domain::{UploadType, limits};
use cicerone_ingestion::{decode, detect_upload_type};
use ignore::WalkBuilder;

use crate::failure::Failure;
use crate::output;

/// Endings of the files that are taken from a folder: prose. A file that is named itself may have
/// any.
const PROSE: [&str; 8] = ["md", "markdown", "mdx", "txt", "text", "rst", "adoc", "org"];
/// Endings of documents whose absence from the answer should be noticed.
const DOCUMENTS: [&str; 5] = ["pdf", "docx", "doc", "html", "htm"];

/// What `--source` means.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The files by their absolute paths, each once.
    pub(super) files: BTreeMap<PathBuf, FoundFile>,
    /// The folders that were named: of what they held before, nothing else stays.
    pub(super) folders: Vec<PathBuf>,
    /// The websites.
    pub(super) websites: Vec<WebsiteUrl>,
}

/// A file to answer from.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// Its path as it was named: what citations show.
    pub(super) name: String,
    /// What it is.
    pub(super) content_type: UploadType,
    /// What it holds.
    pub(super) bytes: Bytes,
    /// Whether a person named it, rather than a folder that holds it.
    pub(super) is_named: bool,
}

/// Finds and reads the files. What a person named must be readable; what a folder holds beside
/// readable files is reported and left out.
pub(super) fn find(sources: &[String]) -> Result<Found, Failure> {
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

/// Adds the prose and documents of a folder and the folders in it, leaving out what is hidden or ignored by git.
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
                // It may have been named before.
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

/// Reads a file that a source can be made from; the error says why not.
fn read(path: &Path) -> Result<FoundFile, String> {
    let shown = path.display();
    let length = path.metadata().map_err(|error| format!("`{shown}`: {error}"))?.len();
    if usize::try_from(length).is_ok_and(|length| length > limits::FILE_BYTES) {
        return Err(format!(
            "`{shown}`: a file may have at most {} bytes (10 MiB)",
            limits::FILE_BYTES
        ));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("`{shown}`: {error}"))?;
    let name = name(path);
    let Some(content_type) = detect_upload_type(&bytes) else {
        return Err(format!("`{shown}`: it is no text, PDF, DOCX or HTML file"));
    };
    // Whether a text can be read is told now rather than by a failed source.
    if content_type == UploadType::Text {
        let text = decode(&bytes).map_err(|reason| format!("`{shown}`: {reason}"))?;
        if text.trim().is_empty() {
            return Err(format!("`{shown}`: the file contains no text"));
        }
    }
    Ok(FoundFile { name, content_type, bytes: bytes.into(), is_named: false })
}

/// The path as it was named, without what says nothing.
fn name(path: &Path) -> String {
    let name = path.to_string_lossy();
    let name = name.strip_prefix("./").unwrap_or(&name);
    name.chars().filter(|char| !char.is_control()).take(255).collect()
}
