//! Why a page was skipped or failed, in words that its owner can act on.

/// The page shows its text only by running scripts.
pub(super) const NEEDS_JAVASCRIPT: &str = "needs_javascript";
/// The page itself asks not to be found.
pub(super) const NOINDEX: &str = "the page asks not to be indexed (`noindex`)";
/// Its server asks so.
pub(super) const NOINDEX_HEADER: &str =
    "the server asks that the page is not indexed (`X-Robots-Tag: noindex`)";
/// There is nothing to read.
pub(super) const EMPTY: &str = "the page has no text";
/// `robots.txt` says no.
pub(super) const DISALLOWED: &str = "`robots.txt` does not allow it";

/// What the reason of a page begins with that was left out for another of the same content.
const SAME_CONTENT: &str = "the same content as ";
/// What stands before and behind the canonical address for which a page was left out.
const CANONICAL_COPY: &str = "a copy of ";
const CANONICAL: &str = ", its canonical address";

/// Left out for another page of the same content.
pub(super) fn same_content(first: &str) -> String {
    format!("{SAME_CONTENT}`{first}`")
}

/// Whether a page was left out for another of the same content.
pub(super) fn is_same_content(reason: &str) -> bool {
    reason.starts_with(SAME_CONTENT)
}

/// Left out for the page that it calls its canonical address.
pub(super) fn canonical_copy(original: &str) -> String {
    format!("{CANONICAL_COPY}`{original}`{CANONICAL}")
}

/// The canonical address for which a page was left out, if it was.
pub(super) fn canonical_of(reason: &str) -> Option<&str> {
    reason
        .strip_prefix(CANONICAL_COPY)?
        .strip_suffix(CANONICAL)?
        .strip_prefix('`')?
        .strip_suffix('`')
}

/// Whether a page was left out for another.
pub(super) fn is_copy(reason: &str) -> bool {
    is_same_content(reason) || canonical_of(reason).is_some()
}

/// Whether a page that was skipped stays skipped as long as its bytes stay the same. What headers say
/// may change meanwhile; what another page holds may too, which the crawl looks at in its end.
pub(super) fn lasts(reason: &str) -> bool {
    reason != NOINDEX_HEADER
}
