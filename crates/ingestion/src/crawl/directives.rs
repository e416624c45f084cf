//! The directives of the response header `X-Robots-Tag`.

use super::PRODUCT_TOKEN;

/// Directives that have a value after a colon, so their colon does not end the name of a crawler.
const WITH_VALUE: [&str; 4] =
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// The directives of a page for crawlers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RobotsTag {
    /// The page must not be indexed.
    pub is_noindex: bool,
    /// The links of the page must not be followed.
    pub is_nofollow: bool,
}

impl RobotsTag {
    /// Reads the values of all `X-Robots-Tag` headers of a response. Directives that name another
    /// crawler are ignored.
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

#[cfg(test)]
mod tests {
    use super::RobotsTag;

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
}
