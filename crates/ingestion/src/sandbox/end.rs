//! How a child process ended, as a sentence for the owner of the document.

use std::process::ExitStatus;
use std::time::Duration;

use crate::extract::Unreadable;

/// What the runtime prints before it aborts because memory is exhausted.
const OUT_OF_MEMORY: &str = "memory allocation of";
/// What it prints before it aborts because the stack is exhausted.
const STACK_OVERFLOW: &str = "has overflowed its stack";
/// Signals, as Linux, macOS and the BSDs number them.
const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;

/// The sentence for a process that ended by itself, from its status and the end of its standard error.
pub(super) fn of(status: ExitStatus, said: &str) -> Unreadable {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal: Option<i32> = None;
    match signal {
        Some(SIGXCPU) => Unreadable(
            "the document cannot be read: it takes more processor time than is allowed; check that it \
             is not damaged, or add it in parts"
                .to_owned(),
        ),
        // Only a system that is out of memory kills a reader.
        Some(SIGKILL) => out_of_memory(),
        Some(_) | None if said.contains(OUT_OF_MEMORY) => out_of_memory(),
        Some(_) | None if said.contains(STACK_OVERFLOW) => {
            Unreadable("the document cannot be read: it is nested too deeply".to_owned())
        }
        Some(_) | None => crashed(),
    }
}

/// Reading failed unexpectedly.
pub(super) fn crashed() -> Unreadable {
    Unreadable(
        "the document cannot be read: reading it failed unexpectedly; check that it is not damaged, \
         or add its text as a `text` source"
            .to_owned(),
    )
}

/// Reading took too long.
pub(super) fn timed_out(limit: Duration) -> Unreadable {
    let seconds = limit.as_secs_f64().ceil();
    Unreadable(format!(
        "the document cannot be read: reading it took longer than {seconds} s; check that it is not \
         damaged, or add it in parts"
    ))
}

/// The document exceeds the limits.
pub(super) fn too_large() -> Unreadable {
    Unreadable("the document is too large to be read".to_owned())
}

/// No process could be started.
pub(super) fn not_started() -> Unreadable {
    Unreadable(
        "the server could not start the process that reads documents; add it again later"
            .to_owned(),
    )
}

fn out_of_memory() -> Unreadable {
    Unreadable(
        "the document cannot be read: it takes more memory than is allowed; check that it is not \
         damaged, or add it in parts"
            .to_owned(),
    )
}
