//! Reads JSON bodies, within their size and time.

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header;
use actix_web::web::Bytes;
use actix_web::{HttpMessage as _, HttpRequest};
use cicerone_domain::{Error, limits};
use futures_util::StreamExt as _;

use crate::context::{Incoming, Shared};
use crate::failure::Failure;
use crate::fields::Fields;
use crate::response::JSON;

/// A JSON body: its fields to read, its bytes for the fingerprint.
#[derive(Debug)]
pub(crate) struct JsonBody {
    /// The fields.
    pub(crate) fields: Fields,
    /// The bytes as they came.
    pub(crate) bytes: Bytes,
}

impl Incoming {
    /// A JSON object. No body at all is refused like any other that is none.
    pub(crate) async fn json(&mut self, app: &Shared) -> Result<JsonBody, Failure> {
        let bytes = self.bytes(app.settings.body_deadline).await?;
        let is_json = self.request.content_type().trim().eq_ignore_ascii_case(JSON);
        if !bytes.is_empty() && (!is_json || is_encoded(&self.request)) {
            return Err(Failure::MediaType { expected: JSON });
        }
        Ok(JsonBody { fields: Fields::parse(&bytes)?, bytes })
    }

    /// The body of a request that needs none, for its fingerprint.
    pub(crate) async fn any_body(&mut self, app: &Shared) -> Result<Bytes, Failure> {
        self.bytes(app.settings.body_deadline).await
    }

    async fn bytes(&mut self, deadline: Duration) -> Result<Bytes, Failure> {
        if declared_length(&self.request).is_some_and(|length| length > limits::BODY_BYTES) {
            return Err(Failure::BodyTooLarge);
        }
        let read = read(&mut self.payload);
        tokio::time::timeout(deadline, read).await.unwrap_or_else(|_| Err(too_slow().into()))
    }
}

/// The refusal of a body that stalls.
pub(crate) fn too_slow() -> Error {
    Error::invalid("body", "did not arrive in time")
}

/// The refusal of a body that breaks off or is not framed as HTTP asks.
pub(crate) fn broken_off() -> Error {
    Error::invalid("body", "breaks off, or is not what its `Content-Type` says")
}

/// The length that the head declares.
pub(crate) fn declared_length(request: &HttpRequest) -> Option<usize> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether the body is sent compressed, which no route reads.
pub(crate) fn is_encoded(request: &HttpRequest) -> bool {
    let coding = request.headers().get(header::CONTENT_ENCODING);
    coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

async fn read(payload: &mut Payload) -> Result<Bytes, Failure> {
    let Some(first) = payload.next().await else { return Ok(Bytes::new()) };
    let first = first.map_err(|_| broken_off())?;
    let Some(second) = payload.next().await else { return Ok(first) };
    let mut whole = Vec::from(first);
    let mut next = Some(second);
    while let Some(chunk) = next {
        whole.extend_from_slice(&chunk.map_err(|_| broken_off())?);
        if whole.len() > limits::BODY_BYTES {
            return Err(Failure::BodyTooLarge);
        }
        next = payload.next().await;
    }
    Ok(Bytes::from(whole))
}
