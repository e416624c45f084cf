//! Why an upstream returned no reply, and what can be tried next.

use std::time::Duration;

use cicerone_domain::error::Cause;

/// The longest quotation of an upstream's error, in characters.
const QUOTED_CHARS: usize = 300;
/// The prefixes of the keys of well-known providers.
const KEY_PREFIX: &str = "sk-";

/// A failed attempt. The message is for the log.
#[derive(Debug)]
pub(crate) struct UpstreamFailure {
    pub(crate) remedy: Remedy,
    pub(crate) message: String,
    pub(crate) source: Option<Cause>,
}

/// The remedy that may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Trying the same upstream again, after at least the wait that it requested.
    Retry(Option<Duration>),
    /// Trying another upstream, or this one later.
    Elsewhere,
    /// Nothing: the request or its credentials were refused.
    None,
}

impl UpstreamFailure {
    pub(crate) fn new(remedy: Remedy, message: impl Into<String>) -> Self {
        Self { remedy, message: message.into(), source: None }
    }

    pub(crate) fn because(
        remedy: Remedy,
        message: impl Into<String>,
        cause: impl Into<Cause>,
    ) -> Self {
        Self { remedy, message: message.into(), source: Some(cause.into()) }
    }
}

/// The text of an upstream in a form for logs: one line, shortened, without keys.
pub(super) fn quote(text: &str, key: Option<&str>) -> String {
    let without_key = match key.filter(|key| !key.is_empty()) {
        Some(key) => text.replace(key, "***"),
        None => text.to_owned(),
    };
    let words = without_key.split_whitespace().map(|word| {
        word.find(KEY_PREFIX)
            .and_then(|at| word.get(..at))
            .map_or_else(|| word.to_owned(), |before| format!("{before}{KEY_PREFIX}***"))
    });
    let line = words.collect::<Vec<_>>().join(" ");
    let mut quoted: String =
        line.chars().filter(|c| !c.is_control()).take(QUOTED_CHARS + 1).collect();
    if let Some((cut, _)) = quoted.char_indices().nth(QUOTED_CHARS) {
        quoted.truncate(cut);
        quoted.push('…');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_key_is_never_quoted() {
        let text =
            "Incorrect API key provided: my-secret-key. Also sk-proj-abc*****xyz, \"sk-live\"";
        let quoted = quote(text, Some("my-secret-key"));
        assert_eq!(quoted, "Incorrect API key provided: ***. Also sk-*** \"sk-***");
    }

    #[test]
    fn a_quote_is_one_short_line() {
        assert_eq!(quote(" a\n\n  b\u{0}c\t", None), "a bc");
        let quoted = quote(&"ж".repeat(5_000), None);
        assert_eq!(quoted.chars().count(), 301);
    }
}
