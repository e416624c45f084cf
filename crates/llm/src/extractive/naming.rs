//! Headings that name what they are about: "KeepAlive Directive", "fs.readFile(path)", "28.2.5. pg_stat_activity".

/// What follows a name, or precedes it with a colon. Words such as "method" and "class" have other meanings, too.
const KINDS: [&str; 9] = [
    "attribute",
    "command",
    "directive",
    "function",
    "macro",
    "parameter",
    "pragma",
    "statement",
    "variable",
];
/// The ending of German names of people of all genders, "MitarbeiterInnen".
const OF_PEOPLE: &str = "innen";

/// The longest heading that is quoted, in characters.
const HEADING_CHARS: usize = 100;
/// The most words of such a heading. A longer one only mentions the name.
const WORDS: usize = 3;

/// The name in a heading of a command, function or setting; `None` if the heading does not name one.
pub(super) fn name(heading: &str) -> Option<&str> {
    if heading.chars().nth(HEADING_CHARS).is_some() {
        return None;
    }
    // Parameters do not count: "fs.read(path, options)".
    let called = heading.split('(').next().unwrap_or(heading);
    let mut words = called.split_whitespace();
    if words.clone().nth(WORDS).is_some() {
        return None;
    }
    let code = heading.split_whitespace().take(words.clone().count()).find_map(code_name);
    let (first, second, third) = (words.next()?, words.next(), words.next());
    let of_kind = || match (second, third) {
        (Some(second), None) if is_kind(second) => Some(first),
        (Some(second), None) if first.strip_suffix(':').is_some_and(is_kind) => Some(second),
        _ => None,
    };
    code.or_else(of_kind)
}

/// Whether a word says that another one beside it is the name of something that programs have.
fn is_kind(word: &str) -> bool {
    KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind))
}

/// The name in a word that looks like code: "KeepAlive", "pg_stat", "fs.read(path)", "--all".
fn code_name(word: &str) -> Option<&str> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '$' | '%' | '\\');
    let is_quoted = word.starts_with('`');
    let name = word.split(['(', '[', '=']).next().unwrap_or(word).trim_matches(is_edge);
    let is_called = word.strip_prefix(name).is_some_and(|rest| rest.starts_with('('));
    let pairs = || name.chars().zip(name.chars().skip(1));
    let has_hump = pairs().any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    // "e.g." and "U.S." are no names.
    let joins = |between: char| {
        let is_part = |part: &str| part.starts_with(char::is_alphabetic) && part.len() > 1;
        name.split(between).nth(1).is_some() && name.split(between).all(is_part)
    };
    let is_option = name.starts_with('-') && name.contains(char::is_alphabetic);
    let is_called = is_called && joins('.');
    let is_word = name.to_lowercase().ends_with(OF_PEOPLE);
    let looks_so = has_hump || is_option || joins('_') || joins('.');
    let is_code = is_quoted || is_called || looks_so && !is_word;
    (is_code && name.chars().nth(1).is_some()).then_some(name)
}

#[cfg(test)]
mod tests {
    use cicerone_language::plain_heading;

    use super::name;

    #[test]
    fn names_are_told_from_words() {
        for (heading, named) in [
            ("### KeepAlive Directive", Some("KeepAlive")),
            ("28.2.5. pg_stat_activity", Some("pg_stat_activity")),
            ("`fs.readFile(path[, options], callback)`", Some("fs.readFile")),
            ("Listen Directive", Some("Listen")),
            ("Command: moor", Some("moor")),
            ("Payment method", None),
            ("Class fees", None),
            ("U.S. shipping", None),
            ("Versand z.B. Schweiz", None),
            ("MitarbeiterInnen", None),
            ("Kund_innen", None),
            ("Child(ren)", None),
            ("--all", Some("--all")),
            ("How the sections are merged", None),
            ("DESCRIPTION", None),
            ("2.4 Release", None),
            ("Appendix K. PostgreSQL Limits", None),
            ("Managing a crates.io-based crate", None),
            ("Opening hours", None),
        ] {
            assert_eq!(name(plain_heading(heading)), named, "{heading}");
        }
    }
}
