//! Questions that refer to earlier messages.

use cicerone_language::{Language, fold};

use super::question::Analysed;

/// Words that refer to something that was named before, folded, in the languages in which follow-up questions are asked
/// most. Words that are just as often articles or conjunctions ("das", "la", "that") are omitted.
const REFERENCES: &[&str] = &[
    // English
    "it", "its", "they", "them", "their", "these", "those", "he", "him", "she", "her",
    // German
    "es", "ihn", "ihm", "ihnen", "dessen", "deren", "dies", "diese", "dieser", "dieses", "damit",
    "davon", "dort", // French
    "il", "ils", "elle", "elles", "celui", "celle", "ceux", "celles", "cela",
    // Spanish and Portuguese
    "ella", "ellos", "ellas", "eso", "esto", "ese", "esa", "ele", "ela", "eles", "elas", "isso",
    "isto", // Italian
    "esso", "essa", "quello", "quella", "questo", "questa", // Dutch
    "hij", "zij", "hun", "deze", "daar",
];

/// Whether a question names its subject and does not refer to earlier messages.
pub(crate) fn stands_alone(question: &str) -> bool {
    let languages = [Language::detect(question)];
    if !Analysed::new(question, &languages).is_self_contained() {
        return false;
    }
    !refers_back(question)
}

/// Whether a question has a word that stands for something in an earlier message.
pub(super) fn refers_back(question: &str) -> bool {
    let words = question.split(|char: char| !char.is_alphabetic());
    words.map(fold).any(|word| REFERENCES.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::stands_alone;

    #[test]
    fn a_question_stands_alone_if_it_names_its_subject() {
        for question in [
            "When is the botanical garden open on Sundays?",
            "Wie teuer ist eine Jahreskarte für das Museum?",
            "¿A qué hora abre el jardín botánico los domingos?",
            "植物園は日曜日の何時に開きますか",
        ] {
            assert!(stands_alone(question), "{question}");
        }
        for question in [
            "And on Sundays?",
            "Why?",
            "Does it cost more for visitors from another country?",
            "Kann man dort auch Fahrräder und Kinderwagen abstellen?",
            "Est-ce qu'elle accepte les chiens et les enfants le dimanche ?",
            "",
        ] {
            assert!(!stands_alone(question), "{question}");
        }
    }
}
