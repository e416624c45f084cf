//! Ratings of replies by end users.

use crate::error::{Error, FieldError};
use crate::every::every;
use crate::limits;
use crate::text::{Text, TextRule, check_length, is_blank};
use crate::timestamp::Timestamp;

/// Whether a reply was good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatingValue {
    /// The reply was good.
    Up,
    /// The reply was not good.
    Down,
}

impl RatingValue {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Up, Self::Down];

    /// The name on the wire and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// The value of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.name() == name)
    }

    /// Reads the field `value`.
    ///
    /// # Errors
    ///
    /// Returns an error for any other text.
    pub fn parse(name: &str) -> Result<Self, FieldError> {
        let invalid = || FieldError::new("value", "must be `up` or `down`");
        Self::from_name(name).ok_or_else(invalid)
    }
}

/// The user's comment on a rating: at most 1,000 characters.
pub type RatingComment = Text<RatingCommentRule>;

/// The rule of [`RatingComment`].
#[derive(Debug)]
pub enum RatingCommentRule {}

impl TextRule for RatingCommentRule {
    const PARAM: &'static str = "comment";

    fn check(text: &str) -> Result<(), String> {
        check_length(text, limits::RATING_COMMENT_CHARS)
    }
}

/// A rating as a caller gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRating {
    /// Whether the reply was good.
    pub value: RatingValue,
    /// Why.
    pub comment: Option<RatingComment>,
}

impl NewRating {
    /// Checks a rating. A blank comment counts as none.
    ///
    /// # Errors
    ///
    /// The field that is out of its limits.
    pub fn parse(value: &str, comment: Option<String>) -> Result<Self, Error> {
        let comment = comment.map(RatingComment::parse).transpose();
        let (value, comment) = every((RatingValue::parse(value), comment))?;
        Ok(Self { value, comment: comment.filter(|comment| !is_blank(comment)) })
    }
}

/// A rating of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rating {
    /// Whether the reply was good.
    pub value: RatingValue,
    /// Why.
    pub comment: Option<RatingComment>,
    /// When it was given or last changed.
    pub rated_at: Timestamp,
}

impl Rating {
    /// The rating after a new one was given at `now`. An equal rating changes nothing, not even the time.
    pub fn after(before: Option<Self>, new: NewRating, now: Timestamp) -> Self {
        match before {
            Some(same) if same.value == new.value && same.comment == new.comment => same,
            Some(_) | None => Self { value: new.value, comment: new.comment, rated_at: now },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NewRating, Rating, RatingValue};
    use crate::Timestamp;

    #[test]
    fn a_rating_is_up_or_down_with_a_comment_of_1_000_characters() {
        let param = |value, comment: Option<&str>| {
            let parsed = NewRating::parse(value, comment.map(str::to_owned));
            parsed.map_err(|error| error.params().join(" "))
        };
        let most = "é".repeat(1_000);
        assert!(param("up", Some(&most)).is_ok() && param("down", None).is_ok());
        assert_eq!(param("up", Some(" \n")).unwrap().comment, None);
        assert_eq!(param("up", Some(&format!("{most}x"))).unwrap_err(), "comment");
        assert_eq!(param("up", Some("a\0b")).unwrap_err(), "comment");
        for value in ["", "UP", "1"] {
            assert_eq!(param(value, None).unwrap_err(), "value");
            assert_eq!(param(value, Some("a\0b")).unwrap_err(), "value comment");
        }
    }

    #[test]
    fn an_equal_rating_changes_nothing() {
        let new = |value: &str| NewRating::parse(value, Some("why".to_owned())).unwrap();
        let at = Timestamp::from_millis;
        let first = Rating::after(None, new("up"), at(1));
        assert_eq!((first.value, first.rated_at), (RatingValue::Up, at(1)));
        assert_eq!(Rating::after(Some(first.clone()), new("up"), at(2)), first);
        let other = Rating::after(Some(first), new("down"), at(2));
        assert_eq!((other.value, other.rated_at), (RatingValue::Down, at(2)));
    }
}
