//! Idempotency keys and bodies of requests.

use reqwest::Method;
use sha2::{Digest as _, Sha256};

use super::Body;

/// The idempotency key of a request: the same for the same request, on every machine.
pub(super) fn name(method: &Method, path: &str, body: Body<'_>, number: u32) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(bytes);
    };
    part(method.as_str().as_bytes());
    part(path.as_bytes());
    match body {
        Body::None => {}
        Body::Json(value) => part(value.to_string().as_bytes()),
        Body::File(name, bytes) => {
            part(name.as_bytes());
            part(bytes);
        }
    }
    part(&number.to_be_bytes());
    format!("cicerone-{}", hex(&hash.finalize()))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A multipart body with one part `file`, and its media type. The boundary follows from the content, which therefore does
/// not contain it.
pub(super) fn multipart(name: &str, bytes: &[u8]) -> (String, Vec<u8>) {
    let boundary = hex(&Sha256::digest(bytes));
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let name = name.replace('"', "%22");
    let mut body = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), body)
}

#[cfg(test)]
mod tests {
    use reqwest::Method;
    use serde_json::json;

    use super::super::Body;
    use super::{multipart, name};

    #[test]
    fn the_same_request_has_the_same_idempotency_key_and_no_other_has() {
        let (one, two) = (json!({ "a": 1 }), json!({ "a": 2 }));
        let key = |path, body, number| name(&Method::POST, path, body, number);
        let first = key("/v1/agents", Body::Json(&one), 0);
        assert_eq!(first, key("/v1/agents", Body::Json(&one), 0));
        for other in [
            key("/v1/agents", Body::Json(&one), 1),
            key("/v1/agents", Body::Json(&two), 0),
            key("/v1/agent", Body::Json(&one), 0),
            key("/v1/agents", Body::None, 0),
            key("/v1/agents", Body::File("a", b"b"), 0),
            key("/v1/agents", Body::File("ab", b""), 0),
        ] {
            assert_ne!(first, other);
        }
        assert!(first.len() < 255 && first.is_ascii());
    }

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let (_, body) = multipart("a\"\r\nX: y", b"z");
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains("filename=\"a%22X: y\"\r\n"), "{body}");
    }
}
