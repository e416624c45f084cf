//! Terms with their definition on the same line, as lists of definitions are written: "`--locked`: Asserts that …".

/// The longest term, in bytes.
const TERM_BYTES: usize = 120;
/// The longest term that is not code, in words. A longer one is the beginning of a sentence.
const TERM_WORDS: usize = 4;

/// The term that `line` defines: the text before its first colon, if that is code, an option or a few words, and its
/// definition follows.
///
/// # Examples
///
/// ```
/// use cicerone_language::defined_term;
///
/// assert_eq!(defined_term("- `-u`, `--update`: Updates it."), Some("`-u`, `--update`"));
/// assert_eq!(defined_term("Tide: the rise and fall of the sea."), Some("Tide"));
/// assert_eq!(defined_term("These parts come with it:"), None);
/// ```
pub fn defined_term(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let last = line.len().checked_sub(1)?;
    let start = line.get(..line.floor_char_boundary(last.min(TERM_BYTES - 1)))?;
    let term = start.get(..colon(start)?)?.trim();
    let is_code = term.starts_with(['`', '-', '\\', '.']);
    let is_short = term.split_whitespace().nth(TERM_WORDS).is_none();
    let has_words = term.chars().any(char::is_alphanumeric);
    (has_words && (is_code || is_short) && !term.starts_with('|')).then_some(term)
}

/// The position of the first colon that is followed by a space and is not within code.
fn colon(text: &str) -> Option<usize> {
    // Most lines have none.
    if !text.as_bytes().contains(&b':') {
        return None;
    }
    let mut is_code = false;
    text.char_indices().find_map(|(at, character)| {
        is_code ^= character == '`';
        let ends = character == ':' && !is_code;
        (ends && text.get(at + 1..)?.starts_with(' ')).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::defined_term;

    #[test]
    fn a_term_is_what_is_before_the_colon() {
        for (line, term) in [
            ("`--message-format` *fmt*: The output format.", Some("`--message-format` *fmt*")),
            ("-v, --verbose: Says more.", Some("-v, --verbose")),
            ("`a: b`: A pair.", Some("`a: b`")),
            ("  * Crate: a package.", Some("Crate")),
            ("This is how it is done in the north: slowly.", None),
            ("https://example.com", None),
            (": nothing", None),
            ("| a | b: c |", None),
            ("Price:", None),
            ("Price: ", None),
            ("", None),
        ] {
            assert_eq!(defined_term(line), term, "{line}");
        }
        assert_eq!(defined_term(&format!("`{}`: long", "é".repeat(200))), None);
    }
}
