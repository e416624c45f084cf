//! Titles.

use cicerone_domain::limits;

/// The first line that is not blank, without Markdown's marks of a heading, at most 80 characters.
pub(super) fn of_text(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.trim().trim_start_matches('#').trim();
        (!line.is_empty()).then(|| line.chars().take(limits::TITLE_CHARS).collect())
    })
}

/// Titles that programs give to unnamed documents.
const UNNAMED: [&str; 8] = [
    "untitled",
    "document",
    "word document",
    "powerpoint presentation",
    "title",
    "no title",
    "none",
    "print",
];
/// File name extensions.
const FILE_ENDINGS: [&str; 16] = [
    ".doc", ".docx", ".dvi", ".pdf", ".ps", ".eps", ".rtf", ".txt", ".tex", ".odt", ".xls",
    ".xlsx", ".ppt", ".pptx", ".indd", ".qxd",
];

/// The title in a document's properties. `None` if it is a file name or a program's default.
pub(super) fn of_metadata(stated: &str) -> Option<String> {
    let title = stated.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = title.to_lowercase();
    let numbered =
        lower.trim_end_matches(|char: char| char.is_ascii_digit() || char.is_whitespace());
    let is_unnamed = UNNAMED.contains(&numbered)
        || lower.starts_with("microsoft ")
        || FILE_ENDINGS.iter().any(|ending| lower.ends_with(ending))
        || !title.chars().any(char::is_alphabetic)
        || title.contains(['\u{fffd}', '\\']);
    (!is_unnamed).then(|| title.chars().take(limits::TITLE_CHARS).collect())
}
