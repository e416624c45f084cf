//! Titles.

use cicerone_domain::limits;

/// The first line that is not blank, without Markdown's marks of a heading, at most 80 characters.
pub(super) fn of_text(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches('#').trim();
        (!line.is_empty()).then(|| line.chars().take(limits::TITLE_CHARS).collect())
    })
}
