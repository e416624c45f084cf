//! Which pages may use a widget, and the headers that tell browsers.
//!
//! A browser names the page's origin in `Origin`, and shows the answer to the page only if
//! `Access-Control-Allow-Origin` names it too. Other programs can send any origin: conversations are protected by the
//! credentials of visitors, never by the origin.

use actix_web::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, HOST, HeaderMap, HeaderName,
    HeaderValue, ORIGIN, VARY,
};
use cicerone_domain::PublicUrl;
use cicerone_domain::content::cut_at_word;
use cicerone_domain::limits::WIDGET_ORIGIN_BYTES;

use crate::error::RequestError;

/// The relation of a page to the server of a request, as the browser reports it.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The headers of an answer that a page may read.
const EXPOSED: HeaderValue = HeaderValue::from_static("Retry-After, X-Request-Id");
/// The number of characters of a refused origin that the refusal quotes.
const SHOWN_CHARS: usize = 100;

/// The page that a response is for, as far as browsers need to know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum SharedWith {
    /// The answer does not depend on the page.
    #[default]
    Anyone,
    /// Pages of any origin may read the answer: it says nothing about a widget.
    All,
    /// The answer depends on the page, and may be read only by pages of this server.
    Own,
    /// The page of this origin may read the answer.
    Page(HeaderValue),
}

impl SharedWith {
    /// Whether the page that sends the request may read the answer although it is on another origin.
    pub(super) const fn is_readable(&self) -> bool {
        match self {
            Self::All | Self::Page(_) => true,
            Self::Anyone | Self::Own => false,
        }
    }

    /// Adds the headers for browsers and caches to a response.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let readers = match self {
            Self::Anyone => return,
            Self::All => Some(HeaderValue::from_static("*")),
            Self::Own => None,
            Self::Page(origin) => Some(origin.clone()),
        };
        headers.append(VARY, HeaderValue::from_static("Origin"));
        if let Some(readers) = readers {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, readers);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }
}

/// Checks the page that sends a request. `allows` returns whether the widget allows pages of an origin; `own` is
/// whether it also allows pages of this server, whose public address is `public`.
///
/// # Errors
///
/// [`RequestError::ForeignOrigin`] if the page is not allowed.
pub(super) fn check(
    headers: &HeaderMap,
    allows: impl Fn(&str) -> bool,
    own: bool,
    public: Option<&PublicUrl>,
) -> Result<SharedWith, RequestError> {
    let mut origins = headers.get_all(ORIGIN);
    let Some(value) = origins.next() else {
        let site = headers.get(FETCH_SITE).map(HeaderValue::as_bytes);
        return match site {
            None | Some(b"same-origin") => Ok(SharedWith::Own),
            Some(_) => Err(RequestError::ForeignOrigin { value: String::new() }),
        };
    };
    let text = value.to_str().ok().filter(|text| text.len() <= WIDGET_ORIGIN_BYTES);
    let host = || headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_own = |origin: &str| {
        own && (host().is_some_and(|host| is_at(origin, host))
            || public.is_some_and(|public| origin == origin_of(public.as_str())))
    };
    match text {
        Some(origin) if origins.next().is_none() && (allows(origin) || is_own(origin)) => {
            Ok(SharedWith::Page(value.clone()))
        }
        Some(_) | None => {
            let value = cut_at_word(text.unwrap_or_default(), SHOWN_CHARS).into_owned();
            Err(RequestError::ForeignOrigin { value })
        }
    }
}

/// Whether an origin belongs to this host. The scheme is ignored, because a proxy may terminate TLS.
fn is_at(origin: &str, host: &str) -> bool {
    let (scheme, authority) = origin.split_once("://").unwrap_or_default();
    let port = match scheme {
        "https" => ":443",
        "http" => ":80",
        _ => return false,
    };
    let host = host.strip_suffix(port).unwrap_or(host);
    !host.is_empty() && authority.eq_ignore_ascii_case(host)
}

/// The origin of an absolute address.
fn origin_of(url: &str) -> &str {
    let authority = url.find("://").map_or(0, |at| at + 3);
    let rest = url.get(authority..).unwrap_or_default();
    let end = rest.find('/').map_or(url.len(), |at| authority + at);
    url.get(..end).unwrap_or(url)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
    use cicerone_domain::PublicUrl;

    use super::{FETCH_SITE, SharedWith, check};

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    fn is_allowed(pairs: &[(HeaderName, &str)], own: bool) -> bool {
        let public = PublicUrl::parse("https://chat.example/cicerone").unwrap();
        let allows = |origin: &str| origin == "https://museum.example";
        match check(&headers(pairs), allows, own, Some(&public)) {
            Ok(SharedWith::Page(origin)) => {
                assert_eq!(origin.to_str().unwrap(), pairs[0].1, "what was sent is answered");
                true
            }
            Ok(_) => true,
            Err(_) => false,
        }
    }

    #[test]
    fn a_page_is_of_a_listed_origin_or_of_this_server() {
        for origin in ["https://museum.example", "https://chat.example", "http://10.0.0.1:8080"] {
            assert!(is_allowed(&[(ORIGIN, origin), (HOST, "10.0.0.1:8080")], true), "{origin}");
        }
        for (origin, host) in [
            ("https://chat.local", "chat.local"),
            ("https://chat.local", "chat.local:443"),
            ("http://chat.local", "Chat.Local:80"),
            ("http://[::1]:8080", "[::1]:8080"),
        ] {
            assert!(is_allowed(&[(ORIGIN, origin), (HOST, host)], true), "{origin} {host}");
            assert!(!is_allowed(&[(ORIGIN, origin), (HOST, host)], false), "{origin} {host}");
        }
        assert!(!is_allowed(&[(ORIGIN, "https://chat.example")], false));
        assert!(is_allowed(&[(ORIGIN, "https://museum.example")], false));
    }

    #[test]
    fn every_other_origin_is_refused() {
        let long = format!("https://{}.example", "a".repeat(300));
        for origin in [
            "",
            "null",
            "*",
            "http://museum.example",
            "https://museum.example:8443",
            "https://museum.example.evil.example",
            "https://evil.example/https://museum.example",
            "https://museum.example/",
            "https://chat.example/cicerone",
            "https://chat.example:443",
            "https://chat.example@evil.example",
            "ftp://chat.local",
            "chat.local",
            "://chat.local",
            "https://chat.local:80",
            "https://museum.example https://evil.example",
            "https://müseum.example",
            &long,
        ] {
            assert!(!is_allowed(&[(ORIGIN, origin), (HOST, "chat.local")], true), "{origin}");
        }
        assert!(!is_allowed(&[(ORIGIN, "https://"), (HOST, "")], true));
        let two = [(ORIGIN, "https://museum.example"), (ORIGIN, "https://evil.example")];
        assert!(!is_allowed(&two, true));
    }

    #[test]
    fn a_request_without_an_origin_is_not_of_another_site() {
        assert!(is_allowed(&[], true) && is_allowed(&[(FETCH_SITE, "same-origin")], true));
        for site in ["cross-site", "same-site", "none", "", "same-origin, cross-site"] {
            assert!(!is_allowed(&[(FETCH_SITE, site)], true), "{site}");
        }
    }

    #[test]
    fn an_answer_for_a_page_is_kept_apart_by_caches() {
        let mut written = HeaderMap::new();
        SharedWith::Anyone.write(&mut written);
        assert!(written.is_empty());
        SharedWith::Own.write(&mut written);
        assert_eq!(written.len(), 1);
        assert_eq!(written.get("vary").unwrap(), "Origin");
        let mut written = HeaderMap::new();
        SharedWith::All.write(&mut written);
        assert_eq!(written.get("access-control-allow-origin").unwrap(), "*");
        assert_eq!(written.get("vary").unwrap(), "Origin");
        let mut written = HeaderMap::new();
        SharedWith::Page(HeaderValue::from_static("https://a.example")).write(&mut written);
        assert_eq!(written.get("access-control-allow-origin").unwrap(), "https://a.example");
        assert!(written.get("access-control-allow-credentials").is_none());
    }
}
