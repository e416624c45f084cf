//! The monthly usage and storage of accounts, and their quotas.

use std::fmt;

use serde::{Serialize, Serializer};
use time::macros::format_description;
use time::{Date, Month, OffsetDateTime};

use crate::error::Error;
use crate::id::{Id, kind};
use crate::limits::{self, DAY_MILLIS};
use crate::timestamp::Timestamp;

/// A day of UTC: whole days since 1970-01-01. Written as `2026-01-31`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// The UTC day that contains the moment.
    pub const fn of(moment: Timestamp) -> Self {
        Self(moment.as_millis().div_euclid(DAY_MILLIS))
    }

    /// The day that is `days` days after 1970-01-01.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Days since 1970-01-01.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The midnight with which it begins, in UTC.
    pub const fn start(self) -> Timestamp {
        Timestamp::from_millis(self.0.saturating_mul(DAY_MILLIS))
    }

    /// The first day whose usage is still kept at `now`; older usage is removed.
    pub const fn kept_since(now: Timestamp) -> Self {
        Self(Self::of(now).0 - limits::USAGE_LIFE_DAYS)
    }

    /// The first day whose numbers of widgets' messages are kept.
    pub const fn widgets_kept_since(now: Timestamp) -> Self {
        Self(Self::of(now).0 - limits::WIDGET_LIFE_DAYS)
    }

    /// Reads `2026-01-31`, the value of the field `param`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the text is not a day in this form.
    pub fn parse(param: &str, text: &str) -> Result<Self, Error> {
        let format = format_description!("[year]-[month]-[day]");
        let date = Date::parse(text, format)
            .map_err(|_| Error::invalid(param, "must be a day such as 2026-01-31"))?;
        Ok(Self::of_date(date))
    }

    /// The first day of the month of a moment, and of the next month.
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

/// Tokens of a model's reply. The embedded answerer uses none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenCount {
    /// Tokens that the model read.
    pub prompt: u64,
    /// Tokens that the model wrote.
    pub completion: u64,
}

/// The usage of one agent on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayUsage {
    /// The UTC day that is counted.
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

/// How much of something an account may use in a calendar month (UTC) or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quota {
    /// The quota in the settings.
    #[default]
    Default,
    /// No limit.
    Unlimited,
    /// This amount.
    AtMost(u64),
}

impl Quota {
    /// The limit that applies: `default` if the account has none of its own.
    pub const fn resolve(self, default: Option<u64>) -> Option<u64> {
        match self {
            Self::Default => default,
            Self::Unlimited => None,
            Self::AtMost(most) => Some(most),
        }
    }
}

/// Checks that an account that stores `kept` bytes of sources and files may store `more`. `limit` is `None` if there is
/// no limit.
///
/// # Errors
///
/// [`Error::BytesExceeded`] if it would exceed its limit.
pub fn check_bytes(limit: Option<u64>, kept: u64, more: u64) -> Result<(), Error> {
    match limit {
        Some(limit) if kept.saturating_add(more) > limit => Err(Error::BytesExceeded { limit }),
        Some(_) | None => Ok(()),
    }
}

/// The additional bytes that the limit must allow if `after` bytes replace `before`. `None` if there are none: such a
/// change is always allowed, even if the account exceeds its limit.
pub const fn growth(before: u64, after: u64) -> Option<u64> {
    match after.checked_sub(before) {
        Some(0) | None => None,
        growth => growth,
    }
}

/// Checks that an account may have another message answered. `used` is its usage in this month, and `in_progress` is
/// how many messages are being answered; a quota of `None` is no limit.
///
/// # Errors
///
/// [`Error::QuotaExceeded`].
pub fn check_month(
    quotas: DefaultQuotas,
    used: Consumption,
    in_progress: u64,
    now: Timestamp,
) -> Result<(), Error> {
    let (_, next) = Day::month_of(now);
    let exceeded = |what, limit| Error::QuotaExceeded { what, limit, until: next.start(), now };
    match (quotas.messages, quotas.tokens) {
        (Some(most), _) if used.messages.saturating_add(in_progress) >= most => {
            Err(exceeded("messages", most))
        }
        (_, Some(most)) if used.tokens >= most => Err(exceeded("model tokens", most)),
        _ => Ok(()),
    }
}

/// The monthly and storage quotas of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountQuotas {
    /// Messages that are answered.
    pub messages: Quota,
    /// Tokens of models.
    pub tokens: Quota,
    /// Bytes of sources, with what was extracted from them, and of files; independent of the month.
    pub bytes: Quota,
}

/// The monthly and storage quotas of an account without its own quotas; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefaultQuotas {
    /// Messages that are answered.
    pub messages: Option<u64>,
    /// Tokens of models.
    pub tokens: Option<u64>,
    /// Bytes of sources, with what was extracted from them, and of files; independent of the month.
    pub bytes: Option<u64>,
}

/// An account's quotas and how much of them is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The quotas that are set for it.
    pub quotas: AccountQuotas,
    /// Its usage in this month.
    pub used: Consumption,
    /// Bytes that it keeps.
    pub kept_bytes: u64,
}

/// A quota and its current usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// `None` for no limit.
    pub limit: Option<u64>,
    /// Used in this month, or kept now; `None` for a caller that is restricted to agents.
    pub used: Option<u64>,
}

/// The allowances of an account as a caller sees them, with the defaults of the settings filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowances {
    /// Messages that are answered in this month.
    pub messages: Allowance,
    /// Tokens of models in this month.
    pub tokens: Allowance,
    /// Bytes stored: sources, what was extracted from them, and files.
    pub bytes: Allowance,
    /// When the next month begins.
    pub renewed_at: Timestamp,
}

/// Which days a list of usage shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageFilter {
    /// The first day to return.
    pub from: Option<Day>,
    /// Up to this day, included.
    pub to: Option<Day>,
    /// Return only the usage of this agent.
    pub agent_id: Option<Id<kind::Agent>>,
}

#[cfg(test)]
mod tests {
    use super::{Consumption, Day, DefaultQuotas, Quota, check_bytes, check_month, growth};
    use crate::{Error, Timestamp};

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
    fn an_account_keeps_as_many_bytes_as_its_quota_and_no_more() {
        check_bytes(None, u64::MAX, u64::MAX).unwrap();
        check_bytes(Some(10), 4, 6).unwrap();
        let exceeded = check_bytes(Some(10), 4, 7).unwrap_err();
        assert!(matches!(exceeded, Error::BytesExceeded { limit: 10 }));
        assert!(check_bytes(Some(u64::MAX - 1), u64::MAX, 1).is_err(), "no overflow");
    }

    #[test]
    fn messages_in_progress_count_and_either_quota_refuses() {
        let now = Timestamp::parse("2026-12-05T10:00:00Z").unwrap();
        let check = |messages, tokens, used: (u64, u64), in_progress| {
            let quotas = DefaultQuotas { messages, tokens, bytes: None };
            let used = Consumption { messages: used.0, tokens: used.1 };
            match check_month(quotas, used, in_progress, now) {
                Ok(()) => None,
                Err(Error::QuotaExceeded { what, limit, until, .. }) => {
                    assert_eq!(until.to_string(), "2027-01-01T00:00:00.000Z");
                    Some((what, limit))
                }
                Err(other) => panic!("{other:?}"),
            }
        };
        assert_eq!(check(None, None, (u64::MAX, u64::MAX), 9), None);
        assert_eq!(check(Some(10), None, (7, 99), 2), None);
        assert_eq!(check(Some(10), None, (7, 99), 3), Some(("messages", 10)));
        assert_eq!(check(Some(10), Some(50), (1, 49), 0), None);
        assert_eq!(check(Some(10), Some(50), (1, 50), 0), Some(("model tokens", 50)));
        assert_eq!(check(Some(0), None, (0, 0), 0), Some(("messages", 0)));
    }

    #[test]
    fn the_usage_of_400_days_can_be_read() {
        let now = Timestamp::parse("2026-11-22T23:59:59Z").unwrap();
        assert_eq!(Day::kept_since(now).to_string(), "2025-10-18");
    }

    #[test]
    fn an_account_has_its_own_quota_or_the_default() {
        assert_eq!(Quota::Default.resolve(Some(5)), Some(5));
        assert_eq!(Quota::Default.resolve(None), None);
        assert_eq!(Quota::Unlimited.resolve(Some(5)), None);
        assert_eq!(Quota::AtMost(0).resolve(Some(5)), Some(0));
    }

    #[test]
    fn bytes_that_replace_as_many_need_no_room() {
        for (before, after, room) in [(0, 5, Some(5)), (5, 8, Some(3)), (5, 5, None), (5, 2, None)]
        {
            assert_eq!(growth(before, after), room, "{before} {after}");
        }
    }
}
