//! When to try again.

use std::time::Duration;

/// The first wait; each following one is twice as long.
const FIRST: Duration = Duration::from_millis(250);
/// The longest wait, and the longest that an upstream may ask for.
const LONGEST: Duration = Duration::from_secs(20);

/// The wait before attempt `retry` (1 for the first repetition); `None` if the upstream asks for too long a
/// wait.
///
/// `chance` spreads the wait over its upper half, so that callers that failed together do not return together. The wait
/// that the upstream requested is a lower bound.
pub(super) fn wait(retry: u32, asked: Option<Duration>, chance: u8) -> Option<Duration> {
    if asked.is_some_and(|asked| asked > LONGEST) {
        return None;
    }
    let full = FIRST.saturating_mul(1 << retry.saturating_sub(1).min(8)).min(LONGEST);
    let spread = full / 2 + (full / 2).mul_f64(f64::from(chance) / f64::from(u8::MAX));
    Some(spread.max(asked.unwrap_or_default()))
}

/// The wait in milliseconds that `retry-after-ms` or `Retry-After` of an answer asks for: seconds,
/// possibly with a fraction, or a date, relative to `now` in milliseconds since 1970.
pub(super) fn asked(millis: Option<&str>, after: Option<&str>, now: i64) -> Option<Duration> {
    let seconds = |text: &str, unit: f64| {
        let value = text.trim().parse::<f64>().ok()? * unit;
        Duration::try_from_secs_f64(value).ok()
    };
    let date = |text: &str| {
        let then = httpdate::parse_http_date(text.trim()).ok()?;
        let since = then.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(since.saturating_sub(Duration::from_millis(u64::try_from(now).ok()?)))
    };
    millis
        .and_then(|text| seconds(text, 0.001))
        .or_else(|| after.and_then(|text| seconds(text, 1.0).or_else(|| date(text))))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{asked, wait};

    #[test]
    fn waits_double_and_spread_over_their_upper_half() {
        let millis = |retry, chance| wait(retry, None, chance).unwrap().as_millis();
        assert_eq!((millis(1, 0), millis(1, 255)), (125, 250));
        assert_eq!((millis(2, 0), millis(2, 255)), (250, 500));
        assert_eq!(millis(40, 255), 20_000);
    }

    #[test]
    fn what_the_upstream_asks_for_is_a_lower_bound_up_to_a_limit() {
        assert_eq!(wait(1, Some(Duration::from_secs(3)), 0), Some(Duration::from_secs(3)));
        assert_eq!(wait(1, Some(Duration::from_millis(1)), 0), Some(Duration::from_millis(125)));
        assert_eq!(wait(1, Some(Duration::from_secs(21)), 0), None);
    }

    #[test]
    fn each_form_of_the_header_is_read() {
        assert_eq!(asked(None, Some("2"), 0), Some(Duration::from_secs(2)));
        assert_eq!(asked(None, Some("0.5"), 0), Some(Duration::from_millis(500)));
        assert_eq!(asked(Some("40"), Some("2"), 0), Some(Duration::from_millis(40)));
        let date = "Thu, 01 Jan 1970 00:00:10 GMT";
        assert_eq!(asked(None, Some(date), 4_000), Some(Duration::from_secs(6)));
        assert_eq!(asked(None, Some(date), 40_000), Some(Duration::ZERO));
        for nonsense in ["", "soon", "-1", "NaN", "1e300"] {
            assert_eq!(asked(None, Some(nonsense), 0), None, "{nonsense}");
        }
    }
}
