//! Questions for a definition, and sentences that define: "X is …".

use std::sync::Arc;

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
/// Words that join a subject with its definition.
const COPULAS: [&str; 12] =
    ["is", "are", "was", "were", "ist", "sind", "est", "es", "è", "é", "means", "—"];
/// Words before a subject that are not part of its name.
const ARTICLES: [&str; 17] = [
    "a", "an", "the", "ein", "eine", "der", "die", "das", "un", "une", "le", "la", "el", "una",
    "um", "uma", "een",
];
/// Marks of Markdown and quotation around a name.
const MARKS: [char; 6] = ['*', '_', '`', '"', '“', '”'];

/// The most bytes before the subject of a sentence: an article and marks.
const BEFORE_SUBJECT: usize = 24;

/// The subject of a question for a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject(String);

impl Subject {
    /// The subject of `question`, if it asks what something is.
    pub(super) fn of(question: &str) -> Option<Self> {
        let question = question.trim().trim_start_matches('¿').to_lowercase();
        let rest = OPENINGS.iter().find_map(|opening| question.strip_prefix(opening))?;
        let name = name(rest.trim_end_matches(|char: char| !char.is_alphanumeric()));
        (!name.is_empty()).then_some(Self(name))
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
        let beginning = bytes.get(..self.0.len() + BEFORE_SUBJECT).unwrap_or(bytes);
        if !self.may_be_in(beginning) {
            return false;
        }
        let sentence = name(&sentence.to_lowercase());
        let rest = sentence.strip_prefix(&self.0).and_then(|rest| rest.strip_prefix(' '));
        let word = rest.and_then(|rest| rest.split_whitespace().next());
        word.is_some_and(|word| COPULAS.contains(&word))
    }
}

impl Subject {
    /// Whether the first word of the subject is there, in any case. Works for ASCII words only.
    fn may_be_in(&self, text: &[u8]) -> bool {
        let word = self.0.split(' ').next().unwrap_or_default().as_bytes();
        let (Some(first), true) = (word.first(), word.is_ascii()) else { return true };
        let is_word = |at: usize| {
            text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
        };
        memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text).any(is_word)
    }
}

/// Words of lower case without marks and without the article before them.
fn name(text: &str) -> String {
    let text = text.replace(MARKS, "");
    let text = text.trim();
    let article = ARTICLES
        .iter()
        .find_map(|article| text.strip_prefix(article).and_then(|rest| rest.strip_prefix(' ')));
    article.unwrap_or(text).trim().to_owned()
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
        assert!(
            Subject::of("Was ist Cicerone?").unwrap().is_defined_by("Cicerone ist ein Dienst.")
        );
    }

    #[test]
    fn other_questions_ask_for_no_definition() {
        for question in ["When does it open?", "What is ?", "", "How is the weather?"] {
            assert_eq!(Subject::of(question), None, "{question}");
        }
    }
}
