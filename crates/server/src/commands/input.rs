//! Files that are named on the command line, with the size limit of an upload.

use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use cicerone_domain::upload::unread_type;
use cicerone_domain::{UploadType, limits};

use super::serve::type_of;

/// A file to read.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// The path as it was named.
    pub(crate) name: String,
    /// Detected from its content.
    pub(crate) content_type: UploadType,
    pub(crate) bytes: Bytes,
}

/// Loads a file, or a picture if OCR is available. The error explains why it is not read.
pub(crate) fn load(path: &Path, reads_pictures: bool) -> Result<InputFile, String> {
    let shown = path.display();
    let failed = |error: std::io::Error| format!("`{shown}`: {error}");
    let mut bytes = Vec::new();
    let most = u64::try_from(limits::FILE_BYTES).unwrap_or(u64::MAX);
    // A pipe has no length, so one byte more than the limit is read: if it exists, the file is too
    // long.
    let mut file = std::fs::File::open(path).map_err(failed)?.take(most.saturating_add(1));
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > limits::FILE_BYTES {
        return Err(format!("`{shown}`: a file may have at most {most} bytes (10 MiB)"));
    }
    if bytes.is_empty() {
        return Err(format!("`{shown}`: the file is empty"));
    }
    let Some(content_type) = type_of(&bytes, reads_pictures) else {
        let hint = unread_type(&bytes).map(|hint| format!("; {hint}")).unwrap_or_default();
        return Err(format!("`{shown}`: it is not a {} file{hint}", UploadType::NAMES));
    };
    Ok(InputFile { name: name(path), content_type, bytes: bytes.into() })
}

/// The path as it was named, without `.` components.
fn name(path: &Path) -> String {
    let name = path.to_string_lossy();
    let name = name.strip_prefix("./").unwrap_or(&name);
    name.chars().filter(|char| !char.is_control()).take(255).collect()
}
