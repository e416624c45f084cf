//! Points in time in UTC with millisecond precision.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{OffsetDateTime, UtcOffset};

/// A moment: whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Written as ISO 8601 in UTC with three digits of a second: `2026-01-31T08:30:00.125Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

/// The nanoseconds of a millisecond.
const NANOS: i128 = 1_000_000;

/// The text is not a moment in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be an ISO 8601 time in UTC that ends in `Z`, such as 2026-01-31T08:30:00Z")]
pub struct ParseTimestampError;

impl Timestamp {
    /// The moment `millis` milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// The moment later by the duration.
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The moment this many milliseconds later, or earlier if the number is negative.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Reads a moment: ISO 8601 (the RFC 3339 profile), UTC, ending in `Z`. Finer fractions than a
    /// millisecond are cut.
    ///
    /// # Errors
    ///
    /// Returns an error if the text has another form or another time zone.
    pub fn parse(text: &str) -> Result<Self, ParseTimestampError> {
        Self::parse_nanos(text).and_then(|nanos| Self::of_millis(nanos.div_euclid(NANOS)))
    }

    /// Reads a moment as [`Timestamp::parse`] does, but a finer fraction than a millisecond becomes the next millisecond: all whole
    /// milliseconds before the moment are before the result, too.
    ///
    /// # Errors
    ///
    /// Those of [`Timestamp::parse`].
    pub fn parse_end(text: &str) -> Result<Self, ParseTimestampError> {
        Self::parse_nanos(text).and_then(|nanos| Self::of_millis(-(-nanos).div_euclid(NANOS)))
    }

    fn of_millis(millis: i128) -> Result<Self, ParseTimestampError> {
        i64::try_from(millis).map(Self).map_err(|_| ParseTimestampError)
    }

    fn parse_nanos(text: &str) -> Result<i128, ParseTimestampError> {
        if !text.ends_with('Z') || text.as_bytes().get(10) != Some(&b'T') {
            return Err(ParseTimestampError);
        }
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| ParseTimestampError)?;
        if moment.offset() != UtcOffset::UTC {
            return Err(ParseTimestampError);
        }
        Ok(moment.unix_timestamp_nanos())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let format = format_description!(
            "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z"
        );
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .map_err(|_| fmt::Error)?
            .format(&format)
            .map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_moment_is_written_with_milliseconds_and_read_back() {
        let moment = Timestamp::from_millis(1_769_848_200_125);
        assert_eq!(moment.to_string(), "2026-01-31T08:30:00.125Z");
        assert_eq!(Timestamp::parse("2026-01-31T08:30:00.125999Z"), Ok(moment));
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        let next = Timestamp::from_millis(1_769_848_200_126);
        assert_eq!(Timestamp::parse_end("2026-01-31T08:30:00.125001Z"), Ok(next));
        assert_eq!(Timestamp::parse_end("2026-01-31T08:30:00.125Z"), Ok(moment));
        let before_1970 = Timestamp::parse_end("1969-12-31T23:59:59.9985Z");
        assert_eq!(before_1970, Ok(Timestamp::from_millis(-1)));
    }

    #[test]
    fn only_utc_with_z_is_taken() {
        for text in [
            "2026-01-31T08:30:00+00:00",
            "2026-01-31T08:30:00+02:00",
            "2026-01-31",
            "2026-01-31T08:30:00",
            "2026-02-30T08:30:00Z",
            "Z",
            "",
        ] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
    }
}
