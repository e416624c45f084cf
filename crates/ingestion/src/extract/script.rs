//! Superscripts and subscripts whose digits must not join those before them: 10 with the superscript 6 is not 106.

/// Scripts with more characters are treated as normal text.
const CHARS: usize = 6;
/// Superscript letters that only end a number or mark a name.
const ORDINARY: [&str; 18] = [
    "a", "d", "e", "er", "ers", "es", "me", "nd", "o", "os", "r", "rd", "re", "sm", "st", "th",
    "tm", "ème",
];

/// The position of a text that is smaller than the text before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Super,
    Sub,
}

impl Script {
    /// The text to insert between the text before and the script.
    pub(super) fn mark(self, before: &str, script: &str) -> &'static str {
        let script = script.trim();
        let Some(before) = before.chars().next_back().filter(|char| !char.is_whitespace()) else {
            return "";
        };
        let is_short = !script.is_empty() && script.chars().count() <= CHARS;
        let says = script
            .starts_with(|char: char| char.is_alphanumeric() || matches!(char, '-' | '−' | '+'));
        if !is_short || !says {
            return "";
        }
        let begins_with_digit = script.starts_with(|char: char| char.is_ascii_digit());
        match self {
            Self::Super if ORDINARY.contains(&script.to_lowercase().as_str()) => "",
            // After a letter, it is a unit (km2) or refers to a note. Both are understood without a mark.
            Self::Super if before.is_ascii_digit() || matches!(before, ')' | ']' | '}') => "^",
            Self::Sub if before.is_ascii_digit() && begins_with_digit => "_",
            Self::Super | Self::Sub => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Script::{Sub, Super};

    #[test]
    fn only_what_would_be_another_number_is_marked() {
        for (script, before, text, mark) in [
            (Super, "3·10", "6", "^"),
            (Super, "10", "−3", "^"),
            (Super, "(a+b)", "2", "^"),
            (Super, "km", "2", ""),
            (Super, "the 3", "rd", ""),
            (Super, "10 ", "6", ""),
            (Super, "10", "a long text", ""),
            (Sub, "H", "2", ""),
            (Sub, "10", "2", "_"),
        ] {
            assert_eq!(script.mark(before, text), mark, "{before} {text}");
        }
    }
}
