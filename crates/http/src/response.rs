//! Answers to requests that succeed.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use cicerone_domain::Error;
use cicerone_domain::idempotency::{KeptAnswer, Subject};
use serde::Serialize;

use crate::error::{RequestError, SHOULD_RETRY};

/// The result of a handler.
pub(crate) type Answer = Result<HttpResponse, RequestError>;

/// The media type of every body that is not a stream, metrics or a page.
pub(crate) const JSON: &str = "application/json";
/// The content type of pages.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// The usual size of a reply's JSON.
const REPLY_BYTES: usize = 2_000;

/// The JSON text of a view.
pub(crate) fn json_bytes(view: &impl Serialize) -> Vec<u8> {
    json_bytes_of(view, 512)
}

/// The same for a text that usually has `usual` bytes, for which there is room from the start.
fn json_bytes_of(view: &impl Serialize, usual: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(usual);
    write_json(&mut bytes, view);
    bytes
}

/// Writes the JSON text of a view to a target that cannot fail: a buffer or a counter.
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

/// 200 with the view as JSON.
pub(crate) fn ok(view: &impl Serialize) -> HttpResponse {
    json(json_bytes(view))
}

/// An answer that is stored under an idempotency key, to be sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredResponse {
    pub(crate) status: u16,
    /// The body's media type; `None` if there is no body.
    pub(crate) content_type: Option<String>,
    pub(crate) body: Vec<u8>,
    /// The resource that the body contains, if any.
    pub(crate) subject: Option<Subject>,
}

/// The status and the media type in a line, then the body.
impl From<StoredResponse> for KeptAnswer {
    fn from(response: StoredResponse) -> Self {
        let StoredResponse { status, content_type, mut body, subject } = response;
        let head = format!("{status} {}\n", content_type.unwrap_or_default());
        body.splice(..0, head.into_bytes());
        Self { content: body, is_refusal: status >= 400, subject }
    }
}

impl TryFrom<KeptAnswer> for StoredResponse {
    type Error = Error;

    fn try_from(kept: KeptAnswer) -> Result<Self, Error> {
        let KeptAnswer { mut content, is_refusal: _, subject } = kept;
        let damaged = || Error::internal("a stored answer does not begin with its status");
        let end = content.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let body = content.split_off(end + 1);
        let head = std::str::from_utf8(&content).map_err(|_| damaged())?.trim_end_matches('\n');
        let (status, media_type) = head.split_once(' ').ok_or_else(damaged)?;
        let status = status.parse().map_err(|_| damaged())?;
        let content_type = (!media_type.is_empty()).then(|| media_type.to_owned());
        Ok(Self { status, content_type, body, subject })
    }
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
        body: json_bytes_of(view, REPLY_BYTES),
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
    // Only conflicts that last are stored.
    if status == StatusCode::CONFLICT {
        response.insert_header((SHOULD_RETRY, "false"));
    }
    Ok(response.body(kept.body))
}

#[cfg(test)]
mod tests {
    use cicerone_domain::idempotency::{KeptAnswer, Subject};

    use super::StoredResponse;

    #[test]
    fn an_answer_that_was_kept_comes_back() {
        let json = Some("application/json".to_owned());
        for (status, content_type, body) in
            [(201, json.clone(), &b"{\"a\":\n1}"[..]), (204, None, b""), (404, json, b"{}")]
        {
            let subject = Some(Subject::of_account("key_1"));
            let response = StoredResponse { status, content_type, body: body.to_vec(), subject };
            let kept = KeptAnswer::from(response.clone());
            assert_eq!(kept.is_refusal, status == 404);
            assert_eq!(StoredResponse::try_from(kept).unwrap(), response);
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for content in ["", "200", "200 text/plain", "two text/plain\n", "200\n"] {
            let content = content.as_bytes().to_vec();
            let kept = KeptAnswer { content, is_refusal: false, subject: None };
            assert!(StoredResponse::try_from(kept).is_err());
        }
    }
}
