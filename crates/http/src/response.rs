//! Answers to requests that succeed.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use cicerone_domain::idempotency::{StoredResponse, Subject};
use serde::Serialize;

use crate::error::RequestError;

/// The result of a handler.
pub(crate) type Answer = Result<HttpResponse, RequestError>;

/// The media type of every body that is not a stream, metrics or a page.
pub(crate) const JSON: &str = "application/json";

/// The JSON text of a view.
pub(crate) fn json_bytes(view: &impl Serialize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(512);
    write_json(&mut bytes, view);
    bytes
}

/// Writes the JSON text of a view to a target that accepts every byte: a buffer or a counter.
#[expect(
    clippy::expect_used,
    reason = "views hold text, numbers and moments of this age, with text as keys: none of these \
              can fail to serialise, and `target` takes what it is given"
)]
pub(crate) fn write_json(target: &mut impl Write, view: &impl Serialize) {
    serde_json::to_writer(target, view).expect("a view serialises");
}

/// The length of the JSON text of a view, in bytes.
pub(crate) fn json_length(view: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    write_json(&mut counter, view);
    counter.0
}

struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// 200 with a view.
pub(crate) fn ok(view: &impl Serialize) -> HttpResponse {
    json(json_bytes(view))
}

/// 200 with JSON text.
pub(crate) fn json(body: Vec<u8>) -> HttpResponse {
    HttpResponse::Ok().content_type(JSON).body(body)
}

/// The answer to a request that changed something, in the form in which it is stored under the idempotency key.
pub(crate) fn keep(
    status: StatusCode,
    view: &impl Serialize,
    subject: Option<Subject>,
) -> StoredResponse {
    StoredResponse {
        status: status.as_u16(),
        content_type: Some(JSON.to_owned()),
        body: json_bytes(view),
        subject,
    }
}

/// 204, the answer to every deletion.
pub(crate) fn keep_nothing<T>(_: &T) -> StoredResponse {
    let status = StatusCode::NO_CONTENT.as_u16();
    StoredResponse { status, content_type: None, body: Vec::new(), subject: None }
}

/// Turns a stored answer into one that is sent.
pub(crate) fn send(kept: StoredResponse) -> Answer {
    let status = StatusCode::from_u16(kept.status).map_err(cicerone_domain::Error::internal)?;
    let mut response = HttpResponse::build(status);
    if let Some(media_type) = kept.content_type {
        response.insert_header((header::CONTENT_TYPE, media_type));
    }
    Ok(response.body(kept.body))
}
