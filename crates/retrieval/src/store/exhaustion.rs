//! Detects that files, memory, threads or disk space ran out, which is not a reason to rebuild an index.

use std::io::{self, ErrorKind};

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

/// `ENFILE` and `EMFILE`, which have no `ErrorKind`: too many open files in the system, or the process.
const TOO_MANY_FILES: [i32; 2] = [23, 24];

/// Whether the system ran out of a resource that may be available again in a moment.
pub(super) fn is_exhaustion(error: &TantivyError) -> bool {
    match error {
        TantivyError::IoError(cause)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: cause, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: cause, .. })
        | TantivyError::OpenDirectoryError(
            OpenDirectoryError::IoError { io_error: cause, .. }
            | OpenDirectoryError::FailedToCreateTempDir(cause),
        )
        | TantivyError::LockFailure(LockError::IoError(cause), _) => is_shortage(cause),
        // A thread could not be started.
        TantivyError::SystemError(_) => true,
        // Errors of other threads arrive as text.
        TantivyError::ErrorInThread(text) => TEXTS.iter().any(|part| text.contains(part)),
        _ => false,
    }
}

/// The phrases for shortages in such texts.
const TEXTS: [&str; 5] = [
    "Too many open files",
    "Cannot allocate memory",
    "No space left",
    "quota exceeded",
    "Resource temporarily unavailable",
];

/// Whether an operation failed because the system ran out of files, memory, threads or disk.
fn is_shortage(error: &io::Error) -> bool {
    let kinds = [
        ErrorKind::OutOfMemory,
        ErrorKind::StorageFull,
        ErrorKind::QuotaExceeded,
        ErrorKind::WouldBlock,
        ErrorKind::ReadOnlyFilesystem,
    ];
    kinds.contains(&error.kind())
        || error.raw_os_error().is_some_and(|code| TOO_MANY_FILES.contains(&code))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::is_exhaustion;

    #[test]
    fn shortages_are_told_from_damage() {
        // EAGAIN, ENOMEM, ENFILE, EMFILE, ENOSPC.
        for code in [11, 12, 23, 24, 28] {
            let error = io::Error::from_raw_os_error(code);
            assert!(is_exhaustion(&error.into()), "{code}");
        }
        // ENOENT, EIO, EINVAL.
        for code in [2, 5, 22] {
            let error = io::Error::from_raw_os_error(code);
            assert!(!is_exhaustion(&error.into()), "{code}");
        }
        let damage = tantivy::TantivyError::ErrorInThread("a file ends early".to_owned());
        assert!(!is_exhaustion(&damage));
    }
}
