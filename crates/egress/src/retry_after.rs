//! The `Retry-After` header.

use std::time::{Duration, UNIX_EPOCH};

/// The time to wait according to a `Retry-After` header: a number of seconds, or a date (RFC 9110, section 10.2.3)
/// relative to `now`, the time since 1970. `None` if the header is neither.
#[must_use]
pub fn retry_after(value: &str, now: Duration) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since = date.duration_since(UNIX_EPOCH).ok()?;
    Some(since.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::retry_after;

    #[test]
    fn it_is_seconds_or_a_date() {
        // 2026-01-31T08:00:00Z
        let now = Duration::from_secs(1_769_846_400);
        let seconds = |count| Some(Duration::from_secs(count));
        assert_eq!(retry_after("120", now), seconds(120));
        assert_eq!(retry_after(" 0 ", now), seconds(0));
        assert_eq!(retry_after("99999999999999999999999", now), seconds(u64::MAX));
        assert_eq!(retry_after("Sat, 31 Jan 2026 08:01:00 GMT", now), seconds(60));
        assert_eq!(retry_after("Sat, 31 Jan 2026 07:00:00 GMT", now), seconds(0));
        for value in ["", "soon", "-1", "1.5"] {
            assert_eq!(retry_after(value, now), None, "{value}");
        }
    }
}
