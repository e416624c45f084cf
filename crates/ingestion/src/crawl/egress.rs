//! Fetching through the guarded client.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use cicerone_domain::crawl::Validators;
use cicerone_egress::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use cicerone_egress::{Answer, Egress, EgressError, Request};

use super::fetch::{Excess, Fetch, FetchError, FetchRequest, Fetched};

/// What is encoded in an address that is no UTF-8: nothing of ASCII.
const BEYOND_ASCII: &percent_encoding::AsciiSet = &percent_encoding::AsciiSet::EMPTY;
/// Longest `ETag` that is kept.
const VALIDATOR_CHARS: usize = 1_024;

/// The guarded client as a crawl uses it.
#[derive(Debug, Clone)]
pub struct EgressFetch {
    egress: Egress,
}

impl EgressFetch {
    /// Fetches through this client.
    pub const fn new(egress: Egress) -> Self {
        Self { egress }
    }
}

#[async_trait]
impl Fetch for EgressFetch {
    async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        let FetchRequest { url, accept, validators, wanted, limit, excess } = request;
        let mut outgoing = Request::get(url).with_header(ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in
            [(IF_NONE_MATCH, validators.etag), (IF_MODIFIED_SINCE, validators.last_modified)]
        {
            // What came as a header goes as one.
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                outgoing = outgoing.with_header(name, value);
            }
        }
        let answer = self.egress.send(outgoing).await?;
        let mut fetched = head(&answer);
        if answer.status.is_success() && wanted(fetched.content_type.as_deref()) {
            fetched.body = Some(match excess {
                Excess::Fail => answer.bytes(limit).await?,
                Excess::Cut => start_of(answer, limit).await?,
            });
        }
        Ok(fetched)
    }
}

fn head(answer: &Answer) -> Fetched {
    let one = |name| text(&answer.headers, name).next();
    let validator = |name| one(name).filter(|value: &String| value.len() <= VALIDATOR_CHARS);
    Fetched {
        status: answer.status.as_u16(),
        location: answer.headers.get(LOCATION).map(|value| address(value.as_bytes())),
        content_type: one(CONTENT_TYPE),
        retry_after: one(RETRY_AFTER),
        robots_tags: text(&answer.headers, HeaderName::from_static("x-robots-tag")).collect(),
        validators: Validators { etag: validator(ETAG), last_modified: validator(LAST_MODIFIED) },
        body: None,
    }
}

/// An address of a header. Bytes that are no UTF-8 are taken as browsers do, one by one.
fn address(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => percent_encoding::percent_encode(bytes, BEYOND_ASCII).to_string(),
    }
}

/// The values of a header that are text.
fn text(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = String> {
    let values = headers.get_all(name).into_iter();
    values.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok().map(str::to_owned))
}

async fn start_of(mut answer: Answer, limit: usize) -> Result<Bytes, EgressError> {
    let mut start = BytesMut::new();
    while start.len() < limit
        && let Some(chunk) = answer.chunk().await?
    {
        start.extend_from_slice(&chunk);
    }
    start.truncate(limit);
    Ok(start.freeze())
}

impl From<EgressError> for FetchError {
    fn from(error: EgressError) -> Self {
        let is_outage =
            error.is_transient() || matches!(error, EgressError::Dns { .. } | EgressError::Tls(_));
        Self { message: error.to_string(), is_transient: error.is_transient(), is_outage }
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_of_a_header_is_taken_as_browsers_take_it() {
        assert_eq!(address("/café".as_bytes()), "/café");
        assert_eq!(address(b"/caf\xe9?a=b%20c"), "/caf%E9?a=b%20c");
    }
}
