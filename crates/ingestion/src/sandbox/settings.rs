//! The program and the limits of the child processes.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cicerone_domain::limits;

use super::ocr::OcrSettings;

/// The running program on Linux, even if its file has been replaced by a newer version, which may use another
/// protocol.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// The pool, its program, and the limits of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxSettings {
    /// A program that calls [`serve_reader`](crate::serve_reader) when it is started with
    /// `arguments`: the one that runs now, by default.
    pub program: PathBuf,
    /// The arguments of the program, without its name.
    pub arguments: Vec<OsString>,
    /// The number of processes that read pages at once, and also of those that read files; at least one each. By
    /// default one for each processor, at most four. Accounts below their share have a reserve of the same size.
    pub processes: usize,
    /// A process is replaced after this many documents.
    pub documents: u32,
    /// A process that has been idle for this long ends.
    pub idle: Duration,
    /// The time limit for a document.
    pub wall: Duration,
    /// The processor time that a document may take, in whole seconds.
    pub processor: Duration,
    /// Bytes of address space of a process.
    pub memory: u64,
    /// The OCR program, if there is one.
    pub ocr: Option<OcrSettings>,
    /// The longest text of a document, in bytes of UTF-8; never more than
    /// [`limits::DOCUMENT_TEXT_BYTES`].
    pub output: u32,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            program: own_program(),
            arguments: vec!["read-worker".into()],
            processes: processors.min(4),
            documents: 100,
            idle: Duration::from_secs(60),
            // Above the processor time: on a busy machine a process waits more than it runs.
            wall: Duration::from_secs(60),
            processor: Duration::from_secs(20),
            memory: 1024 * 1024 * 1024,
            ocr: None,
            output: u32::try_from(limits::DOCUMENT_TEXT_BYTES).unwrap_or(u32::MAX),
        }
    }
}

/// The running program. If the system does not reveal it, starting a reader reports the error.
fn own_program() -> PathBuf {
    if Path::new(OWN_PROGRAM).exists() {
        return OWN_PROGRAM.into();
    }
    std::env::current_exe().unwrap_or_default()
}
