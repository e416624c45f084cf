//! A client of the API: requests with a key, in JSON, as multipart or raw, and event streams.

use std::net::SocketAddr;
use std::sync::Once;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use reqwest::Method;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;

use crate::answer::Answer;
use crate::process::assert_discreet;
use crate::received::Kind;

/// The time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A caller with or without a key. Create one in each test: its connections belong to the runtime
/// on which it was first used.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    address: SocketAddr,
    key: Option<String>,
}

impl Client {
    /// A caller of the server at `address`.
    pub fn new(address: SocketAddr, key: Option<&str>) -> Self {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // Fails only if one is already installed.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let http = reqwest::Client::builder()
            .no_proxy()
            .tls_certs_only([])
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .build()
            .expect("a client");
        Self { http, address, key: key.map(str::to_owned) }
    }

    /// The same caller with another key.
    #[must_use]
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    /// The same caller without a key.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The key that it sends.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// A request to be sent; `path` includes the query.
    pub fn request(&self, method: &str, path: &str) -> Request {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            let bearer = format!("Bearer {key}");
            headers.insert(AUTHORIZATION, HeaderValue::from_str(&bearer).expect("a header"));
        }
        let url = format!("http://{}{path}", self.address);
        let of = format!("{method} {path}");
        Request { request: self.http.request(method, url).headers(headers), of }
    }

    /// `GET path`.
    pub async fn get(&self, path: &str) -> Answer {
        self.request("GET", path).send().await
    }

    /// `POST path` with a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.request("POST", path).json(&body).send().await
    }

    /// `POST path` without a body.
    pub async fn post_nothing(&self, path: &str) -> Answer {
        self.request("POST", path).send().await
    }

    /// `PATCH path` with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.request("PATCH", path).json(&body).send().await
    }

    /// `PUT path` with a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.request("PUT", path).json(&body).send().await
    }

    /// `DELETE path`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path).send().await
    }

    /// `POST /v1/files` with one part `file`.
    pub async fn upload(&self, filename: &str, bytes: impl Into<Vec<u8>>) -> Answer {
        self.request("POST", "/v1/files").file(filename, bytes.into()).send().await
    }
}

/// A request to be sent.
#[derive(Debug)]
#[must_use]
pub struct Request {
    request: reqwest::RequestBuilder,
    /// Its method and path.
    of: String,
}

impl Request {
    /// Adds a header.
    pub fn header(self, name: &str, value: &str) -> Self {
        Self { request: self.request.header(name, value), ..self }
    }

    /// Adds an `Idempotency-Key`.
    pub fn idempotent(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    /// Sets a JSON body.
    pub fn json(self, body: &Value) -> Self {
        self.raw("application/json", body.to_string())
    }

    /// Sets any body.
    pub fn raw(self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let request = self.request.header(CONTENT_TYPE, content_type).body(body.into());
        Self { request, ..self }
    }

    /// Sets a multipart body with one part `file`.
    pub fn file(self, filename: &str, bytes: Vec<u8>) -> Self {
        self.part("file", filename, bytes)
    }

    /// Sets a multipart body with one part of this name.
    ///
    /// The boundary is fixed, so that uploading the same file twice sends identical requests.
    pub fn part(self, name: &str, filename: &str, bytes: Vec<u8>) -> Self {
        const BOUNDARY: &str = "----the-boundary-of-the-test-suite";
        let mut body = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; \
             filename=\"{filename}\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(&bytes);
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        self.raw(&format!("multipart/form-data; boundary={BOUNDARY}"), body)
    }

    /// Sends the request, and reads the answer to its end.
    pub async fn send(self) -> Answer {
        self.try_send().await.expect("the server answers")
    }

    /// Sends the request to a server that may have stopped.
    pub async fn try_send(self) -> reqwest::Result<Answer> {
        assert_discreet();
        let response = self.request.send().await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = response.bytes().await?;
        Kind::new(&self.of, status, Some(&body)).note();
        Ok(Answer { status, headers, body })
    }

    /// Sends the request, and returns an answer whose body can be read piece by piece. Dropping it
    /// closes the connection.
    pub async fn open(self) -> Opened {
        let response = self.request.send().await.expect("the server answers");
        let status = response.status().as_u16();
        Kind::new(&self.of, status, None).note();
        let headers = response.headers().clone();
        Opened { status, headers, body: Box::pin(response.bytes_stream()) }
    }
}

/// An answer whose body is still arriving.
pub struct Opened {
    /// The HTTP status.
    pub status: u16,
    /// The headers, as they arrived.
    pub headers: HeaderMap,
    body: std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<Bytes>> + Send>>,
}

impl Opened {
    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Option<Bytes> {
        self.body.next().await.map(|piece| piece.expect("the connection holds"))
    }

    /// Reads until the received text contains `mark`, and returns all of it.
    pub async fn until(&mut self, mark: &str) -> String {
        let mut text = Vec::new();
        while !String::from_utf8_lossy(&text).contains(mark) {
            let piece = self.next().await;
            text.extend_from_slice(
                &piece.unwrap_or_else(|| panic!("the end came before `{mark}`")),
            );
        }
        String::from_utf8(text).expect("UTF-8")
    }
}
