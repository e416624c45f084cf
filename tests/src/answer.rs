//! An answer, and checks that apply to every answer of a kind.

use bytes::Bytes;
use reqwest::header::HeaderMap;
use serde_json::Value;

/// An answer that was read to its end.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, as they arrived.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

impl Answer {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("an ASCII header"))
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a UTF-8 body")
    }

    /// The body as text in lower case, without the request's id: its random letters may happen to be any short word.
    pub fn words(&self) -> String {
        self.text().replace(self.request_id(), "").to_lowercase()
    }

    /// The body as JSON, whatever the status.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}): {}", self.text()))
    }

    /// Checks that the answer has this status and a JSON body, and returns the body.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        self.request_id();
        self.json()
    }

    /// Checks that the answer is 204 with an empty body.
    #[track_caller]
    pub fn expect_nothing(&self) {
        assert_eq!(self.status, 204, "{}", self.text());
        assert!(self.body.is_empty(), "a 204 has no body: {}", self.text());
        self.request_id();
    }

    /// The request's id, which every answer contains.
    #[track_caller]
    pub fn request_id(&self) -> &str {
        let id = self.header("x-request-id").expect("every answer has an X-Request-Id");
        assert!(is_id(id, "req_"), "`{id}` is not a request id");
        id
    }

    /// Checks that the answer is a refusal with this status and code and satisfies all rules for
    /// refusals, and returns the error object.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        let body = self.json();
        let error = &body["error"];
        assert_eq!(error["code"], code, "{body}");
        assert_eq!(error["type"], error_type(status, code), "{body}");
        // A replayed answer is the original one, with the id of its own request.
        if self.header("idempotent-replayed").is_none() {
            assert_eq!(error["request_id"], self.request_id(), "{body}");
        }
        let message = error["message"].as_str().expect("a message");
        assert!(!message.is_empty(), "{body}");
        for field in body.as_object().expect("an object").keys() {
            assert_eq!(field, "error", "only `error` is allowed: {body}");
        }
        self.check_extras(status, error);
        error.clone()
    }

    /// Checks that the answer is a refusal that names the invalid field.
    #[track_caller]
    pub fn refuses(&self, status: u16, code: &str, param: &str) -> Value {
        let error = self.refused(status, code);
        assert_eq!(error["param"], param, "{error}");
        assert_eq!(error["errors"][0]["param"], param, "the first of the list: {error}");
        error
    }

    /// Checks that the answer is a refusal that names all of these fields, in this order.
    #[track_caller]
    pub fn refuses_all(&self, status: u16, code: &str, params: &[&str]) {
        let error = self.refuses(status, code, params[0]);
        let found = error["errors"].as_array().expect("a list").iter();
        let found: Vec<&str> = found.map(|bad| bad["param"].as_str().expect("a path")).collect();
        assert_eq!(found, params, "{error}");
    }

    /// The body without its request id, the only difference between two equal refusals.
    pub fn without_request_id(&self) -> String {
        self.text().replace(self.request_id(), "req_")
    }

    #[track_caller]
    fn check_extras(&self, status: u16, error: &Value) {
        if status == 422 || (status == 400 && error["param"].is_string()) {
            let findings = error["errors"].as_array().expect("the bad fields are listed");
            assert!(!findings.is_empty(), "{error}");
            for finding in findings {
                assert!(finding["param"].is_string(), "{error}");
                assert!(finding["message"].is_string(), "{error}");
            }
        }
        if status == 401 {
            assert_eq!(self.header("www-authenticate"), Some("Bearer"));
        }
        if status == 405 {
            assert!(self.header("allow").is_some(), "a 405 lists the methods");
        }
        if status == 429 {
            let seconds = error["retry_after"].as_u64().expect("a 429 says when to retry");
            assert_eq!(self.header("retry-after"), Some(seconds.to_string().as_str()));
        }
    }
}

/// The error type of a status, according to the error table.
fn error_type(status: u16, code: &str) -> &'static str {
    match (status, code) {
        (401, _) => "authentication_error",
        (403, _) => "permission_error",
        (404, _) => "not_found_error",
        (409, _) => "conflict_error",
        (422, _) => "validation_error",
        (429, _) => "rate_limit_error",
        (500..=599, _) => "api_error",
        _ => "invalid_request_error",
    }
}

/// Whether `text` consists of `prefix` and ten letters or digits.
pub fn is_id(text: &str, prefix: &str) -> bool {
    let rest = text.strip_prefix(prefix).unwrap_or_default();
    rest.len() == 10 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Whether `text` is a time in UTC with milliseconds: `2026-11-21T10:00:00.000Z`.
pub fn is_timestamp(text: &str) -> bool {
    let pattern = b"0000-00-00T00:00:00.000Z";
    text.len() == pattern.len()
        && text.bytes().zip(pattern).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            other => byte == *other,
        })
}
