//! What response headers ask of a crawler: `X-Robots-Tag` and `Retry-After`.

use std::time::Duration;

use cicerone_domain::Timestamp;

use super::PRODUCT_TOKEN;

/// Directives that have a value after a colon, so that the colon ends no name of a crawler.
const WITH_VALUE: [&str; 4] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// What a page asks of crawlers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RobotsTag {
    /// Not to be found.
    pub is_noindex: bool,
    /// Its links are not to be followed.
    pub is_nofollow: bool,
}

impl RobotsTag {
    /// Reads the values of all `X-Robots-Tag` headers of an answer. Directives behind the name of
    /// another crawler do not count.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut tag = Self::default();
        for value in values {
            let mut is_for_us = true;
            for part in value.split(',') {
                let mut directive = part.trim();
                if let Some((name, rest)) = directive.split_once(':')
                    && is_crawler(name.trim())
                {
                    is_for_us = name.trim().eq_ignore_ascii_case(PRODUCT_TOKEN);
                    directive = rest.trim();
                }
                if is_for_us {
                    tag.add(directive);
                }
            }
        }
        tag
    }

    fn add(&mut self, directive: &str) {
        match directive.to_ascii_lowercase().as_str() {
            "noindex" => self.is_noindex = true,
            "nofollow" => self.is_nofollow = true,
            "none" => *self = Self { is_noindex: true, is_nofollow: true },
            _ => {}
        }
    }
}

fn is_crawler(name: &str) -> bool {
    let is_token = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    !name.is_empty()
        && name.chars().all(is_token)
        && !WITH_VALUE.iter().any(|directive| name.eq_ignore_ascii_case(directive))
}

/// How long a `Retry-After` header asks to wait: a number of seconds, or a date (RFC 9110, section
/// 10.2.3). None where it says neither.
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let now = Duration::from_millis(u64::try_from(now.as_millis()).ok()?);
    let since = date.duration_since(std::time::SystemTime::UNIX_EPOCH).ok()?;
    Some(since.saturating_sub(now))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cicerone_domain::Timestamp;

    use super::{RobotsTag, retry_after};

    fn tag(values: &[&str]) -> (bool, bool) {
        let tag = RobotsTag::of(values.iter().copied());
        (tag.is_noindex, tag.is_nofollow)
    }

    #[test]
    fn directives_for_all_and_for_us_count() {
        assert_eq!(tag(&[]), (false, false));
        assert_eq!(tag(&["all"]), (false, false));
        assert_eq!(tag(&["NoIndex"]), (true, false));
        assert_eq!(tag(&["noarchive, nofollow"]), (false, true));
        assert_eq!(tag(&["none"]), (true, true));
        assert_eq!(tag(&["noarchive", "noindex"]), (true, false));
        assert_eq!(tag(&["cicerone: noindex, nofollow"]), (true, true));
        assert_eq!(tag(&["otherbot: noarchive, Cicerone: noindex"]), (true, false));
    }

    #[test]
    fn directives_for_other_crawlers_do_not() {
        assert_eq!(tag(&["googlebot: noindex, nofollow"]), (false, false));
        assert_eq!(tag(&["googlebot: noindex", "nofollow"]), (false, true));
    }

    #[test]
    fn a_directive_with_a_value_is_no_crawler() {
        assert_eq!(tag(&["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"]), (true, false));
        assert_eq!(tag(&["max-snippet: 20, nofollow"]), (false, true));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::parse("2026-01-31T08:00:00Z").unwrap();
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
