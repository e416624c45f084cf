//! Standard output, which gets results, and standard error, which gets messages about the work.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _};

use crate::failure::Failure;

/// Prints `text` and a line end.
pub(crate) fn line(text: &dyn Display) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}

/// Prints `text` unchanged and flushes it.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader has closed the pipe, as `head` does.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::because("cannot write to standard output", &error)),
        Ok(()) => Ok(()),
    }
}

/// Prints a message about the work on standard error.
pub(crate) fn note(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stderr(), "{text}")
        .map_err(|error| Failure::because("cannot write to standard error", &error))
}
