//! What accounts use and keep, and what they may use in a month and keep.

use std::fmt;

use serde::{Serialize, Serializer};
use time::macros::format_description;
use time::{Date, Month, OffsetDateTime};

use crate::error::Error;
use crate::id::{Id, kind};
use crate::timestamp::Timestamp;

/// Milliseconds of a day.
const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// A day of UTC: whole days since 1970-01-01. Written as `2026-01-31`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// The day of a moment.
    pub const fn of(moment: Timestamp) -> Self {
        Self(moment.as_millis().div_euclid(DAY_MILLIS))
    }

    /// The day so many days after 1970-01-01.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Days since 1970-01-01.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// Its first moment.
    pub const fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(DAY_MILLIS))
    }

    /// Reads `2026-01-31`, the value of the field `param`.
    pub fn parse(param: &str, text: &str) -> Result<Self, Error> {
        let format = format_description!("[year]-[month]-[day]");
        let date = Date::parse(text, format)
            .map_err(|_| Error::invalid(param, "must be a day such as 2026-01-31"))?;
        Ok(Self::of_date(date))
    }

    /// The first day of the month that a moment lies in, and of the next.
    pub fn month_of(moment: Timestamp) -> (Self, Self) {
        let date = OffsetDateTime::from_unix_timestamp(moment.as_millis().div_euclid(1_000))
            .map_or(Date::MIN, OffsetDateTime::date);
        let first = |year, month| Date::from_calendar_date(year, month, 1).unwrap_or(date);
        let this = first(date.year(), date.month());
        let next = match date.month() {
            Month::December => first(date.year() + 1, Month::January),
            month => first(date.year(), month.next()),
        };
        (Self::of_date(this), Self::of_date(next))
    }

    fn of_date(date: Date) -> Self {
        Self(
            i64::from(date.to_julian_day()) - i64::from(OffsetDateTime::UNIX_EPOCH.to_julian_day()),
        )
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = self.start().to_string();
        f.write_str(moment.get(..10).unwrap_or(&moment))
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Tokens of a model's reply. The embedded answerer takes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCount {
    /// Of what the model was given.
    pub prompt: u64,
    /// Of what it wrote.
    pub completion: u64,
}

/// What an agent used on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayUsage {
    /// The day.
    pub day: Day,
    /// The agent, which may be deleted since.
    pub agent_id: Id<kind::Agent>,
    /// Messages that were answered.
    pub messages: u64,
    /// Tokens of the models that wrote the answers.
    pub tokens: TokenCount,
}

/// What an account used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Consumption {
    /// Messages that were answered.
    pub messages: u64,
    /// Tokens of models, of prompts and completions together.
    pub tokens: u64,
}

/// How much of something an account may use in a calendar month of UTC, or keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quota {
    /// What the settings say.
    #[default]
    Default,
    /// Any number.
    Unlimited,
    /// So much.
    AtMost(u64),
}

impl Quota {
    /// The number that holds, with `default` where the account has none of its own.
    pub const fn resolve(self, default: Option<u64>) -> Option<u64> {
        match self {
            Self::Default => default,
            Self::Unlimited => None,
            Self::AtMost(most) => Some(most),
        }
    }
}

/// What an account may use in a month, and keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountQuotas {
    /// Messages that are answered.
    pub messages: Quota,
    /// Tokens of models.
    pub tokens: Quota,
    /// Bytes of sources, with what was extracted from them, and of files; not of a month.
    pub bytes: Quota,
}

/// What an account without quotas of its own may use in a month, and keep; `None` for any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefaultQuotas {
    /// Messages that are answered.
    pub messages: Option<u64>,
    /// Tokens of models.
    pub tokens: Option<u64>,
    /// Bytes of sources, with what was extracted from them, and of files; not of a month.
    pub bytes: Option<u64>,
}

/// Where an account stands with its quotas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Its quotas.
    pub quotas: AccountQuotas,
    /// What it has used of this month.
    pub used: Consumption,
    /// Bytes that it keeps.
    pub kept_bytes: u64,
}

/// How much of something an account may use or keep, and how much it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// `None` for any number.
    pub limit: Option<u64>,
    /// Used in this month, or kept now.
    pub used: u64,
}

/// The allowances of an account, with the defaults of the settings filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowances {
    /// Messages that are answered in this month.
    pub messages: Allowance,
    /// Tokens of models in this month.
    pub tokens: Allowance,
    /// Bytes of sources, with what was extracted from them, and of files.
    pub bytes: Allowance,
    /// When the next month begins.
    pub renewed_at: Timestamp,
}

/// Which days a list of usage shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageFilter {
    /// From this day on.
    pub from: Option<Day>,
    /// Up to this day, included.
    pub to: Option<Day>,
    /// Only this agent.
    pub agent_id: Option<Id<kind::Agent>>,
}

#[cfg(test)]
mod tests {
    use super::{Day, Quota};
    use crate::Timestamp;

    #[test]
    fn a_day_is_written_and_read_back() {
        let moment = Timestamp::parse("2026-01-31T23:59:59.999Z").unwrap();
        let day = Day::of(moment);
        assert_eq!(day.to_string(), "2026-01-31");
        assert_eq!(Day::parse("from", "2026-01-31").unwrap(), day);
        assert_eq!(Day::of(moment.plus_millis(1)).number(), day.number() + 1);
        assert_eq!(Day::of(Timestamp::from_millis(0)).number(), 0);
        for text in ["", "2026-02-30", "2026-1-1", "31.01.2026", "2026-01-31T00:00:00Z"] {
            assert!(Day::parse("from", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_month_ends_where_the_next_begins() {
        for (moment, first, next) in [
            ("2026-11-21T20:00:00Z", "2026-11-01", "2026-12-01"),
            ("2026-12-31T23:59:59Z", "2026-12-01", "2027-01-01"),
            ("2028-02-29T12:00:00Z", "2028-02-01", "2028-03-01"),
        ] {
            let (from, to) = Day::month_of(Timestamp::parse(moment).unwrap());
            assert_eq!((from.to_string(), to.to_string()), (first.to_owned(), next.to_owned()));
        }
    }

    #[test]
    fn an_account_has_its_own_quota_or_the_default() {
        assert_eq!(Quota::Default.resolve(Some(5)), Some(5));
        assert_eq!(Quota::Default.resolve(None), None);
        assert_eq!(Quota::Unlimited.resolve(Some(5)), None);
        assert_eq!(Quota::AtMost(0).resolve(Some(5)), Some(0));
    }
}
