//! Refusals of input that is not a request. The framework answers such input without a body and
//! without a request id; those answers are replaced by ours.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::HttpDate;
use bytes::Bytes;
use cicerone_domain::{Clock, Entropy, Id};

use crate::context::RequestId;
use crate::error::Problem;

/// The longest refusal that the framework writes, in bytes.
const LONGEST: usize = 256;

/// Writes refusals.
pub(crate) struct Refuse {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
}

impl Refuse {
    /// The whole answer with this status, after which the connection is closed.
    pub(super) fn answer(&self, status: StatusCode) -> Bytes {
        let id: RequestId = Id::random(self.entropy.as_ref());
        let problem = Problem::of_status(status);
        let body = problem.to_body(id);
        tracing::info!(target: "cicerone::access", request_id = %id, status = status.as_u16(), "malformed");
        metrics::counter!(
            "http_requests_total",
            "method" => "other", "route" => "malformed", "status" => status.as_str().to_owned()
        )
        .increment(1);
        let millis = u64::try_from(self.clock.now().as_millis()).unwrap_or_default();
        let now = std::time::UNIX_EPOCH + std::time::Duration::from_millis(millis);
        let mut answer = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\ncontent-type: application/json\r\n\
             x-request-id: {id}\r\ncache-control: no-store\r\nconnection: close\r\ndate: {}\r\n\r\n",
            body.len(),
            HttpDate::from(now),
        )
        .into_bytes();
        answer.extend_from_slice(&body);
        answer.into()
    }
}

/// If the written bytes end with a refusal of the framework: its start and its status.
///
/// Nothing else looks like one: every response of an endpoint has a request id, and none of our bodies can contain HTTP
/// line ends after text that a caller chose.
pub(super) fn of_framework(bytes: &[u8]) -> Option<(usize, StatusCode)> {
    bytes.strip_suffix(b"\r\n\r\n")?;
    let end = bytes.get(bytes.len().saturating_sub(LONGEST)..)?;
    let begin = end.windows(9).rposition(|window| window == b"HTTP/1.1 ")?;
    let head = std::str::from_utf8(end.get(begin..)?).ok()?;
    let mut lines = head.strip_suffix("\r\n\r\n")?.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status.as_bytes()).ok()?;
    let mut is_empty = false;
    for line in lines {
        let (name, value) = line.split_once(": ")?;
        match name {
            "content-length" => is_empty = value == "0",
            "connection" | "date" => {}
            _ => return None,
        }
    }
    let is_refusal = status.is_client_error() || status.is_server_error();
    (is_empty && is_refusal).then_some((bytes.len() - end.len() + begin, status))
}

#[cfg(test)]
mod tests {
    use super::of_framework;

    const REFUSAL: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\
                           date: Sun, 22 Nov 2026 06:00:00 GMT\r\n\r\n";

    fn found(text: &str) -> Option<(usize, u16)> {
        of_framework(text.as_bytes()).map(|(at, status)| (at, status.as_u16()))
    }

    #[test]
    fn a_refusal_of_the_framework_is_found_also_behind_other_answers() {
        assert_eq!(found(REFUSAL), Some((0, 400)));
        let before = "x".repeat(5_000);
        assert_eq!(found(&format!("{before}{REFUSAL}")), Some((5_000, 400)));
    }

    #[test]
    fn nothing_else_is_taken_for_one() {
        let with_id = REFUSAL.replace("date: ", "x-request-id: req_0123456789\r\ndate: ");
        let success = REFUSAL.replace("400 Bad Request", "200 OK");
        let with_body = REFUSAL.replace("length: 0", "length: 7");
        // In a chunked answer that contains text of a caller.
        let quoted = "{\"content\":\"HTTP/1.1 400 Bad Request content-length: 0\"}\r\n0\r\n\r\n";
        for text in ["", "\r\n\r\n", &with_id, &success, &with_body, quoted, &REFUSAL[..40]] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
