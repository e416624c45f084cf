//! Questions that ask for a definition, and sentences that define: "X is …".

use std::sync::Arc;

use cicerone_language::defined_term;
use memchr::memchr2_iter;

use super::readings::Reading;
use super::units::Unit;

/// The beginnings of such questions, with the space before the subject.
const OPENINGS: [&str; 17] = [
    "what is ",
    "what's ",
    "what are ",
    "who is ",
    "who are ",
    "was ist ",
    "was sind ",
    "wer ist ",
    "qu'est-ce que ",
    "qui est ",
    "qué es ",
    "quién es ",
    "o que é ",
    "che cos'è ",
    "cos'è ",
    "wat is ",
    "что такое ",
];
/// The beginnings and ends of questions about what something is for, with the space beside the subject.
const PURPOSES: [(&str, &str); 6] = [
    ("what does ", " do"),
    ("what do ", " do"),
    ("what does ", " mean"),
    ("what do ", " mean"),
    ("what does ", " stand for"),
    ("what is ", " used for"),
];
/// The beginnings of requests for a definition.
const REQUESTS: [&str; 4] = ["meaning of ", "definition of ", "define ", "what is the meaning of "];
/// Words that join a subject with its definition.
const COPULAS: [&str; 14] =
    ["is", "are", "was", "were", "ist", "sind", "est", "es", "è", "é", "means", "—", "–", "-"];
/// What a name may be followed by: "The VACUUM command rebuilds …".
const KINDS: [&str; 16] = [
    "attribute",
    "clause",
    "command",
    "field",
    "file",
    "function",
    "keyword",
    "macro",
    "method",
    "option",
    "parameter",
    "pragma",
    "setting",
    "statement",
    "type",
    "variable",
];
/// Words before a subject that are not part of its name.
const ARTICLES: [&str; 17] = [
    "a", "an", "the", "ein", "eine", "der", "die", "das", "un", "une", "le", "la", "el", "una",
    "um", "uma", "een",
];
/// Marks of Markdown and quotation around a name.
const MARKS: [char; 6] = ['*', '_', '`', '"', '“', '”'];

/// The most bytes before the subject of a sentence: an article and marks.
const BEFORE_SUBJECT: usize = 24;
/// The most bytes after it that are read: two words and marks.
const AFTER_SUBJECT: usize = 72;

/// The subject of a question for a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    name: String,
    /// The question asks what it does or is for.
    is_purpose: bool,
}

impl Subject {
    /// The subject of `question`, if it asks what something is.
    pub(super) fn of(question: &str) -> Option<Self> {
        let question = question.trim().trim_start_matches('¿').to_lowercase();
        let question = question.trim_end_matches(|char: char| !char.is_alphanumeric());
        let purpose = PURPOSES.iter().find_map(|(opening, end)| {
            let rest = question.strip_prefix(opening)?;
            // "What does X do in Y" asks for X.
            let inner = rest.split_once(&format!("{end} in ")).map(|(subject, _)| subject);
            rest.strip_suffix(end).or(inner)
        });
        let openings = REQUESTS.iter().chain(&OPENINGS);
        let rest = || openings.into_iter().find_map(|opening| question.strip_prefix(opening));
        let name = name(purpose.or_else(rest)?);
        (!name.is_empty()).then_some(Self { name, is_purpose: purpose.is_some() })
    }

    /// Whether one of the units of `text` defines the subject.
    pub(super) fn is_defined_in(&self, text: &str, reading: impl FnOnce() -> Arc<Reading>) -> bool {
        let says_so = |unit: &Unit| {
            text.get(unit.range.clone()).is_some_and(|sentence| self.is_defined_by(sentence))
        };
        self.may_be_in(text.as_bytes()) && reading().units.iter().any(says_so)
    }

    /// Whether `sentence` defines the subject: it begins with the name and a word such as "is".
    pub(super) fn is_defined_by(&self, sentence: &str) -> bool {
        let bytes = sentence.as_bytes();
        let beginning = bytes.get(..self.name.len() + BEFORE_SUBJECT).unwrap_or(bytes);
        if !self.may_be_in(beginning) {
            return false;
        }
        if let Some(term) = defined_term(sentence) {
            let term = name(term);
            // "--[no-]tags" is "--tags" and "--no-tags".
            let is_named = |term: &str| {
                let mut names = term.split([',', ' ', '=', '[', '(']).map(str::trim);
                term == self.name || names.any(|name| name == self.name)
            };
            let is_either = || ["", "no-"].iter().any(|no| is_named(&term.replace("[no-]", no)));
            let is_term = if term.contains("[no-]") { is_either() } else { is_named(&term) };
            if is_term {
                return true;
            }
        }
        let sentence = sentence.strip_prefix("- ").unwrap_or(sentence);
        let most = BEFORE_SUBJECT + self.name.len() + AFTER_SUBJECT;
        let sentence = name(first_words(sentence, most));
        let Some(rest) = without_name(&sentence, &self.name) else { return false };
        let mut words = rest.split_whitespace();
        let word = words.next().unwrap_or_default();
        let (word, is_kind) = match KINDS.contains(&word) {
            true => (words.next().unwrap_or_default(), true),
            false => (word, false),
        };
        COPULAS.contains(&word) || self.is_purpose && is_verb(word, is_kind)
    }
}

/// What follows the name at the beginning of a text, if a word ends there. A hyphen is as good as a space.
fn without_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let beginning = text.get(..name.len())?;
    let is_same = |(a, b): (u8, u8)| a == b || matches!((a, b), (b'-', b' ') | (b' ', b'-'));
    let rest = text.get(name.len()..)?;
    let ends = rest.chars().next().is_none_or(|next| next == ' ');
    (ends && beginning.bytes().zip(name.bytes()).all(is_same)).then_some(rest)
}

/// Whether a word may be a verb in the third person, which says what something does; after what kind of thing it is, any
/// such word is one.
fn is_verb(word: &str, is_kind: bool) -> bool {
    let is_long = word.len() > if is_kind { 3 } else { 4 };
    is_long
        && word.ends_with('s')
        && !word.ends_with("ss")
        && word.bytes().all(|b| b.is_ascii_lowercase())
}

impl Subject {
    /// Whether the text contains the first word of the subject, in upper or lower case; of an option, what is after its hyphens,
    /// because it may be written "--[no-]tags". Works for ASCII words only.
    fn may_be_in(&self, text: &[u8]) -> bool {
        let word = self.name.split(' ').next().unwrap_or_default();
        let word = word.strip_prefix("--").map_or(word, |name| name.trim_start_matches("no-"));
        let word = word.as_bytes();
        let (Some(first), true) = (word.first(), word.is_ascii()) else { return true };
        let is_word = |at: usize| {
            text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
        };
        memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(is_word)
    }
}

/// The first words of a text, in at most this many bytes.
fn first_words(text: &str, bytes: usize) -> &str {
    let Some(start) = text.get(..text.floor_char_boundary(bytes)) else { return text };
    if start.len() == text.len() {
        return text;
    }
    start.rfind(char::is_whitespace).and_then(|end| start.get(..end)).unwrap_or(start)
}

/// The words in lower case, without marks and without the article before them.
fn name(text: &str) -> String {
    let mut name = text.to_lowercase();
    name.retain(|c| !MARKS.contains(&c));
    name.truncate(name.trim_end().len());
    let start = name.trim_start();
    let article = ARTICLES
        .iter()
        .find_map(|article| start.strip_prefix(article).and_then(|rest| rest.strip_prefix(' ')));
    let before = name.len() - article.unwrap_or(start).trim_start().len();
    name.drain(..before);
    name
}

#[cfg(test)]
mod tests {
    use super::Subject;

    #[test]
    fn a_definition_is_told_from_a_mention() {
        let subject = Subject::of("What is the Orbit tent?").unwrap();
        assert!(subject.is_defined_by("The **Orbit tent** is our largest."));
        assert!(!subject.is_defined_by("The Orbit tent weighs nine kilograms."));
        assert!(!subject.is_defined_by("Our largest tent is the Orbit tent."));
        let long = format!("The **Orbit tent** is {}.", "large and ".repeat(50));
        assert!(subject.is_defined_by(&long));
        assert!(!subject.is_defined_by(&long.replace(" is ", &format!(" {} is ", "ä".repeat(90)))));
        assert!(
            Subject::of("Was ist Cicerone?").unwrap().is_defined_by("Cicerone ist ein Dienst.")
        );
    }

    #[test]
    fn what_an_option_does_is_in_its_definition() {
        for question in ["What does --locked do?", "what is --locked", "Meaning of --locked"] {
            let subject = Subject::of(question).unwrap();
            assert!(
                subject.is_defined_by("`--locked`: Asserts that nothing changes."),
                "{question}"
            );
            assert!(subject.is_defined_by("- `-l`, `--locked`: Asserts it."), "{question}");
            assert!(!subject.is_defined_by("`--frozen`: The same as `--locked`."), "{question}");
        }
        let subject = Subject::of("What does -- do?").unwrap();
        assert!(!subject.is_defined_by("`--[no-]locked`: Asserts that nothing changes."));
        let subject = Subject::of("What does CASCADE do in TRUNCATE?").unwrap();
        assert!(subject.is_defined_by("`CASCADE`: Truncates all tables with references."));
    }

    #[test]
    fn an_option_that_can_be_negated_has_two_names() {
        for name in ["--anchor", "--no-anchor"] {
            let subject = Subject::of(&format!("What does {name} do?")).unwrap();
            assert!(subject.is_defined_by("--[no-]anchor: Drops the anchor."), "{name}");
            assert!(subject.is_defined_by("`-a`, `--[no-]anchor[=<depth>]`: Drops it."), "{name}");
            assert!(!subject.is_defined_by("--[no-]anchored: Whether it was."), "{name}");
        }
    }

    #[test]
    fn other_questions_ask_for_no_definition() {
        for question in ["When does it open?", "What is ?", "", "How is the weather?"] {
            assert_eq!(Subject::of(question), None, "{question}");
        }
    }
}
