//! How the program fails: one line on standard error and an exit status.

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use cicerone_storage::OpenError;

use crate::configuration::ConfigurationError;

/// The command line or a setting is wrong.
const MISUSE: u8 = 2;
/// The work failed.
const FAILED: u8 = 1;
/// The work was done, but a part of it is missing.
const INCOMPLETE: u8 = 3;

/// Why the program ends.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// The work failed.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: FAILED }
    }

    /// The command line or a setting is wrong.
    pub(crate) fn misuse(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: MISUSE }
    }

    /// The work was done, except for a part that the message names.
    pub(crate) fn incomplete(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: INCOMPLETE }
    }

    /// The work failed because of `error`. The message includes its causes.
    pub(crate) fn because(context: &str, error: &(dyn Error + 'static)) -> Self {
        Self::new(format!("{context}: {}", with_causes(error)))
    }

    /// What failed.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints the line and returns the exit status.
    pub(crate) fn report(&self) -> ExitCode {
        // If standard error is closed, only the status remains.
        let _ = writeln!(std::io::stderr(), "error: {}", self.message);
        ExitCode::from(self.status)
    }
}

/// An error and its causes in one line. A cause that an error already contains is not repeated.
pub(crate) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line
}

impl From<ConfigurationError> for Failure {
    fn from(error: ConfigurationError) -> Self {
        Self::misuse(error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let status = if matches!(error, OpenError::Newer { .. }) { MISUSE } else { FAILED };
        Self { message: format!("`CICERONE_DATABASE_URL`: {}", with_causes(&error)), status }
    }
}

impl From<cicerone_domain::Error> for Failure {
    fn from(error: cicerone_domain::Error) -> Self {
        Self::new(with_causes(&error))
    }
}
