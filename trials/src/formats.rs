//! The formats of files that trials collect and read, and the child processes that read them.

use std::path::Path;

use anyhow::{Context as _, bail};
use cicerone_domain::UploadType;
use cicerone_ingestion::{Readers, SandboxSettings};

/// The subcommand with which this program starts itself to read documents.
pub(crate) const READ_WORKER: &str = "read-worker";

/// Formats by the extension of their files.
pub(crate) const FORMATS: [(&str, UploadType); 9] = [
    ("xlsx", UploadType::Xlsx),
    ("xls", UploadType::Xls),
    ("ods", UploadType::Ods),
    ("csv", UploadType::Csv),
    ("pptx", UploadType::Pptx),
    ("odt", UploadType::Odt),
    ("epub", UploadType::Epub),
    ("rtf", UploadType::Rtf),
    ("eml", UploadType::Eml),
];

/// The formats with these names; all if none is named.
pub(crate) fn named(names: &[String]) -> anyhow::Result<Vec<(&'static str, UploadType)>> {
    if let Some(unknown) = names.iter().find(|name| FORMATS.iter().all(|(known, _)| name != known))
    {
        let known: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
        bail!("there is no format `{unknown}`; there are {}", known.join(", "));
    }
    let wanted = |format: &str| names.is_empty() || names.iter().any(|name| name == format);
    Ok(FORMATS.into_iter().filter(|(format, _)| wanted(format)).collect())
}

/// Readers in child processes, which run the given program, or this one.
pub(crate) fn readers(processes: usize, program: Option<&Path>) -> anyhow::Result<Readers> {
    let own = SandboxSettings::default();
    let program = match program {
        // A child process starts in another folder.
        Some(program) => program.canonicalize().with_context(|| program.display().to_string())?,
        None => own.program.clone(),
    };
    let arguments = vec![READ_WORKER.into()];
    Ok(Readers::new(SandboxSettings { program, arguments, processes, ..own }))
}

/// Why a document could not be read, according to the sentence that its owner gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// It was refused with its own reason.
    Refused,
    /// Reading it crashed.
    Crashed,
    /// It took too long, or too much processor time.
    TimedOut,
    /// It took too much memory.
    OutOfMemory,
    /// It was nested too deeply for the stack.
    Nested,
}

impl End {
    /// The outcome that a reason describes.
    pub(crate) fn of(reason: &str) -> Self {
        let has = |part: &str| reason.contains(part);
        if has("failed unexpectedly") {
            Self::Crashed
        } else if has("took longer than") || has("more processor time") {
            Self::TimedOut
        } else if has("more memory than") {
            Self::OutOfMemory
        } else if has("cannot be read: it is nested too deeply") {
            Self::Nested
        } else {
            Self::Refused
        }
    }
}
