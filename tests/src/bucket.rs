//! An S3-compatible object store on loopback, which can only store, return and remove objects. It
//! keeps a log of every request with its `Authorization` header.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use cicerone_tests_listener::{Listener, Request};
use tokio::io::AsyncWriteExt as _;

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The method.
    pub method: String,
    /// The path with its query: `/bucket/key`.
    pub path: String,
    /// The header `Authorization`.
    pub authorization: String,
}

impl Asked {
    /// Whether it is signed as AWS requires (Signature Version 4), with this key for S3 in this
    /// region.
    ///
    /// The signature itself is not verified.
    pub fn is_signed(&self, key: &str, region: &str) -> bool {
        let Some(fields) = self.authorization.strip_prefix("AWS4-HMAC-SHA256 ") else {
            return false;
        };
        let field = |name: &str| {
            let mut fields = fields.split(", ").filter_map(|field| field.split_once('='));
            fields.find(|(key, _)| *key == name).map_or("", |(_, value)| value)
        };
        let scope: Vec<&str> = field("Credential").split('/').collect();
        let signature = field("Signature");
        matches!(scope[..], [id, day, place, "s3", "aws4_request"]
            if id == key && place == region && day.len() == 8)
            && field("SignedHeaders").split(';').any(|name| name == "x-amz-content-sha256")
            && signature.len() == 64
            && signature.bytes().all(|byte| byte.is_ascii_hexdigit())
    }
}

#[derive(Debug, Default)]
struct Shared {
    objects: BTreeMap<String, Bytes>,
    asked: Vec<Asked>,
    is_down: bool,
}

/// A running store in which every bucket exists. Dropping it closes its socket.
#[derive(Debug)]
pub struct Buckets {
    listener: Listener,
    shared: Arc<Mutex<Shared>>,
}

impl Buckets {
    /// Starts a store with empty buckets on a free port.
    pub async fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let state = Arc::clone(&shared);
        let listener = Listener::start(move |request, mut stream| {
            let answer = answer(request, &state);
            async move {
                stream.write_all(&answer?).await.ok()?;
                Some(stream)
            }
        })
        .await;
        Self { listener, shared }
    }

    /// The URL of the endpoint.
    pub fn url(&self) -> String {
        self.listener.url("")
    }

    /// The stored objects, by `/bucket/key`.
    pub fn objects(&self) -> BTreeMap<String, Bytes> {
        lock(&self.shared).objects.clone()
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.shared).asked.clone()
    }

    /// If `is_down`, cuts every connection at its next request; otherwise answers again.
    pub fn set_down(&self, is_down: bool) {
        lock(&self.shared).is_down = is_down;
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().expect("no test panics while it holds the lock")
}

/// The answer to a request; `None` if the connection is to be cut.
fn answer(request: Request, shared: &Mutex<Shared>) -> Option<Vec<u8>> {
    let authorization = request.header("authorization").to_owned();
    let Request { method, path, body, .. } = request;
    let mut shared = lock(shared);
    shared.asked.push(Asked { method: method.clone(), path: path.clone(), authorization });
    if shared.is_down {
        return None;
    }
    let (status, body) = match method.as_str() {
        "PUT" => {
            shared.objects.insert(path, body);
            ("200 OK", Bytes::new())
        }
        "GET" => match shared.objects.get(&path) {
            Some(object) => ("200 OK", object.clone()),
            None => ("404 Not Found", Bytes::from_static(b"<Error><Code>NoSuchKey</Code></Error>")),
        },
        "DELETE" => {
            shared.objects.remove(&path);
            ("204 No Content", Bytes::new())
        }
        _ => ("501 Not Implemented", Bytes::new()),
    };
    let length = if status.starts_with("204") {
        String::new()
    } else {
        format!("content-length: {}\r\n", body.len())
    };
    let head = format!(
        "HTTP/1.1 {status}\r\n{length}etag: \"0\"\r\n\
         last-modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n\r\n"
    );
    Some([head.as_bytes(), &body].concat())
}
