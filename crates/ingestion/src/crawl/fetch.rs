//! The interface to the network: one request, one response; redirects are not followed.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_domain::crawl::Validators;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

/// A request for the content of an address.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FetchRequest {
    /// The address to fetch, without a fragment.
    pub url: Url,
    /// The `Accept` header.
    pub accept: &'static str,
    /// The version that is already known, sent as `If-None-Match` and `If-Modified-Since`.
    pub validators: Validators,
    /// Whether the body of a successful response is wanted, by its `Content-Type`.
    pub wanted: fn(Option<&str>) -> bool,
    /// The most bytes of the body after decompression.
    pub limit: usize,
    /// What happens to a larger body.
    pub excess: Excess,
    /// A large body occupies one of these places while it is held.
    pub places: Arc<Semaphore>,
}

/// A larger body occupies one of the places for large ones.
pub(super) const LIGHT_BYTES: usize = 1_024 * 1_024;

/// What happens to a body beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// The request fails.
    Fail,
    /// The body is cut.
    Cut,
}

/// A response, with the headers that a crawl uses.
#[derive(Debug, Clone, Default)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The header `Location`, if there is one.
    pub location: Option<String>,
    /// The header `Content-Type`, with its parameters.
    pub content_type: Option<String>,
    /// The header `Retry-After`: seconds or a date.
    pub retry_after: Option<String>,
    /// `X-Robots-Tag`, each header's value.
    pub robots_tags: Vec<String>,
    /// `ETag` and `Last-Modified`.
    pub validators: Validators,
    /// The body, decompressed. `None` if the response is not a success or its body was not wanted.
    pub body: Option<Bytes>,
    /// The place that a large body occupies.
    pub place: Option<Arc<OwnedSemaphorePermit>>,
}

/// Why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FetchError {
    /// What happened, for the owner of the source.
    pub message: String,
    /// Whether trying again may help.
    pub is_transient: bool,
    /// Whether the cause is the site rather than the page: its name, its connection, its certificate.
    pub is_outage: bool,
}

/// Fetches untrusted addresses.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Sends a request and returns the response, even if it is a redirect. It has its own deadline; dropping the future
    /// ends the transfer.
    ///
    /// # Errors
    ///
    /// If there is no response.
    async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError>;
}
