//! A glyph on a page, with its position.

use std::rc::Rc;

use hayro_font::kurbo::{Point, Vec2};

/// Represents a glyph whose character is unknown.
pub(super) const UNKNOWN: char = '\u{fffd}';

/// A glyph that a page shows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Glyph {
    pub(super) text: Characters,
    /// Its origin, in points; y grows upwards.
    pub(super) start: Point,
    /// The origin of the glyph that follows it.
    pub(super) end: Point,
    /// The direction of its line, of length 1.
    pub(super) along: Vec2,
    /// The spacing after it, in points, that the page sets: character spacing, and word spacing if it is a blank.
    pub(super) spacing: f64,
    /// The size of its type in points.
    pub(super) size: f64,
    pub(super) is_bold: bool,
    /// The number of the string that shows it.
    pub(super) string: u32,
}

/// The characters of a glyph in logical order: mostly one, several for a ligature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Characters {
    One(char),
    Several(Rc<str>),
}

impl Characters {
    /// The characters of a text. `None` if it is empty.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (None, _) => None,
            (Some(char), None) => Some(Self::One(char)),
            _ => Some(Self::Several(text.into())),
        }
    }

    pub(super) fn first(&self) -> char {
        match self {
            Self::One(char) => *char,
            Self::Several(text) => text.chars().next().unwrap_or(UNKNOWN),
        }
    }

    pub(super) fn is_blank(&self) -> bool {
        self.all(char::is_whitespace)
    }

    pub(super) fn any(&self, is: impl Fn(char) -> bool) -> bool {
        !self.all(|char| !is(char))
    }

    fn all(&self, is: impl Fn(char) -> bool) -> bool {
        match self {
            Self::One(char) => is(*char),
            Self::Several(text) => text.chars().all(is),
        }
    }

    pub(super) fn push_to(&self, text: &mut String) {
        match self {
            Self::One(char) => text.push(*char),
            Self::Several(chars) => text.push_str(chars),
        }
    }
}

/// Whether it is of a script that runs from right to left: Hebrew, Arabic and their neighbours, with their presentation
/// forms.
pub(super) fn runs_right_to_left(char: char) -> bool {
    matches!(char, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Whether it is of the scripts of Chinese and Japanese, with their punctuation.
pub(super) fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}

/// Appends the text of the next line, after a blank unless both are in scripts without blanks.
pub(super) fn push_next_line(text: &mut String, line: &str) {
    let is_whole = |char: Option<char>| char.is_some_and(is_ideograph);
    let goes_on = is_whole(text.chars().next_back()) && is_whole(line.chars().next());
    if !text.is_empty() && !line.is_empty() && !goes_on {
        text.push(' ');
    }
    text.push_str(line);
}
