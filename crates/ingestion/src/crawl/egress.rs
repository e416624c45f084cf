//! Fetches through the guarded client.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use cicerone_domain::crawl::Validators;
use cicerone_egress::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use cicerone_egress::{
    Answer, Egress, EgressError, EgressSettings, IpNet, Request, SetupError, SystemResolver,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::fetch::{Excess, Fetch, FetchError, FetchRequest, Fetched, LIGHT_BYTES};

/// The bytes that are percent-encoded in an address that is not UTF-8: only those outside ASCII.
const BEYOND_ASCII: &percent_encoding::AsciiSet = &percent_encoding::AsciiSet::EMPTY;
/// Longest `ETag` that is kept.
const VALIDATOR_CHARS: usize = 256;
/// The longest target of a redirect. Servers accept hardly longer lines, and it is compared with the rules of `robots.txt`.
const LOCATION_BYTES: usize = 8 * 1_024;

/// The guarded client, adapted for crawls.
#[derive(Debug, Clone)]
pub struct EgressFetch {
    egress: Egress,
}

impl EgressFetch {
    /// Fetches through this client.
    pub const fn new(egress: Egress) -> Self {
        Self { egress }
    }

    /// A fetcher with its own client, which may request public addresses and those of these
    /// networks.
    ///
    /// # Errors
    ///
    /// If the client cannot be made.
    pub fn open(allow: impl IntoIterator<Item = IpNet>) -> Result<Self, SetupError> {
        let allow = allow.into_iter().collect();
        let settings = EgressSettings { allow, ..EgressSettings::default() };
        Egress::new(settings, Arc::new(SystemResolver)).map(Self::new)
    }
}

#[async_trait]
impl Fetch for EgressFetch {
    async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        let FetchRequest { url, accept, validators, wanted, limit, excess, places } = request;
        let mut outgoing = Request::get(url).with_header(ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in
            [(IF_NONE_MATCH, validators.etag), (IF_MODIFIED_SINCE, validators.last_modified)]
        {
            // It arrived in a header, so it can be sent in one.
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
                outgoing = outgoing.with_header(name, value);
            }
        }
        let answer = self.egress.send(outgoing).await?;
        let mut fetched = head(&answer);
        if answer.status.is_success() && wanted(fetched.content_type.as_deref()) {
            let (body, place) = body(answer, limit, excess, places).await?;
            fetched.body = Some(body);
            fetched.place = place;
        }
        Ok(fetched)
    }
}

fn head(answer: &Answer) -> Fetched {
    let one = |name| text(&answer.headers, name).next();
    let location = answer.headers.get(LOCATION).map(HeaderValue::as_bytes);
    let validator = |name| one(name).filter(|value: &String| value.len() <= VALIDATOR_CHARS);
    Fetched {
        status: answer.status.as_u16(),
        location: location.filter(|value| value.len() <= LOCATION_BYTES).map(address),
        content_type: one(CONTENT_TYPE),
        retry_after: one(RETRY_AFTER),
        robots_tags: text(&answer.headers, HeaderName::from_static("x-robots-tag")).collect(),
        validators: Validators { etag: validator(ETAG), last_modified: validator(LAST_MODIFIED) },
        body: None,
        place: None,
    }
}

/// An address from a header. Bytes that are not UTF-8 are encoded one by one, as browsers do.
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

/// A body, and the place that it occupies if it is large.
type Held = (Bytes, Option<Arc<OwnedSemaphorePermit>>);

/// The body of a response, decompressed. After [`LIGHT_BYTES`], reading continues as soon as there is a place for a
/// large body.
async fn body(
    mut answer: Answer,
    limit: usize,
    excess: Excess,
    places: Arc<Semaphore>,
) -> Result<Held, EgressError> {
    if excess == Excess::Fail {
        answer.check_announced(limit)?;
    }
    let (mut whole, mut place) = (BytesMut::new(), None);
    while let Some(chunk) = answer.chunk().await? {
        let room = limit - whole.len();
        if chunk.len() > room && excess == Excess::Fail {
            return Err(EgressError::TooLarge { limit });
        }
        if whole.len() + chunk.len() > LIGHT_BYTES && place.is_none() {
            let wait =
                tokio::time::timeout(answer.time_left(), Arc::clone(&places).acquire_owned());
            let permit = wait.await.map_err(|_| EgressError::Timeout)?;
            place = permit.ok().map(Arc::new);
            // Memory that is not written is not used; growing by doubling would use more.
            whole.reserve(limit - whole.len());
        }
        whole.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if whole.len() >= limit && excess == Excess::Cut {
            break;
        }
    }
    Ok((whole.freeze(), place))
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
