//! The causes of an error, for the log.

use std::error::Error;
use std::fmt;

/// An error and its causes in one line. The JSON formatter of the log would write only the first message.
#[derive(Debug)]
pub(super) struct Causes<'a>(pub(super) &'a (dyn Error + 'static));

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = self.0.to_string();
        f.write_str(&said)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            // Some errors repeat the message of their cause.
            let text = error.to_string();
            if !said.contains(&text) {
                write!(f, ": {text}")?;
                said = text;
            }
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Causes;
    use crate::error::RequestError;
    use cicerone_domain::Error;

    #[test]
    fn a_line_names_every_cause_once() {
        let broken = std::io::Error::other("the disk is gone");
        let failure = RequestError::from(Error::unavailable(Error::unavailable(broken)));
        assert_eq!(Causes(&failure).to_string(), "storage is unavailable: the disk is gone");
    }
}
