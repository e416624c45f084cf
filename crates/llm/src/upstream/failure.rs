//! Why an upstream returned no reply, and what can be tried next.

use std::time::Duration;

use cicerone_domain::error::Cause;

/// The longest quotation of an upstream's error, in characters.
const QUOTED_CHARS: usize = 300;
/// The bytes of an error that are read for a quotation.
const READ_BYTES: usize = 4_096;
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
    /// Trying another upstream: this one works, but not for this request.
    Other,
    /// Nothing: the request or its credentials were refused.
    None,
}

impl UpstreamFailure {
    /// Whether the upstream is at fault, rather than the request.
    pub(crate) fn is_fault(&self) -> bool {
        matches!(self.remedy, Remedy::Retry(_) | Remedy::Elsewhere)
    }

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
    let text = beginning(text);
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

/// The first words of a text that may have megabytes, more than are quoted.
fn beginning(text: &str) -> &str {
    match text.get(..text.floor_char_boundary(READ_BYTES)) {
        // The last word may be the beginning of a key.
        Some(start) if start.len() < text.len() => {
            start.rsplit_once(char::is_whitespace).map_or(start, |(words, _)| words)
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{READ_BYTES, quote};

    #[test]
    fn a_key_at_the_end_of_what_is_read_is_not_quoted() {
        let text = format!("no{}my-secret-key and more", " ".repeat(READ_BYTES - 5));
        assert_eq!(quote(&text, Some("my-secret-key")), "no");
        assert_eq!(quote(&"x".repeat(5_000_000), None).chars().count(), 301);
    }

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
