//! Validated texts, as types that prove it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::error::FieldError;

/// A rule that a text must satisfy.
pub trait TextRule {
    /// The field that such a text is usually the value of.
    const PARAM: &'static str;

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// What it must satisfy, in lower case and without a final period.
    fn check(text: &str) -> Result<(), String>;
}

/// A text that meets the rule `R`. Only [`Text::parse`] creates one from a caller's input.
///
/// Clones share the text.
pub struct Text<R> {
    text: Arc<str>,
    rule: PhantomData<fn() -> R>,
}

impl<R: TextRule> Text<R> {
    /// Checks the value of the field that the rule names.
    ///
    /// # Errors
    ///
    /// Returns an error with what the rule requires.
    pub fn parse(text: impl Into<Arc<str>> + AsRef<str>) -> Result<Self, FieldError> {
        Self::parse_field(R::PARAM, text)
    }

    /// Checks the value of the field `param`.
    ///
    /// # Errors
    ///
    /// Returns an error with what the rule requires.
    pub fn parse_field(
        param: &str,
        text: impl Into<Arc<str>> + AsRef<str>,
    ) -> Result<Self, FieldError> {
        match R::check(text.as_ref()) {
            Ok(()) => Ok(Self::from_stored(text)),
            Err(message) => Err(FieldError::new(param, message)),
        }
    }
}

impl<R> Text<R> {
    /// A stored text. It was checked when it was written and is not checked again, so that it stays
    /// readable if a limit is lowered.
    pub fn from_stored(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), rule: PhantomData }
    }

    /// The text as it was checked.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// Whether a text has only white space and invisible characters, such as U+200B.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// The characters that are neither white space nor visible: marks of width, joining and direction, variation selectors, tags, and
/// the fillers of Hangul and Braille (Unicode's `Default_Ignorable_Code_Point`, and U+2800).
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character sets or isolates the direction of the text after it (UAX #9): in a name, it makes what is shown differ
/// from what is stored.
pub const fn is_direction_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text without NUL, which database texts cannot contain. A space takes the place of each, so that positions in bytes stay
/// valid.
pub fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', " ") } else { text }
}

/// Checks that `text` is not blank.
///
/// # Errors
///
/// The requirement, in words.
pub fn check_not_blank(text: &str) -> Result<(), String> {
    if is_blank(text) { Err("must not be empty".to_owned()) } else { Ok(()) }
}

/// Checks that `text` has at most `limit` characters and no NUL, which database texts cannot contain.
///
/// # Errors
///
/// The requirement that the text does not meet, in words.
pub fn check_length(text: &str, limit: usize) -> Result<(), String> {
    // A text of at most `limit` bytes cannot have more characters than that.
    if text.len() > limit {
        let count = text.chars().count();
        if count > limit {
            return Err(format!("must be at most {limit} characters, not {count}"));
        }
    }
    if text.contains('\0') {
        return Err("must not contain the NUL character".to_owned());
    }
    Ok(())
}

impl<R> Deref for Text<R> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl<R> fmt::Display for Text<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<R> fmt::Debug for Text<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl<R> Clone for Text<R> {
    fn clone(&self) -> Self {
        Self { text: Arc::clone(&self.text), rule: PhantomData }
    }
}

impl<R> PartialEq for Text<R> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<R> Eq for Text<R> {}

impl<R> Hash for Text<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl<R> Serialize for Text<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{Text, TextRule, check_length, check_not_blank};
    use crate::error::FieldError;

    #[derive(Debug)]
    enum FiveCharacters {}

    impl TextRule for FiveCharacters {
        const PARAM: &'static str = "word";

        fn check(text: &str) -> Result<(), String> {
            check_not_blank(text)?;
            check_length(text, 5)
        }
    }

    #[test]
    fn a_text_is_made_only_if_it_meets_its_rule() {
        let read = |text: &str| Text::<FiveCharacters>::parse(text);
        assert_eq!(read("ééééé").unwrap().as_str(), "ééééé");
        for (text, message) in [
            ("éééééé", "must be at most 5 characters, not 6"),
            (" \n", "must not be empty"),
            ("\u{200b}\u{3000}\u{2060}", "must not be empty"),
            ("a\0", "must not contain the NUL character"),
        ] {
            assert_eq!(read(text).unwrap_err(), FieldError::new("word", message));
        }
        let other_field = Text::<FiveCharacters>::parse_field("name", "").unwrap_err();
        assert_eq!(other_field.param, "name");
    }
}
