//! Which hosts a request to the MCP interface may name.
//!
//! A web page can cause a browser on the operator's network to send requests to this server under a name that resolves
//! to the server's address (DNS rebinding). The protocol therefore requires servers to check `Origin`; `Host` is
//! checked too.

use actix_web::http::Uri;
use actix_web::http::header::{HOST, HeaderMap, HeaderName, ORIGIN};
use cicerone_domain::PublicUrl;
use cicerone_domain::content::cut_at_word;

use crate::error::RequestError;

/// The hosts that are always allowed: those of this machine.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
/// The entry of the list that allows every host.
const ANY: &str = "*";
/// Characters of a refused host that the refusal repeats.
const SHOWN_CHARS: usize = 100;

/// A host in lower case, and its port.
type HostAndPort = (String, Option<u16>);

/// Settings of the MCP interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSettings {
    /// Whether it is served.
    pub is_enabled: bool,
    /// Hosts in addition to those of this machine that `Host` and `Origin` may name, in lower case and without a
    /// port; `*` for any.
    hosts: Vec<String>,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self { is_enabled: true, hosts: Vec::new() }
    }
}

/// A text that is not a host.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("has the entry `{0}`, which is neither a host name or address without a port nor `*`")]
pub struct ParseHostError(String);

impl McpSettings {
    /// Settings that allow these hosts, and that of the server's public address, in addition to those of this
    /// machine; `*` for any.
    ///
    /// # Errors
    ///
    /// One of them is not the name or address of a host.
    pub fn new(
        is_enabled: bool,
        hosts: &[String],
        public_url: Option<&PublicUrl>,
    ) -> Result<Self, ParseHostError> {
        let parse = |text: &String| match host_of(text) {
            _ if text == ANY => Ok(ANY.to_owned()),
            Some((host, None)) if !host.contains(ANY) => Ok(host),
            Some(_) | None => Err(ParseHostError(text.clone())),
        };
        let mut hosts: Vec<String> = hosts.iter().map(parse).collect::<Result<_, _>>()?;
        let public = public_url.and_then(|url| url.as_str().parse::<Uri>().ok());
        hosts.extend(public.and_then(|url| url.host().map(str::to_ascii_lowercase)));
        Ok(Self { is_enabled, hosts })
    }

    /// Checks every host that a request names: in `Host`, in its address if that is absolute, and in `Origin`.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), RequestError> {
        let mut named = 0_usize;
        for value in headers.get_all(HOST) {
            named += 1;
            self.check_one(&HOST, value.to_str().ok(), host_of)?;
        }
        if let Some(authority) = uri.authority() {
            named += 1;
            self.check_one(&HOST, Some(authority.as_str()), host_of)?;
        }
        if named == 0 {
            self.check_one(&HOST, None, host_of)?;
        }
        for value in headers.get_all(ORIGIN) {
            self.check_one(&ORIGIN, value.to_str().ok(), host_of_origin)?;
        }
        Ok(())
    }

    fn check_one(
        &self,
        header: &HeaderName,
        value: Option<&str>,
        parse: fn(&str) -> Option<HostAndPort>,
    ) -> Result<(), RequestError> {
        let allowed = |host: &str| self.hosts.iter().any(|other| other == host);
        let host = value.and_then(parse).map(|(host, _)| host);
        if allowed(ANY) || host.is_some_and(|host| LOCAL.contains(&&*host) || allowed(&host)) {
            return Ok(());
        }
        let shown = cut_at_word(value.unwrap_or_default(), SHOWN_CHARS).into_owned();
        let header = if *header == ORIGIN { "Origin" } else { "Host" };
        Err(RequestError::Host { header, value: shown })
    }
}

/// The host and port of an authority such as `docs.example:8080` or `[::1]`, in lower case.
fn host_of(authority: &str) -> Option<HostAndPort> {
    let authority: http::uri::Authority = authority.parse().ok()?;
    let host = authority.host();
    let rest = authority.as_str().strip_prefix(host)?;
    // Credentials are no part of a host, and a port is a number.
    let port = match rest.strip_prefix(':') {
        Some(port) => Some(port.parse().ok()?),
        None if rest.is_empty() => None,
        None => return None,
    };
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), port))
}

/// The host and port of an origin such as `https://docs.example`.
fn host_of_origin(origin: &str) -> Option<HostAndPort> {
    let (scheme, authority) = origin.split_once("://")?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    host_of(authority).filter(|_| is_web)
}

#[cfg(test)]
mod tests {
    use actix_web::http::Uri;
    use actix_web::http::header::{HOST, HeaderMap, HeaderValue, ORIGIN};

    use super::McpSettings;
    use cicerone_domain::PublicUrl;

    fn settings(hosts: &[&str]) -> McpSettings {
        let hosts: Vec<_> = hosts.iter().map(|host| (*host).to_owned()).collect();
        McpSettings::new(true, &hosts, None).unwrap()
    }

    fn is_allowed(settings: &McpSettings, hosts: &[&str], origins: &[&str], uri: &str) -> bool {
        let mut headers = HeaderMap::new();
        for host in hosts {
            headers.append(HOST, HeaderValue::from_str(host).unwrap());
        }
        for origin in origins {
            headers.append(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        settings.check(&headers, &uri.parse::<Uri>().unwrap()).is_ok()
    }

    #[test]
    fn this_machine_and_the_listed_hosts_are_allowed_with_any_port() {
        let settings = settings(&["Docs.Example", "10.0.0.5", "[fe80::1]"]);
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8080",
            "[::1]:8080",
            "docs.example",
            "DOCS.example:443",
            "10.0.0.5",
            "[fe80::1]:1",
        ] {
            assert!(is_allowed(&settings, &[host], &[], "/"), "{host}");
            let origin = format!("https://{host}");
            assert!(is_allowed(&settings, &["localhost"], &[&origin], "/"), "{origin}");
        }
    }

    #[test]
    fn any_other_host_is_refused_wherever_it_is_named() {
        let settings = settings(&["docs.example"]);
        for host in [
            "",
            "evil.example",
            "docs.example.evil.example",
            "evil.example#docs.example",
            "docs.example@evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "localhost.",
            "127.0.0.1.evil.example",
            "127.0.0.2",
            "::1",
            "*",
            "docs.example:port",
            "docs.example:99999",
        ] {
            assert!(!is_allowed(&settings, &[host], &[], "/"), "{host}");
            assert!(!is_allowed(&settings, &["localhost", host], &[], "/"), "a second {host}");
            let origin = format!("https://{host}");
            assert!(!is_allowed(&settings, &["localhost"], &[&origin], "/"), "{origin}");
        }
        for origin in ["null", "", "localhost", "file://localhost", "https://localhost/path"] {
            assert!(!is_allowed(&settings, &["localhost"], &[origin], "/"), "{origin}");
        }
        let both = ["http://localhost", "http://evil.example"];
        assert!(!is_allowed(&settings, &["localhost"], &both, "/"));
        assert!(!is_allowed(&settings, &["localhost"], &[], "http://evil.example/"));
        assert!(!is_allowed(&settings, &[], &[], "/"), "no host at all");
    }

    #[test]
    fn the_host_of_the_public_address_is_allowed() {
        let public = PublicUrl::parse("https://Docs.Example:8443/cicerone").unwrap();
        let settings = McpSettings::new(true, &[], Some(&public)).unwrap();
        assert!(is_allowed(&settings, &["docs.example"], &["https://docs.example"], "/"));
        assert!(!is_allowed(&settings, &["example"], &[], "/"));
    }

    #[test]
    fn a_star_allows_everything() {
        let settings = settings(&["*"]);
        assert!(is_allowed(&settings, &["evil.example"], &["null"], "/"));
        assert!(is_allowed(&settings, &[], &[], "/"));
    }

    #[test]
    fn an_entry_is_a_host_without_scheme_port_and_path() {
        for bad in ["", " ", "https://a.example", "a.example:80", "a.example/b", "*.example", "a b"]
        {
            let error = McpSettings::new(true, &[bad.to_owned()], None).unwrap_err();
            assert!(error.to_string().contains(&format!("`{bad}`")), "{error}");
        }
    }
}
