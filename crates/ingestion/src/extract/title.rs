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

/// The title in a document's properties. `None` if it is a file name or a program's default. Some programs end it with
/// NUL.
pub(super) fn of_metadata(stated: &str) -> Option<String> {
    let title = stated.replace('\0', "");
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
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

/// What separates a name from its purpose.
const DASHES: [&str; 3] = [" - ", " — ", " – "];
/// The longest line of a name with its purpose, in characters.
const PURPOSE_LINE_CHARS: usize = 160;

/// The title of a page. For a reference page, this is its first line, which names the purpose of the thing in the
/// title: "git-gc - Cleanup unnecessary files" says more than "git-gc(1)".
pub(super) fn with_purpose(title: String, text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lead = lines.take(4).find(|line| !line.starts_with('#'));
    let purpose = lead.map(|line| line.replace(['`', '*'], "")).filter(|line| {
        let named = DASHES.iter().find_map(|dash| line.split_once(dash));
        let is_of_title = |name: &str| {
            let (title, name) = (comparable(&title), comparable(name));
            let rest = title.strip_prefix(&name).filter(|_| !name.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        line.chars().nth(PURPOSE_LINE_CHARS).is_none()
            && named.is_some_and(|(names, purpose)| {
                purpose.contains(' ') && names.split(',').any(is_of_title)
            })
    });
    purpose.unwrap_or(title)
}

/// The words of a name in lower case, without marks: `git-gc(1)` is "git gc 1".
fn comparable(name: &str) -> String {
    let words = name.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{of_metadata, with_purpose};

    #[test]
    fn a_stated_title_that_ends_with_nul_is_judged_without_it() {
        assert_eq!(of_metadata("Museum guide\0").as_deref(), Some("Museum guide"));
        assert_eq!(of_metadata("guide.doc\0"), None);
        assert_eq!(of_metadata("Untitled\0"), None);
    }

    #[test]
    fn a_page_of_reference_is_titled_by_its_purpose() {
        for (title, text, expected) in [
            ("harbour-log(1)", "harbour-log - Show it\n\nMore.", "harbour-log - Show it"),
            (
                "harbour log - Manual",
                "# harbour-log(1)\n\n## NAME\n\n`harbour-log` — Show it",
                "harbour-log — Show it",
            ),
            (
                "harbour-map",
                "harbour-log, harbour-map - Show it",
                "harbour-log, harbour-map - Show it",
            ),
        ] {
            assert_eq!(with_purpose(title.to_owned(), text), expected);
        }
    }

    #[test]
    fn other_pages_keep_their_titles() {
        let long = format!("Harbour - {}", "a long text ".repeat(20));
        for text in [
            "",
            "# Harbour",
            "The pier - Our pride and joy",
            "Harbour - closed",
            "Harbours - Where ships are",
            "Ships are here.\n\nHarbour - Where they are",
            long.as_str(),
        ] {
            assert_eq!(with_purpose("Harbour".to_owned(), text), "Harbour", "{text}");
        }
    }
}
