//! One request.

use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{
    AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHORIZATION,
};
use url::Url;

/// A request to an untrusted address.
#[derive(Debug, Clone)]
pub struct Request {
    /// GET or POST.
    pub method: Method,
    /// The address; it is checked when the request is sent.
    pub url: Url,
    /// Headers in addition to `User-Agent`, `Accept-Encoding` and those that HTTP needs. Headers with credentials, or
    /// with a value marked as sensitive, are not sent to another origin.
    pub headers: HeaderMap,
    /// Sent with `Content-Length`; `None` for no body.
    pub body: Option<Bytes>,
    /// The time limit for the whole request: all hops, from resolving the name to the last byte of the body.
    pub total: Duration,
    /// Whether only ranges that the operator allows are accepted, even for public addresses.
    pub allowed_only: bool,
}

impl Request {
    /// The default time limit of a request.
    pub const TOTAL: Duration = Duration::from_secs(30);

    /// A request with a method, without headers and body.
    #[must_use]
    pub fn new(method: Method, url: Url) -> Self {
        Self {
            method,
            url,
            headers: HeaderMap::new(),
            body: None,
            total: Self::TOTAL,
            allowed_only: false,
        }
    }

    /// A GET request with the default time limit and no further headers.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self::new(Method::GET, url)
    }

    /// A POST request with the default time limit; the caller sets its `Content-Type`.
    #[must_use]
    pub fn post(url: Url, body: impl Into<Bytes>) -> Self {
        Self { body: Some(body.into()), ..Self::new(Method::POST, url) }
    }

    /// Sets a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the time limit for the whole request.
    #[must_use]
    pub fn with_total(self, total: Duration) -> Self {
        Self { total, ..self }
    }

    /// Restricts the request to ranges that the operator allows, even for public addresses: for content that should not
    /// be sent across the internet.
    #[must_use]
    pub fn within_allowed(self) -> Self {
        Self { allowed_only: true, ..self }
    }

    /// The same request for another address, without credentials if the origin differs.
    pub(crate) fn redirected(mut self, to: Url) -> Self {
        if self.url.origin() != to.origin() {
            let headers = self.headers.drain();
            self.headers = keep_plain(headers);
        }
        Self { url: to, ..self }
    }
}

fn keep_plain(headers: impl Iterator<Item = (Option<HeaderName>, HeaderValue)>) -> HeaderMap {
    let mut kept = HeaderMap::new();
    let mut current = None;
    for (name, value) in headers {
        // Further values of the same header have no name.
        current = name.or(current);
        let Some(name) = &current else { continue };
        let is_secret =
            value.is_sensitive() || [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name);
        if !is_secret {
            kept.append(name, value);
        }
    }
    kept
}
