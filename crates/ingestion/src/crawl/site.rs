//! Which addresses belong to a crawl, and the normalised name of each page.

use url::Url;

/// Query parameters that identify the origin of a visitor or the visit, and not the page. Those that begin with `utm_`
/// are treated in the same way.
const TRACKING: [&str; 34] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "dclid",
    "fbclid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igsh",
    "igshid",
    "jsessionid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber",
    "msclkid",
    "mtm_campaign",
    "oly_anon_id",
    "oly_enc_id",
    "phpsessid",
    "pk_campaign",
    "rb_clickid",
    "s_cid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "yclid",
];

/// The site that a crawl stays within: one host and port, over http or https, with or without a leading `www.`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// Its root, with the spelling of the start page; the names of all pages begin with it.
    root: Url,
}

impl Site {
    /// The site of a page. `None` if the address is not http or https, or has no host.
    pub fn of(page: &Url) -> Option<Self> {
        if !is_web(page) {
            return None;
        }
        let mut root = page.clone();
        strip_credentials(&mut root)?;
        root.set_path("/");
        root.set_query(None);
        root.set_fragment(None);
        Some(Self { root })
    }

    /// Whether an address belongs to the site.
    pub fn contains(&self, url: &Url) -> bool {
        is_web(url) && url.port() == self.root.port() && bare_host(url) == bare_host(&self.root)
    }

    /// The name of a page of the site, equal for all addresses of the same page. `None` if the address is outside the
    /// site.
    ///
    /// It has the site's scheme and host, no fragment, no credentials, no tracking parameters in its query or its path
    /// (`/a;jsessionid=1`), and its percent-encoding is in normal form (RFC 3986, section 6.2.2). Dot segments, the default port and the empty path were settled when
    /// the address was parsed.
    pub fn name(&self, url: &Url) -> Option<Url> {
        if !self.contains(url) {
            return None;
        }
        let mut named = self.root.clone();
        named.set_path(&untracked_path(&normal_encoding(url.path())));
        let query = url.query().map(without_tracking).filter(|query| !query.is_empty());
        named.set_query(query.as_deref());
        Some(named)
    }

    /// The address of a file at the site's root, as `/robots.txt`.
    pub fn at(&self, path: &str) -> Url {
        let mut url = self.root.clone();
        url.set_path(path);
        url
    }

    /// The host and port that all requests to the site share, regardless of spelling.
    pub fn host_key(&self) -> String {
        let host = bare_host(&self.root).unwrap_or_default();
        self.root.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.host_str().is_some_and(|host| !host.is_empty())
}

fn strip_credentials(url: &mut Url) -> Option<()> {
    url.set_username("").ok()?;
    url.set_password(None).ok()
}

/// The host without a final dot and without a leading `www.`, unless that would leave a top-level
/// domain alone.
fn bare_host(url: &Url) -> Option<&str> {
    let host = url.host_str()?;
    let host = host.strip_suffix('.').unwrap_or(host);
    Some(host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host))
}

/// A query without its tracking parameters; the others are unchanged and in order.
fn without_tracking(query: &str) -> String {
    let kept: Vec<String> = query
        .split('&')
        .map(normal_encoding)
        .filter(|pair| !pair.is_empty() && !is_tracking(pair))
        .collect();
    kept.join("&")
}

/// A path without the tracking parameters of its segments; the others are unchanged and in order.
fn untracked_path(path: &str) -> String {
    let untracked = |segment: &str| {
        let mut parts = segment.split(';');
        let name = parts.next().unwrap_or_default();
        let kept = parts.filter(|parameter| !is_tracking(parameter));
        std::iter::once(name).chain(kept).collect::<Vec<_>>().join(";")
    };
    path.split('/').map(untracked).collect::<Vec<_>>().join("/")
}

fn is_tracking(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    name.starts_with("utm_") || TRACKING.binary_search(&name.as_str()).is_ok()
}

/// Percent-encoding in normal form: letters, digits and `-._~` are not encoded, other encoded bytes have capital
/// digits. A `%` that encodes nothing is kept, and the following byte stays encoded if decoding it would complete that
/// `%`: `%2%65` is not `%2e`.
pub(super) fn normal_encoding(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        normal.push_str(before);
        let Some(byte) = after.get(..2).and_then(encoded_byte) else {
            normal.push('%');
            rest = after;
            continue;
        };
        let char = char::from(byte);
        let is_plain = char.is_ascii_alphanumeric() || "-._~".contains(char);
        if is_plain && !ends_open(&normal) {
            normal.push(char);
        } else {
            normal.push('%');
            normal.extend(after.chars().take(2).map(|digit| digit.to_ascii_uppercase()));
        }
        rest = after.get(2..).unwrap_or_default();
    }
    normal.push_str(rest);
    normal
}

/// Whether a text ends in a `%` that the next characters could complete.
fn ends_open(normal: &str) -> bool {
    normal.bytes().rev().take(2).any(|byte| byte == b'%')
}

fn encoded_byte(digits: &str) -> Option<u8> {
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{Site, TRACKING, normal_encoding};

    fn site(start: &str) -> Site {
        Site::of(&Url::parse(start).unwrap()).unwrap()
    }

    fn name(start: &str, link: &str) -> Option<String> {
        let start = Url::parse(start).unwrap();
        Site::of(&start).unwrap().name(&start.join(link).unwrap()).map(String::from)
    }

    #[test]
    fn the_site_is_one_host_whatever_its_scheme_or_www() {
        for link in [
            "/",
            "https://example.com/a",
            "http://example.com/a",
            "http://www.example.com",
            "https://www.example.com:443/",
            "http://example.com:80/",
            "//EXAMPLE.com./x",
            "https://user:word@example.com/",
        ] {
            assert!(name("https://www.example.com/docs", link).is_some(), "{link}");
        }
        for link in [
            "https://example.org/",
            "https://docs.example.com/",
            "https://example.com.evil.net/",
            "https://wwwexample.com/",
            "https://example.com:8443/",
            "https://example.com:80/",
            "http://www.www.example.com/",
            "mailto:a@example.com",
            "ftp://example.com/",
            "javascript:void(0)",
            "data:text/html,x",
        ] {
            assert_eq!(name("https://www.example.com/docs", link), None, "{link}");
        }
    }

    #[test]
    fn a_port_that_is_not_the_default_counts() {
        assert!(name("http://localhost:8080/", "https://localhost:8080/a").is_some());
        assert_eq!(name("http://localhost:8080/", "http://localhost:8081/a"), None);
        assert_eq!(name("http://localhost:8080/", "http://localhost/a"), None);
        assert_eq!(site("http://www.example.com:8080/a").host_key(), "example.com:8080");
        assert_eq!(site("https://www.example.com/a").host_key(), "example.com");
    }

    #[test]
    fn www_is_kept_where_it_is_the_name_itself() {
        assert_eq!(name("https://www.example/", "https://example/"), None);
    }

    #[test]
    fn addresses_of_one_page_have_one_name() {
        let start = "https://example.com/docs/start";
        for (link, expected) in [
            ("#part", "https://example.com/docs/start"),
            ("", "https://example.com/docs/start"),
            ("http://www.example.com:80", "https://example.com/"),
            ("http://u:p@example.com/a", "https://example.com/a"),
            ("../a/./b/../c", "https://example.com/a/c"),
            ("/%7Euser/%e4%bd%a0", "https://example.com/~user/%E4%BD%A0"),
            ("/你", "https://example.com/%E4%BD%A0"),
            ("/a?utm_source=x&b=2&GCLID=3&a=1", "https://example.com/a?b=2&a=1"),
            ("/a?%75tm_source=x&f%62clid=1", "https://example.com/a"),
            ("/a?fbclid=1&msclkid=2&mc_cid=3&mc_eid=4", "https://example.com/a"),
            ("/a?", "https://example.com/a"),
            ("/a?&&b", "https://example.com/a?b"),
            ("/a?q=%2f%41", "https://example.com/a?q=%2FA"),
            ("/a/", "https://example.com/a/"),
            ("/a;jsessionid=1F", "https://example.com/a"),
            (
                "/a;v=2;JSESSIONID=1F.node1;w/b;jsessionid=2?c=3",
                "https://example.com/a;v=2;w/b?c=3",
            ),
            ("/jsessionid=1;", "https://example.com/jsessionid=1;"),
        ] {
            assert_eq!(name(start, link).as_deref(), Some(expected), "{link}");
        }
    }

    #[test]
    fn a_name_is_its_own_name() {
        for link in [
            "/a%2525?x=%zz%",
            "/%E4%BD%A0?%C3%A4=%c3%a4",
            "/a%3Fb",
            "/a;b=c/d",
            "/a/..;jsessionid=1/;jsessionid=2/b;jsess;jsessionid=3ionid=4",
            "/a/%;%6asessionid=1;41",
            "/%",
            "/a/%2%65%%32%65/b?%%34%31",
        ] {
            let once = name("https://example.com/", link).unwrap();
            assert_eq!(name("https://example.com/", &once), Some(once.clone()), "{link}");
        }
    }

    #[test]
    fn encoding_that_is_none_stays() {
        assert_eq!(normal_encoding("100%"), "100%");
        assert_eq!(normal_encoding("%4"), "%4");
        assert_eq!(normal_encoding("%+1%é"), "%+1%é");
        assert_eq!(normal_encoding("%41%2f"), "A%2F");
        assert_eq!(normal_encoding("%2%65%%34%31"), "%2%65%%341");
    }

    #[test]
    fn the_tracking_parameters_are_in_order() {
        assert!(TRACKING.is_sorted());
    }
}
