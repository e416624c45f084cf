//! Which answers the clients of this process have received, so that the suite can compare what the contract describes with
//! what tests have really seen.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Stands for a segment of a path that is an id, so that the paths of a long run are few.
const ID: &str = "{id}";

static KINDS: Mutex<BTreeSet<Kind>> = Mutex::new(BTreeSet::new());
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A kind of answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Method and path, without its query and with [`ID`] for each id.
    operation: String,
    status: u16,
    /// The code of an error.
    code: Option<String>,
}

impl Kind {
    /// The kind of an answer to `request`, which is its method and its path with the query. `body` is `None` if it was not
    /// read to its end.
    pub(crate) fn new(request: &str, status: u16, body: Option<&[u8]>) -> Self {
        let path = request.split('?').next().unwrap_or_default();
        let parts: Vec<&str> =
            path.split('/').map(|part| if is_id(part) { ID } else { part }).collect();
        let body = body.filter(|_| status >= 400);
        let json: Option<Value> = body.and_then(|body| serde_json::from_slice(body).ok());
        let code = json.and_then(|json| json["error"]["code"].as_str().map(str::to_owned));
        Self { operation: parts.join("/"), status, code }
    }

    pub(crate) fn note(self) {
        COUNT.fetch_add(1, Ordering::Relaxed);
        KINDS.lock().unwrap_or_else(PoisonError::into_inner).insert(self);
    }

    /// Whether it is an answer of the operation, whose parameters are names in braces.
    fn is_of(&self, operation: &str) -> bool {
        let (parts, patterns) = (self.operation.split('/'), operation.split('/'));
        parts.clone().count() == patterns.clone().count()
            && parts
                .zip(patterns)
                .all(|(part, pattern)| pattern.starts_with('{') || part == pattern)
    }
}

fn is_id(part: &str) -> bool {
    (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
        || part.split_once('_').is_some_and(|(_, random)| random.len() >= 10)
}

/// How many answers have been received.
pub fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Whether an operation (`GET /v1/files/{file_id}`) has returned this status, with this code if one is given.
///
/// A path without parameters may also be one of a template: `GET /v1/files/latest` counts as `GET /v1/files/{file_id}`.
pub fn was_received(operation: &str, status: u16, code: Option<&str>) -> bool {
    let kinds = KINDS.lock().unwrap_or_else(PoisonError::into_inner);
    kinds.iter().any(|kind| {
        kind.status == status
            && code.is_none_or(|code| kind.code.as_deref() == Some(code))
            && kind.is_of(operation)
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, was_received};

    #[test]
    fn an_answer_belongs_to_its_operation_status_and_code() {
        let body = br#"{"error":{"code":"conflict"}}"#;
        Kind::new("PUT /v1/things/thing_0123456789/parts?limit=1", 409, Some(body)).note();
        let operation = "PUT /v1/things/{thing_id}/parts";
        assert!(was_received(operation, 409, None));
        assert!(was_received(operation, 409, Some("conflict")));
        assert!(!was_received(operation, 409, Some("resource_not_found")));
        assert!(!was_received(operation, 404, None));
        for other in [
            "POST /v1/things/{thing_id}/parts",
            "PUT /v1/things/{thing_id}",
            "PUT /v1/things/{thing_id}/others",
        ] {
            assert!(!was_received(other, 409, None), "{other}");
        }
    }

    #[test]
    fn ids_and_numbers_do_not_make_kinds_of_their_own() {
        let kind = |path| Kind::new(path, 204, None);
        assert_eq!(kind("DELETE /v1/a/conv_0123456789/7"), kind("DELETE /v1/a/conv_abcdefghij/12"));
        assert_ne!(kind("DELETE /v1/a/usage"), kind("DELETE /v1/a/conv_abcdefghij"));
    }
}
