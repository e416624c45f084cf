//! Answers to requests that succeed.

use std::io::Write;

use actix_web::HttpResponse;
use actix_web::http::{StatusCode, header};
use cicerone_domain::idempotency::{KeptAnswer, Subject};
use cicerone_domain::{Error, Id, Source, SourceContent, kind};
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
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredResponse {
    pub(crate) status: u16,
    /// The body's media type; `None` if there is no body.
    pub(crate) content_type: Option<String>,
    /// The body, in which a quoted content is empty.
    pub(crate) body: Vec<u8>,
    /// The resource that the body contains, if any.
    pub(crate) subject: Option<Subject>,
    pub(crate) quote: Option<Quote>,
}

/// The content of a source in a response. It may have megabytes, so it is not stored with the response. When the response
/// is sent again, the content is read again, as of that time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quote {
    pub(crate) source: Id<kind::Source>,
    /// The bytes of the content, by which it is recognised: see [`SourceContent::as_of`].
    pub(crate) bytes: usize,
    /// The content; `None` if it was not read.
    pub(crate) content: Option<SourceContent>,
}

/// The place of a quoted content in a body. Only the id and the type of the source precede it.
const PLACE: &str = "\"content\":\"\"";

impl Quote {
    /// The quote of a source's content, if that may be large.
    pub(crate) fn of(source: &Source) -> Option<Self> {
        let (content, bytes) = (&source.content, source.content.bytes());
        let content = match content {
            SourceContent::Website { .. } | SourceContent::File(_) => return None,
            SourceContent::Text(_) | SourceContent::Qa(_) => Some(content.clone()),
            SourceContent::Unread { .. } => None,
        };
        Some(Self { source: source.id, bytes, content })
    }

    /// The body with the content in its place.
    fn fill(self, body: &[u8]) -> Result<Vec<u8>, Error> {
        let unread = || Error::internal("an answer is sent without the content that it quotes");
        let content = self.content.ok_or_else(unread)?;
        let place = body.windows(PLACE.len()).position(|text| text == PLACE.as_bytes());
        let damaged = || Error::internal("an answer has no place for the content that it quotes");
        // The place ends with `""`, which the quoted JSON string replaces.
        let at = place.ok_or_else(damaged)? + PLACE.len();
        let (before, after) = body.split_at_checked(at).ok_or_else(damaged)?;
        let before = before.strip_suffix(b"\"\"").ok_or_else(damaged)?;
        let mut filled = Vec::with_capacity(body.len() + self.bytes + self.bytes / 8);
        filled.extend_from_slice(before);
        write_json(&mut filled, &content.as_text());
        filled.extend_from_slice(after);
        Ok(filled)
    }
}

/// The status, the media type, and the bytes of a quoted content in a line, then the body.
impl From<StoredResponse> for KeptAnswer {
    fn from(response: StoredResponse) -> Self {
        let StoredResponse { status, content_type, mut body, subject, quote } = response;
        let quoted = quote.map(|quote| format!(" {}", quote.bytes)).unwrap_or_default();
        let head = format!("{status} {}{quoted}\n", content_type.unwrap_or_default());
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
        let (media_type, quoted) = match media_type.rsplit_once(' ') {
            Some((media_type, bytes)) => match bytes.parse() {
                Ok(bytes) => (media_type, Some(bytes)),
                Err(_) => return Err(damaged()),
            },
            None => (media_type, None),
        };
        let quote = match (quoted, &subject) {
            (None, _) => None,
            (Some(bytes), Some(subject)) => Some(Quote {
                source: subject.id.parse().map_err(|_| damaged())?,
                bytes,
                content: None,
            }),
            (Some(_), None) => return Err(damaged()),
        };
        let content_type = (!media_type.is_empty()).then(|| media_type.to_owned());
        Ok(Self { status, content_type, body, subject, quote })
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
        quote: None,
    }
}

/// 204, the answer to every deletion.
pub(crate) fn keep_nothing<T>(_: &T) -> StoredResponse {
    let status = StatusCode::NO_CONTENT.as_u16();
    StoredResponse { status, content_type: None, body: Vec::new(), subject: None, quote: None }
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
    let body = match kept.quote {
        Some(quote) => quote.fill(&kept.body)?,
        None => kept.body,
    };
    Ok(response.body(body))
}

#[cfg(test)]
mod tests {
    use cicerone_domain::idempotency::{KeptAnswer, Subject};
    use cicerone_domain::{Id, SourceContent, SystemEntropy};
    use serde_json::json;

    use super::{Quote, StoredResponse, send};

    #[test]
    fn an_answer_that_was_kept_comes_back() {
        let json = Some("application/json".to_owned());
        for (status, content_type, body) in
            [(201, json.clone(), &b"{\"a\":\n1}"[..]), (204, None, b""), (404, json, b"{}")]
        {
            let subject = Some(Subject::of_account("key_1"));
            let body = body.to_vec();
            let response = StoredResponse { status, content_type, body, subject, quote: None };
            let kept = KeptAnswer::from(response.clone());
            assert_eq!(kept.is_refusal, status == 404);
            assert_eq!(StoredResponse::try_from(kept).unwrap(), response);
        }
    }

    #[test]
    fn a_content_that_is_quoted_is_not_kept_and_the_answer_is_the_same_with_it() {
        let id = Id::random(&SystemEntropy);
        let text = "Ü \"content\":\"\" ".repeat(1_000);
        let content = SourceContent::parse("text", text.clone(), false).unwrap();
        let view = |content: &str| json!({"id": id, "type": "text", "content": content, "a": "\"content\":\"\""});
        // The fields of a view are in the order of its declaration.
        let body = format!(r#"{{"id":"{id}","type":"text","content":"","a":"\"content\":\"\""}}"#);
        let quote = Quote { source: id, bytes: content.bytes(), content: Some(content.clone()) };
        let response = StoredResponse {
            status: 201,
            content_type: Some("application/json".to_owned()),
            body: body.into_bytes(),
            subject: Some(Subject::of_account(id)),
            quote: Some(quote.clone()),
        };
        let kept = KeptAnswer::from(response.clone());
        assert!(kept.content.len() < 200, "{}", kept.content.len());
        let mut again = StoredResponse::try_from(kept).unwrap();
        assert!(send(again.clone()).is_err(), "the content is missing");
        assert_eq!(again.quote, Some(Quote { content: None, ..quote }));
        again.quote.as_mut().unwrap().content = Some(content);
        assert_eq!(again, response);
        let filled = again.quote.unwrap().fill(&again.body).unwrap();
        let filled: serde_json::Value = serde_json::from_slice(&filled).unwrap();
        assert_eq!(filled, view(&text));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for content in
            ["", "200", "200 text/plain", "two text/plain\n", "200\n", "200 a/b 7\n", "200 a/b c\n"]
        {
            let content = content.as_bytes().to_vec();
            let kept = KeptAnswer { content, is_refusal: false, subject: None };
            assert!(StoredResponse::try_from(kept).is_err());
        }
    }
}
