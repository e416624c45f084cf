//! How long a replaced token or secret of a widget is kept: the field `keep_seconds`.

use crate::error::FieldError;
use crate::limits;
use crate::timestamp::Timestamp;

/// How long a replaced token works: at most [`limits::WIDGET_TOKEN_KEPT_SECONDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenKept {
    seconds: i64,
}

/// How long replaced secrets are accepted: at most [`limits::RETIRED_SECRET_MILLIS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretKept {
    seconds: i64,
}

impl TokenKept {
    /// Checks the field; without one, the old token stops working immediately.
    ///
    /// # Errors
    ///
    /// Returns an error if it is negative or longer than the limit.
    pub fn parse(given: Option<i64>) -> Result<Self, FieldError> {
        let seconds = given.unwrap_or_default();
        within(seconds, limits::WIDGET_TOKEN_KEPT_SECONDS).map(|seconds| Self { seconds })
    }

    /// Until when a token that is replaced at `now` works.
    pub const fn until(self, now: Timestamp) -> Timestamp {
        now.plus_millis(self.seconds.saturating_mul(1_000))
    }
}

impl SecretKept {
    /// Checks the field; without one, replaced secrets are accepted as long as they can be.
    ///
    /// # Errors
    ///
    /// Returns an error if it is negative or longer than the limit.
    pub fn parse(given: Option<i64>) -> Result<Self, FieldError> {
        let most = limits::RETIRED_SECRET_MILLIS / 1_000;
        within(given.unwrap_or(most), most).map(|seconds| Self { seconds })
    }

    /// Until when secrets that are replaced at `now` are accepted.
    pub const fn until(self, now: Timestamp) -> Timestamp {
        now.plus_millis(self.seconds.saturating_mul(1_000))
    }
}

fn within(seconds: i64, most: i64) -> Result<i64, FieldError> {
    if (0..=most).contains(&seconds) {
        return Ok(seconds);
    }
    Err(FieldError::new("keep_seconds", format!("must be between 0 and {most}")))
}

#[cfg(test)]
mod tests {
    use super::{SecretKept, TokenKept};
    use crate::timestamp::Timestamp;

    #[test]
    fn a_token_is_kept_for_a_week_at_most_and_a_secret_for_a_day() {
        let now = Timestamp::from_millis(5);
        let token = |given| TokenKept::parse(given).map(|kept| kept.until(now).as_millis());
        assert_eq!((token(None), token(Some(0))), (Ok(5), Ok(5)));
        assert_eq!(token(Some(604_800)), Ok(604_800_005));
        assert!(token(Some(604_801)).is_err() && token(Some(-1)).is_err());
        let secret = |given| SecretKept::parse(given).map(|kept| kept.until(now).as_millis());
        assert_eq!((secret(None), secret(Some(0))), (Ok(86_400_005), Ok(5)));
        assert!(secret(Some(86_401)).is_err() && secret(Some(-1)).is_err());
        let error = token(Some(-1)).unwrap_err();
        assert_eq!(error.param, "keep_seconds");
    }
}
