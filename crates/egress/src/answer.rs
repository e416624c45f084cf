//! A response whose body is read as far as the caller wants.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use reqwest::{Response, StatusCode};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::error::EgressError;

/// A response. Dropping it ends the transfer.
#[derive(Debug)]
pub struct Answer {
    /// The address that responded: that of the last hop.
    pub url: Url,
    /// The HTTP status of the last hop.
    pub status: StatusCode,
    /// The headers, without `Content-Encoding` and `Content-Length` if the body is decompressed.
    pub headers: HeaderMap,
    body: Response,
    deadline: Instant,
}

impl Answer {
    pub(crate) fn new(mut response: Response, url: Url, deadline: Instant) -> Self {
        let headers = std::mem::take(response.headers_mut());
        Self { url, status: response.status(), headers, body: response, deadline }
    }

    /// The next chunk of the body, decompressed; `None` at its end.
    ///
    /// # Errors
    ///
    /// [`EgressError::Timeout`] if the request's time is over or nothing arrived within the read timeout;
    /// [`EgressError::Broken`] and [`EgressError::Encoding`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, EgressError> {
        self.check_encoding()?;
        let chunk = timeout_at(self.deadline, self.body.chunk()).await;
        Ok(chunk.map_err(|_| EgressError::Timeout)??)
    }

    /// The whole body, decompressed. Reading stops at the first byte over `limit`.
    ///
    /// # Errors
    ///
    /// [`EgressError::TooLarge`], and those of [`Answer::chunk`].
    pub async fn bytes(mut self, limit: usize) -> Result<Bytes, EgressError> {
        self.check_announced(limit)?;
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            if chunk.len() > limit - whole.len() {
                return Err(EgressError::TooLarge { limit });
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.freeze())
    }

    /// Refuses a body whose `Content-Length` is larger than `limit`.
    ///
    /// # Errors
    ///
    /// [`EgressError::TooLarge`].
    pub fn check_announced(&self, limit: usize) -> Result<(), EgressError> {
        let announced = self.body.content_length().unwrap_or_default();
        if usize::try_from(announced).is_ok_and(|announced| announced <= limit) {
            return Ok(());
        }
        Err(EgressError::TooLarge { limit })
    }

    /// The time that the request has left.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// An encoding that is still in the headers was not requested and is not decoded.
    fn check_encoding(&self) -> Result<(), EgressError> {
        match self.headers.get(CONTENT_ENCODING) {
            Some(encoding) if !matches!(encoding.as_bytes(), b"" | b"identity") => {
                Err(EgressError::Encoding(format!("the encoding is {encoding:?}").into()))
            }
            Some(_) | None => Ok(()),
        }
    }
}
