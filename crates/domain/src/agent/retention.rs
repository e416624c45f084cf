//! How long an agent's conversations are kept.

use super::within;
use crate::error::FieldError;
use crate::limits::{self, DAY_MILLIS};
use crate::timestamp::Timestamp;

/// The number of days that conversations are kept after their last message: 1 to 3,650.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionDays(u32);

impl RetentionDays {
    /// Checks the value of the field `retention_days`.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is outside its range.
    pub fn parse(value: i64) -> Result<Self, FieldError> {
        let (low, high) = limits::RETENTION_DAYS_RANGE;
        let bad = || {
            let message = format!("must be between {low} and {high}, or null");
            FieldError::new("retention_days", message)
        };
        within(value, (low, high)).map(Self).ok_or_else(bad)
    }

    /// At `now`, conversations whose last message is older than the returned time are removed.
    pub const fn kept_since(self, now: Timestamp) -> Timestamp {
        now.plus_millis((self.0 as i64).saturating_mul(-DAY_MILLIS))
    }

    /// A stored number, which was checked when it was written.
    pub const fn from_stored(days: u32) -> Self {
        Self(days)
    }

    /// The number of days.
    pub const fn get(self) -> u32 {
        self.0
    }
}
