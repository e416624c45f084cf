//! A client of the HTTP API of a server, for commands that work from another machine.
//!
//! Invariant: everything is limited: connecting, each request, each response, the attempts at a request, and their
//! total time.

mod encoding;

use std::time::{Duration, Instant};

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, ClientBuilder, Method, redirect};
use serde_json::{Map, Value};

use crate::configuration::Environment;
use crate::failure::Failure;
use crate::wiring;
use encoding::{multipart, name};

pub(crate) use encoding::hex;

/// The variable that contains the API key.
const KEY_VARIABLE: &str = "CICERONE_API_KEY";
/// The address of a server with the default settings on this machine.
pub(crate) const SERVER: &str = "http://127.0.0.1:8080";
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a request may take, with its answer.
const REQUEST: Duration = Duration::from_secs(120);
/// How long all attempts at a request may take, with the waits between them.
const PATIENCE: Duration = Duration::from_secs(180);
/// Attempts at a request.
const ATTEMPTS: u32 = 8;
/// The first of the doubling waits.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The largest answer: a page of a list has 4 MiB, a source at most 10 MB, which JSON may double.
const ANSWER_BYTES: usize = 32 * 1_024 * 1_024;
/// Items on a page of a list.
const PAGE: usize = 100;
/// Names that are tried for the idempotency key of a request before it is sent without one.
const KEYS: u32 = 32;

/// The server's message for a request whose stored response was erased.
const GONE: &str = "stored for this idempotency key";

/// A client with one API key.
pub(crate) struct ApiClient {
    client: Client,
    server: String,
    authorization: HeaderValue,
}

/// The body of a request.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    None,
    Json(&'a Value),
    /// A file with its name.
    File(&'a str, &'a [u8]),
}

/// Why a request had no success.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// The server answered with an error.
    Refused(Refusal),
    /// The server could not be reached, or answered something else.
    Failed(String),
}

/// An error that the server answered with.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    /// The server's message, with the request that it refused.
    pub(crate) message: String,
    /// Whether it is the stored answer to an earlier request.
    is_replay: bool,
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Refused(refusal) => Self::new(refusal.message),
            ApiError::Failed(message) => Self::new(message),
        }
    }
}

impl ApiError {
    /// Whether the server answered with this status.
    pub(crate) fn is(&self, status: u16) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.status == status)
    }

    fn is_replay(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.is_replay)
    }
}

/// What the server answered if it did what was asked.
struct Answer {
    body: Vec<u8>,
    is_replay: bool,
}

/// The outcome of one attempt.
enum Attempt {
    Answered(Answer),
    Refused(Refusal),
    /// It may be repeated, after this wait if the server named one.
    Again(Option<Duration>, ApiError),
}

impl ApiClient {
    /// A client for the server at an address. The key is in the environment.
    pub(crate) fn new(environment: &Environment, server: Option<&str>) -> Result<Self, Failure> {
        let server = server.unwrap_or(SERVER);
        let authorization = authorization(environment)?;
        check_address(server)?;
        let client = client_for(server)?;
        Ok(Self { client, server: server.trim_end_matches('/').to_owned(), authorization })
    }

    /// The address of the server.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// `GET path`, as JSON.
    pub(crate) async fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.json(Method::GET, path, Body::None, None).await
    }

    /// `GET path`, as bytes.
    pub(crate) async fn bytes(&self, path: &str) -> Result<Vec<u8>, ApiError> {
        self.send(&Method::GET, path, Body::None, None).await.map(|answer| answer.body)
    }

    /// Calls `each` with the items of a list, page by page, so that only one page is in memory.
    pub(crate) async fn each(
        &self,
        path: &str,
        mut each: impl FnMut(Value) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let mut page = format!("{path}{separator}page_size={PAGE}");
        loop {
            let mut list = self.get(&page).await?;
            if let Some(Value::Array(items)) = list.get_mut("data").map(Value::take) {
                items.into_iter().try_for_each(&mut each)?;
            }
            let Some(cursor) = list.get("next_cursor").and_then(Value::as_str) else {
                return Ok(());
            };
            page = format!("{path}{separator}page_size={PAGE}&cursor={cursor}");
        }
    }

    /// `POST path`. A repetition within 24 hours has no further effect and gets the same response, as long as the
    /// created object exists.
    pub(crate) async fn create(&self, path: &str, body: Body<'_>) -> Result<Value, ApiError> {
        for number in 0..KEYS {
            let key = name(&Method::POST, path, body, number);
            match self.json(Method::POST, path, body, Some(&key)).await {
                // The earlier request was refused, or what it created was deleted.
                Err(error) if error.is_replay() => {}
                outcome => return outcome,
            }
        }
        self.json(Method::POST, path, body, None).await
    }

    /// `PATCH path`, or a `POST` that always has an effect, in the state that `version` identifies.
    pub(crate) async fn change(
        &self,
        method: Method,
        path: &str,
        version: &str,
        body: Body<'_>,
    ) -> Result<Value, ApiError> {
        let versioned = format!("{path} {version}");
        for number in 0..KEYS {
            let key = name(&method, &versioned, body, number);
            let answer = self.send(&method, path, body, Some(&key)).await;
            // The stored response shows the effect of an earlier change, but not whether another one followed.
            match answer {
                Err(error) if error.is_replay() => {}
                Ok(answer) if answer.is_replay => {}
                outcome => return parsed(&method, path, &outcome?.body),
            }
        }
        self.json(method, path, body, None).await
    }

    /// `DELETE path`. It is no error if there is nothing to delete.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), ApiError> {
        let key = name(&Method::DELETE, path, Body::None, 0);
        match self.send(&Method::DELETE, path, Body::None, Some(&key)).await {
            Err(error) if error.is(404) => Ok(()),
            outcome => outcome.map(|_| ()),
        }
    }

    async fn json(
        &self,
        method: Method,
        path: &str,
        body: Body<'_>,
        key: Option<&str>,
    ) -> Result<Value, ApiError> {
        let answer = self.send(&method, path, body, key).await?;
        parsed(&method, path, &answer.body)
    }

    /// Sends a request until it is answered, refused, or out of attempts or time.
    async fn send(
        &self,
        method: &Method,
        path: &str,
        body: Body<'_>,
        key: Option<&str>,
    ) -> Result<Answer, ApiError> {
        let end = Instant::now() + PATIENCE;
        let mut pause = FIRST_WAIT;
        let mut attempt = 1;
        loop {
            let (named, error) = match self.attempt(method, path, body, key).await {
                Attempt::Answered(answer) => return Ok(answer),
                Attempt::Refused(refusal) => return Err(ApiError::Refused(refusal)),
                Attempt::Again(wait, error) => (wait, error),
            };
            let wait = named.unwrap_or(pause);
            if attempt == ATTEMPTS || Instant::now() + wait > end {
                return Err(error);
            }
            tokio::time::sleep(wait).await;
            pause *= 2;
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        method: &Method,
        path: &str,
        body: Body<'_>,
        key: Option<&str>,
    ) -> Attempt {
        let url = format!("{}{path}", self.server);
        let mut request = self
            .client
            .request(method.clone(), &url)
            .header(AUTHORIZATION, self.authorization.clone());
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let request = match body {
            Body::None => request,
            Body::Json(value) => {
                request.header(CONTENT_TYPE, "application/json").body(value.to_string())
            }
            Body::File(name, bytes) => {
                let (media_type, body) = multipart(name, bytes);
                request.header(CONTENT_TYPE, media_type).body(body)
            }
        };
        let unreachable = |error: &reqwest::Error| {
            let message =
                format!("the server at `{}` cannot be reached: {}", self.server, cause(error));
            Attempt::Again(None, ApiError::Failed(message))
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return unreachable(&error),
        };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = match read(response, ANSWER_BYTES).await {
            Ok(Some(body)) => body,
            Ok(None) => {
                let message = format!("{method} {path}: the answer is larger than 32 MiB");
                return Attempt::Again(None, ApiError::Failed(message));
            }
            Err(error) => return unreachable(&error),
        };
        // The answer to an earlier request, or the refusal to repeat it because of what was deleted since.
        let is_replay = headers.contains_key("idempotent-replayed");
        if (200..300).contains(&status) {
            return Attempt::Answered(Answer { body, is_replay });
        }
        let message = said(method, path, status, &body);
        let is_replay = is_replay || (status == 404 && message.contains(GONE));
        let refusal = Refusal { status, message, is_replay };
        match repeated(status, &headers) {
            Some(wait) => Attempt::Again(wait, ApiError::Refused(refusal)),
            None => Attempt::Refused(refusal),
        }
    }
}

/// The value of the header with the API key from the environment.
pub(crate) fn authorization(environment: &Environment) -> Result<HeaderValue, Failure> {
    let key = environment.get(KEY_VARIABLE).map(|key| key.trim()).unwrap_or_default();
    if key.is_empty() {
        return Err(Failure::misuse(format!(
            "`{KEY_VARIABLE}` is not set; it must contain an API key of the server"
        )));
    }
    let mut authorization = HeaderValue::try_from(format!("Bearer {key}"))
        .map_err(|_| Failure::misuse(format!("`{KEY_VARIABLE}` is not an API key")))?;
    authorization.set_sensitive(true);
    Ok(authorization)
}

/// Checks the value of `--server`.
pub(crate) fn check_address(server: &str) -> Result<(), Failure> {
    let is_web = ["http://", "https://"].iter().any(|scheme| server.starts_with(scheme));
    if is_web && reqwest::Url::parse(server).is_ok() {
        return Ok(());
    }
    Err(Failure::misuse(format!(
        "`--server` must be an address such as `https://docs.example.com`, not `{server}`"
    )))
}

/// A client that follows no redirects, with the certificates of the system if the address needs them.
pub(crate) fn client_for(address: &str) -> Result<Client, Failure> {
    client_with(address, |client| client.timeout(REQUEST))
}

/// An HTTP client that follows no redirects, with a time limit for its requests that `bounded` sets.
pub(crate) fn client_with(
    address: &str,
    bounded: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Result<Client, Failure> {
    wiring::install_tls()?;
    let client = Client::builder()
        .user_agent(concat!("Cicerone/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT);
    let client = if address.starts_with("http://") { client.tls_certs_only([]) } else { client };
    bounded(client).build().map_err(|error| {
        Failure::because("cannot set up TLS; are CA certificates installed?", &error)
    })
}

/// The body of a response; `None` if it is larger than `most` bytes.
pub(crate) async fn read(
    mut response: reqwest::Response,
    most: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > most {
            return Ok(None);
        }
        body.extend_from_slice(&piece);
    }
    Ok(Some(body))
}

/// Whether a refused request may be repeated, and the wait that the server asks for.
fn repeated(status: u16, headers: &HeaderMap) -> Option<Option<Duration>> {
    if headers.get("x-should-retry").is_some_and(|value| value.as_bytes() == b"false") {
        return None;
    }
    let seconds = headers.get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
    let wait = seconds.map(Duration::from_secs);
    match status {
        // A conflict that passes names its time.
        409 => wait.map(Some),
        408 | 429 | 500 | 502 | 503 | 504 => Some(wait),
        _ => None,
    }
}

/// The server's message about a request that it refused.
fn said(method: &Method, path: &str, status: u16, body: &[u8]) -> String {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = body.get("error");
    let bad = error.and_then(|error| error.get("errors")?.as_array());
    if let Some(bad) = bad.filter(|bad| bad.len() > 1) {
        let bad =
            bad.iter().map(|bad| format!("`{}` {}", text(bad, "param"), text(bad, "message")));
        return format!("{method} {path}: {status}: {}", bad.collect::<Vec<_>>().join("; "));
    }
    let field = |name: &str| error?.get(name)?.as_str();
    match (field("param"), field("message")) {
        (Some(param), Some(message)) if !message.contains(param) => {
            format!("{method} {path}: {status}: `{param}` {message}")
        }
        (_, Some(message)) => format!("{method} {path}: {status}: {message}"),
        (_, None) => format!("{method} {path}: the server answered {status}"),
    }
}

fn parsed(method: &Method, path: &str, body: &[u8]) -> Result<Value, ApiError> {
    if body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(body).map_err(|error| {
        ApiError::Failed(format!("{method} {path}: the answer is not JSON: {error}"))
    })
}

/// The innermost cause of an error, which describes what happened. The outer ones repeat the address.
pub(crate) fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// A field of an object of the API, as text; empty if there is none.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A part of the identity of a managed object; empty if it has none.
pub(crate) fn managed<'a>(object: &'a Value, part: &str) -> &'a str {
    object.get("managed").map_or("", |managed| text(managed, part))
}

/// An object with these fields.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>(),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::Method;
    use reqwest::header::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::{repeated, said};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_request_is_repeated_if_that_can_help() {
        let second = Some(Some(Duration::from_secs(1)));
        assert_eq!(repeated(429, &headers(&[("retry-after", "1")])), second);
        assert_eq!(repeated(409, &headers(&[("retry-after", "1")])), second);
        assert_eq!(repeated(503, &headers(&[])), Some(None));
        for (status, given) in [
            (409, headers(&[])),
            (404, headers(&[("retry-after", "1")])),
            (429, headers(&[("retry-after", "1"), ("x-should-retry", "false")])),
            (501, headers(&[])),
        ] {
            assert_eq!(repeated(status, &given), None, "{status}");
        }
    }

    #[test]
    fn a_refusal_says_what_the_server_said() {
        let body = json!({ "error": { "message": "must be active", "param": "status" } });
        let text = said(&Method::POST, "/v1/agents", 400, body.to_string().as_bytes());
        assert_eq!(text, "POST /v1/agents: 400: `status` must be active");
        let errors = json!([
            { "param": "name", "message": "is required" },
            { "param": "temperature", "message": "must be between 0.0 and 2.0" },
        ]);
        let body = json!({ "error": { "message": "`name` is required, and 1 more", "param": "name", "errors": errors } });
        let text = said(&Method::POST, "/v1/agents", 400, body.to_string().as_bytes());
        let all = "`name` is required; `temperature` must be between 0.0 and 2.0";
        assert_eq!(text, format!("POST /v1/agents: 400: {all}"));
        let text = said(&Method::GET, "/", 502, b"<html>");
        assert_eq!(text, "GET /: the server answered 502");
    }
}
