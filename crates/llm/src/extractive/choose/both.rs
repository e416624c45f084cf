//! Questions that ask two things: "When is the tower open, and how much is it?"

use cicerone_domain::ports::ReplyRequest;
use cicerone_domain::retrieval::QueryTerm;
use cicerone_language::Language;

use crate::extractive::asking::FACT;
use crate::extractive::hints::{HOW, NAME, NUMBER};
use crate::extractive::matcher::Matcher;
use crate::extractive::spaced::{Spaced, longest};

/// What joins two questions, in lower case.
const JOINING: [&str; 9] = ["and", "und", "et", "y", "e", "en", "i", "oraz", "и"];
/// The words that ask.
const ASKING: [&[&str]; 4] = [NUMBER, NAME, HOW, FACT];
/// The weight of the words of the first part for the second, relative to its own: they name the subject.
const OF_FIRST: f32 = 0.4;
/// The shortest part, in words.
const WORDS: usize = 2;
/// The longest question that is divided, in bytes. A longer one tells a story.
const LONGEST: usize = 300;

/// The two parts of a question that asks two things.
pub(super) fn parts(question: &str) -> Option<(&str, &str)> {
    if question.len() > LONGEST {
        return None;
    }
    let words = words(question);
    let asks = |part: &str| {
        let part = Spaced::new(part);
        let begins = |rest: &str| ASKING.iter().any(|phrases| longest(rest, phrases).is_some());
        part.starts().next().is_some_and(|(_, rest)| begins(rest))
    };
    let has_question = |part: &str| {
        let part = Spaced::new(part);
        ASKING.iter().any(|phrases| part.has(phrases))
    };
    for (number, (at, word)) in words.iter().enumerate() {
        let is_joining = JOINING.iter().any(|joining| word.eq_ignore_ascii_case(joining));
        let first = question.get(..*at).unwrap_or_default().trim_end();
        let after_question = number > 0 && first.ends_with(['?', '？']);
        let next = if is_joining { number + 1 } else { number };
        let Some((start, _)) = words.get(next).filter(|_| is_joining || after_question) else {
            continue;
        };
        let second = question.get(*start..).unwrap_or_default();
        let are_long = number >= WORDS && words.len() >= next + WORDS;
        if are_long && asks(second) && has_question(first) {
            return Some((first, second));
        }
    }
    None
}

/// The words of a text, with their places.
fn words(text: &str) -> Vec<(usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
    let words = text.split(move |c: char| !is_part(c)).filter(|word| !word.is_empty());
    words.map(|word| (word.as_ptr().addr() - text.as_ptr().addr(), word)).collect()
}

/// The words that are searched for to answer each of the parts: those of the other part only are no words of the first, and
/// name the subject of the second.
pub(super) fn terms(
    request: &ReplyRequest,
    (first, second): (&str, &str),
) -> (Vec<QueryTerm>, Vec<QueryTerm>) {
    let language = request.passages.first().and_then(|hit| hit.language.as_deref());
    let language = language.and_then(Language::from_code);
    let is_in = |term: &QueryTerm, part: &str| {
        Matcher::new(std::slice::from_ref(term)).mask(part, language) != 0
    };
    let (mut of_first, mut of_second) = (Vec::new(), Vec::new());
    for term in &request.terms {
        let (in_first, in_second) = (is_in(term, first), is_in(term, second));
        if in_first || !in_second {
            of_first.push(term.clone());
        }
        let weight = if in_second { term.weight } else { OF_FIRST * term.weight };
        let is_context = !in_second || term.is_context;
        of_second.push(QueryTerm { weight, is_context, ..term.clone() });
    }
    (of_first, of_second)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn two_questions_in_one_are_told_apart() {
        for (question, first, second) in [
            ("When is it open and how much is it?", "When is it open", "how much is it?"),
            ("Who leads it? When does it start?", "Who leads it?", "When does it start?"),
            ("Wann ist offen, und was kostet das?", "Wann ist offen,", "was kostet das?"),
            ("Quand est-ce ouvert et où est-ce ?", "Quand est-ce ouvert", "où est-ce ?"),
        ] {
            assert_eq!(parts(question), Some((first, second)), "{question}");
        }
        for question in [
            "How do I add and remove users?",
            "What is the difference between this and that?",
            "And when is it open?",
            "Search and where",
            "Is it open? Please tell me.",
            "",
        ] {
            assert_eq!(parts(question), None, "{question}");
        }
    }
}
