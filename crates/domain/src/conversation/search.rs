//! Search in the messages of conversations, word by word.

use crate::conversation::Conversation;
use crate::error::FieldError;
use crate::limits;
use crate::text::{check_length, check_not_blank};

/// The words to look for: 1 to 8 of them, in 200 characters together. A word matches a message that contains it, also
/// inside a longer word; case is ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWords(Vec<String>);

impl SearchWords {
    /// Reads the parameter `text`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no word, or if there are too many words or characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let invalid = |message: String| FieldError::new("text", message);
        check_not_blank(text).map_err(invalid)?;
        check_length(text, limits::CONVERSATION_SEARCH_CHARS).map_err(invalid)?;
        let mut words: Vec<String> = Vec::new();
        for (number, word) in text.split_whitespace().enumerate() {
            if number >= limits::CONVERSATION_SEARCH_WORDS {
                let most = limits::CONVERSATION_SEARCH_WORDS;
                return Err(invalid(format!("must have at most {most} words")));
            }
            let word = word.to_lowercase();
            if !words.contains(&word) {
                words.push(word);
            }
        }
        Ok(Self(words))
    }
}

/// Where the first of the words was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMatch {
    /// The number of the message in its conversation, from 1.
    pub number: u64,
    /// The text around the word, of at most [`MATCH_CHARS`](limits::MATCH_CHARS).
    pub text: String,
}

/// A conversation in a list, with the match of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedConversation {
    /// The conversation, as in a list without a search.
    pub conversation: Conversation,
    /// What was found; `None` if no text was searched for.
    pub found: Option<TextMatch>,
}

impl From<Conversation> for ListedConversation {
    fn from(conversation: Conversation) -> Self {
        Self { conversation, found: None }
    }
}

/// The search in one conversation, message by message.
#[derive(Debug)]
pub struct Look<'a> {
    words: &'a SearchWords,
    /// Whether each word was found.
    seen: Vec<bool>,
    first: Option<TextMatch>,
}

impl<'a> Look<'a> {
    /// A search for these words that has not begun.
    pub fn new(words: &'a SearchWords) -> Self {
        Self { words, seen: vec![false; words.0.len()], first: None }
    }

    /// Looks for the words in a message.
    pub fn look_at(&mut self, number: u64, content: &str) {
        if self.is_over() {
            return;
        }
        let lower = content.to_lowercase();
        let unseen = self.words.0.iter().zip(&mut self.seen).enumerate();
        for (place, (word, seen)) in unseen.filter(|(_, (_, seen))| !**seen) {
            let Some(at) = lower.find(word.as_str()) else { continue };
            *seen = true;
            if place == 0 {
                let chars = word.chars().count();
                self.first = Some(TextMatch { number, text: around(content, at, chars) });
            }
        }
    }

    /// Whether every word was found.
    pub fn is_over(&self) -> bool {
        self.seen.iter().all(|seen| *seen)
    }

    /// Where the first word was found, if every word was.
    pub fn outcome(self) -> Option<TextMatch> {
        if self.is_over() { self.first } else { None }
    }
}

/// The text around a word of `chars` characters that begins at this byte of the lower-case text.
fn around(content: &str, lower_at: usize, chars: usize) -> String {
    let mut lower = 0;
    let before = |character: &char| {
        let begins = lower;
        lower += character.to_lowercase().map(char::len_utf8).sum::<usize>();
        begins < lower_at
    };
    let at = content.chars().take_while(before).count();
    let room = limits::MATCH_CHARS.saturating_sub(chars) / 2;
    let last_start = content.chars().count().saturating_sub(limits::MATCH_CHARS);
    let start = at.saturating_sub(room).min(last_start);
    content.chars().skip(start).take(limits::MATCH_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::{Look, SearchWords, TextMatch};

    fn find(text: &str, messages: &[&str]) -> Option<TextMatch> {
        let words = SearchWords::parse(text).unwrap();
        let mut look = Look::new(&words);
        for (number, message) in (1..).zip(messages) {
            look.look_at(number, message);
        }
        look.outcome()
    }

    #[test]
    fn every_word_occurs_in_some_message_also_as_a_part_and_in_another_case() {
        let messages = ["When does the MUSEUM open?", "At nine o'clock."];
        let found = find("use NINE", &messages).unwrap();
        assert_eq!((found.number, found.text.as_str()), (1, messages[0]));
        assert_eq!(find("nine museum", &messages).unwrap().number, 2, "that of the first word");
        assert_eq!(find("nine ten", &messages), None);
        assert_eq!(find("nine", &[]), None);
    }

    #[test]
    fn case_is_that_of_unicode_and_nothing_is_normalised() {
        for (text, message, is_found) in [
            ("STRAßE", "In der Straße", true),
            ("strasse", "In der Straße", false),
            ("İstanbul", "Über İSTANBUL", true),
            ("istanbul", "Über İSTANBUL", false),
            ("cafe\u{301}", "Le CAFE\u{301}", true),
            ("café", "Le cafe\u{301}", false),
            ("éclair", "ÉCLAIR", true),
            ("博物馆", "上海博物馆几点开门", true),
        ] {
            assert_eq!(find(text, &[message]).is_some(), is_found, "{text} in {message}");
        }
    }

    #[test]
    fn a_match_shows_200_characters_around_the_word() {
        // Each of these characters is longer in lower case.
        let message = format!("{}needle{}", "İ".repeat(300), "ß".repeat(300));
        let text = find("NEEDLE", &[&message]).unwrap().text;
        assert_eq!(text.chars().count(), 200);
        assert_eq!(text, format!("{}needle{}", "İ".repeat(97), "ß".repeat(97)));
        let at_end = format!("{}needle", "x".repeat(300));
        let text = find("needle", &[&at_end]).unwrap().text;
        assert!(text.ends_with("xneedle") && text.chars().count() == 200, "{text}");
        let at_start = format!("needle{}", "x".repeat(300));
        assert!(find("needle", &[&at_start]).unwrap().text.starts_with("needlex"));
    }

    #[test]
    fn a_search_has_1_to_8_words_in_200_characters() {
        assert!(SearchWords::parse("a b c d e f g h").is_ok());
        assert!(SearchWords::parse(&"é".repeat(200)).is_ok());
        for text in ["", " \t", "a b c d e f g h i", &"é".repeat(201), "a\u{0}b"] {
            assert_eq!(SearchWords::parse(text).unwrap_err().param, "text");
        }
    }
}
