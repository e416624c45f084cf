//! Files that are the same for every caller: each is in memory once, and is compressed once.

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, VARY};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;

use crate::compression::{Effort, gzip, prefers_gzip};

/// Marks an answer that is the same for every caller: no memory is reserved for it.
pub(crate) struct SharedByAll;

/// A file that is the same for every caller.
pub(crate) struct Asset {
    content_type: Cow<'static, str>,
    plain: Bytes,
    gzip: Option<Bytes>,
}

impl Asset {
    /// A file with this content.
    pub(crate) fn new(content_type: impl Into<Cow<'static, str>>, plain: Bytes) -> Arc<Self> {
        Self::of(content_type, plain, Effort::Kept)
    }

    /// A file with this content, compressed with this effort.
    pub(crate) fn of(
        content_type: impl Into<Cow<'static, str>>,
        plain: Bytes,
        effort: Effort,
    ) -> Arc<Self> {
        let gzip = gzip(&plain, effort);
        Arc::new(Self { content_type: content_type.into(), plain, gzip })
    }

    /// The content, without compression.
    #[cfg(test)]
    pub(crate) fn plain(&self) -> &Bytes {
        &self.plain
    }

    /// An answer with the content, compressed if the client prefers that, and with these headers.
    pub(crate) fn answer(
        &self,
        request: &HttpRequest,
        headers: &[(HeaderName, &str)],
    ) -> HttpResponse {
        let mut response = HttpResponse::Ok();
        response.insert_header((CONTENT_TYPE, self.content_type.as_ref()));
        response.insert_header((VARY, HeaderValue::from_static("accept-encoding")));
        for header in headers {
            response.insert_header(header.clone());
        }
        let mut response = match self.gzip.as_ref().filter(|_| prefers_gzip(request)) {
            Some(gzip) => {
                response.insert_header((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
                response.body(gzip.clone())
            }
            None => response.body(self.plain.clone()),
        };
        response.extensions_mut().insert(SharedByAll);
        response
    }
}
