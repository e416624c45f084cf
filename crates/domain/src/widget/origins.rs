//! The sites that may embed a widget.

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::error::Error;
use crate::{every_item, limits};

/// The origins that may use a widget, as browsers write them: `https://site.example`, `https://*.site.example` for every
/// subdomain, or `*` for any.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Origins(Vec<String>);

/// Stands for every origin.
const ANY: &str = "*";

impl Origins {
    /// Checks origins and writes them as browsers do. Each is kept once.
    ///
    /// # Errors
    ///
    /// Returns an error about every text that is not an origin, or if there are too many.
    pub fn parse(given: &[String]) -> Result<Self, Error> {
        if given.len() > limits::WIDGET_ORIGINS {
            let most = limits::WIDGET_ORIGINS;
            let message = format!("must have at most {most} items, not {}", given.len());
            return Err(Error::invalid("origins", message));
        }
        let parsed = every_item(given.iter().enumerate().map(|(index, text)| {
            parse(text).map_err(|message| Error::invalid(format!("origins[{index}]"), message))
        }))?;
        let mut origins = Vec::with_capacity(parsed.len());
        for origin in parsed {
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        Ok(Self(origins))
    }

    /// In the order in which they were given; `*` stands for every origin.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Whether a page of `origin`, as a browser sends it, may use the widget.
    pub fn allow(&self, origin: &str) -> bool {
        self.0.iter().any(|allowed| allows(allowed, origin))
    }

    /// The value of the directive `frame-ancestors`: this server and the origins.
    pub fn frame_ancestors(&self) -> String {
        let ours = std::iter::once("'self'");
        ours.chain(self.0.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
    }
}

fn allows(allowed: &str, origin: &str) -> bool {
    if allowed == ANY || allowed == origin {
        return true;
    }
    let Some((scheme, site)) = allowed.split_once("://*") else { return false };
    let host = origin.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://"));
    let Some(subdomain) = host.and_then(|host| host.strip_suffix(site)) else { return false };
    !subdomain.is_empty() && subdomain.bytes().all(is_of_name)
}

/// Whether a byte can be one of a host's name.
const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

/// The origin as browsers write it. The error is the requirement.
fn parse(text: &str) -> Result<String, String> {
    let invalid = || {
        "must be an origin such as `https://site.example` or `https://*.site.example`, without a path, or `*`".to_owned()
    };
    if text == ANY {
        return Ok(text.to_owned());
    }
    if text.len() > limits::WIDGET_ORIGIN_BYTES {
        return Err(format!("must be at most {} bytes", limits::WIDGET_ORIGIN_BYTES));
    }
    let (scheme, rest) = text.split_once("://").ok_or_else(invalid)?;
    let (is_wild, host) = rest.strip_prefix("*.").map_or((false, rest), |host| (true, host));
    if host.is_empty() || host.contains(['/', '\\', '?', '#', '@', '*', ' ', '\t', '\n', '\r']) {
        return Err(invalid());
    }
    let url = Url::parse(&format!("{scheme}://{host}")).map_err(|_| invalid())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must begin with `https://` or `http://`".to_owned());
    }
    match (url.host(), is_wild) {
        // Other characters that an address may contain would end the policy in which the origin is written.
        (Some(Host::Domain(name)), _) if name.bytes().all(is_of_name) => {}
        (Some(Host::Ipv4(_) | Host::Ipv6(_)), false) => {}
        (Some(Host::Domain(_)), _) | (Some(Host::Ipv4(_) | Host::Ipv6(_)), true) | (None, _) => {
            return Err(invalid());
        }
    }
    let origin = url.origin().ascii_serialization();
    Ok(if is_wild { origin.replacen("://", "://*.", 1) } else { origin })
}

#[cfg(test)]
mod tests {
    use super::Origins;

    fn parse(texts: &[&str]) -> Result<Origins, String> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        Origins::parse(&texts).map_err(|error| error.to_string())
    }

    #[test]
    fn origins_are_written_as_browsers_write_them() {
        let given = [
            "HTTPS://Bücher.Example:443",
            "http://site.example:8080",
            "https://*.Site.example",
            "*",
        ];
        let stored = parse(&given).unwrap();
        assert_eq!(
            stored.as_slice(),
            [
                "https://xn--bcher-kva.example",
                "http://site.example:8080",
                "https://*.site.example",
                "*"
            ]
        );
        assert_eq!(parse(&["https://a.example", "https://A.example"]).unwrap().as_slice().len(), 1);
        assert_eq!(parse(&["http://[::1]:81"]).unwrap().as_slice(), ["http://[::1]:81"]);
    }

    #[test]
    fn what_is_not_an_origin_is_refused() {
        for text in [
            "",
            "site.example",
            "https://",
            "https://site.example/",
            "https://site.example/a",
            "https://user@site.example",
            "ftp://site.example",
            "https://*",
            "https://*.",
            "https://a.*.example",
            "https://*.10.0.0.1",
            "null",
            "https://site.example?x",
            "*.example",
            "https://a b.example",
            "https://site.example:99999",
            "https://a\\b",
            "https://a.example;sandbox",
            "https://*.a.example;sandbox",
            "https://a.example%3Bsandbox",
            "https://a.example,b.example",
            "https://'none'",
            "https://a\"b",
        ] {
            let error = parse(&["*", text]).expect_err(text);
            assert!(error.starts_with("`origins[1]` must"), "{text}: {error}");
        }
        assert!(parse(&["*"; 21]).is_err());
    }

    #[test]
    fn an_origin_is_allowed_exactly_or_as_a_subdomain() {
        let origins = parse(&["https://site.example", "https://*.shop.example:8443"]).unwrap();
        for allowed in
            ["https://site.example", "https://a.shop.example:8443", "https://a.b.shop.example:8443"]
        {
            assert!(origins.allow(allowed), "{allowed}");
        }
        for foreign in [
            "null",
            "",
            "http://site.example",
            "https://site.example:444",
            "https://site.example.evil",
            "https://a.site.example",
            "https://shop.example:8443",
            "https://.shop.example:8443",
            "https://.shop.example:8443/",
            "https://a.shop.example",
            "https://evilshop.example:8443",
            "https://evil/.shop.example:8443",
            "https://evil@a.shop.example:8443",
            "http://a.shop.example:8443",
        ] {
            assert!(!origins.allow(foreign), "{foreign}");
        }
        assert!(parse(&["*"]).unwrap().allow("https://any.example"));
        assert!(!Origins::default().allow("https://any.example"));
        assert_eq!(
            origins.frame_ancestors(),
            "'self' https://site.example https://*.shop.example:8443"
        );
    }
}
