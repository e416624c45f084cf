//! The process that executes the OCR program.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use super::{ARGUMENT, NOT_STARTED, Order};
use crate::sandbox::walls;

/// The order in this process's arguments, if there is one.
pub(in crate::sandbox) fn ordered() -> Option<OsString> {
    std::env::args_os().skip_while(|argument| argument != ARGUMENT).nth(1)
}

/// Applies the restrictions and executes the program. Returns only if that fails.
pub(in crate::sandbox) fn start(order: &OsString) -> ExitCode {
    let error = match become_the_program(order) {
        Ok(never) => match never {},
        Err(error) => error,
    };
    // The parent reads the line and also sees the status.
    let _ = writeln!(io::stderr(), "{NOT_STARTED}{error}");
    ExitCode::FAILURE
}

fn become_the_program(order: &OsString) -> io::Result<std::convert::Infallible> {
    let order = order.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let order: Order = serde_json::from_str(order)?;
    let own = [order.program.clone()];
    walls::put_up_for_program(order.folders.iter().chain(&own))?;
    walls::limit_memory(order.memory)?;
    walls::limit_processor_time(order.seconds)?;
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let error = std::process::Command::new(&order.program).args(&order.arguments).exec();
        Err(io::Error::new(error.kind(), format!("`{}`: {error}", order.program.display())))
    }
    #[cfg(not(unix))]
    Err(io::ErrorKind::Unsupported.into())
}
