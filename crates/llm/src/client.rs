//! The HTTP client of an upstream.
//!
//! A connection belongs to the runtime on which it was opened, and the requests of another thread pass to it and back,
//! which takes as long as everything else between the request and the answer of a quick upstream. So threads that
//! serve connections of callers open connections of their own: see [`connect_from_this_thread`].

use std::cell::OnceCell;
use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, redirect};
use thiserror::Error;
use thread_local::ThreadLocal;
use tokio::runtime::Handle;
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use crate::config::{ConfigError, Secret};

thread_local! {
    /// The runtime of this thread, if its requests have connections of their own.
    static OWN: OnceCell<Handle> = const { OnceCell::new() };
}

/// From now on, requests to upstreams that begin on this thread use connections that no other thread uses, and the
/// runtime within which this is called serves them. When that runtime ends, so do its connections; a request that is
/// repeated on another thread does not need them.
///
/// # Panics
///
/// If it is called outside of a runtime.
pub fn connect_from_this_thread() {
    OWN.with(|own| {
        own.get_or_init(Handle::current);
    });
}

/// How to reach an upstream.
pub(crate) struct ClientSettings<'a> {
    /// The longest wait for a connection.
    pub(crate) connect: Duration,
    pub(crate) key: Option<&'a Secret>,
    /// The path of the section in the settings.
    pub(crate) setting: &'a str,
}

/// The client of an upstream, without redirects and without proxies of the environment. For plain HTTP it loads no
/// certificates, so it also works on a machine without any.
pub(crate) struct UpstreamClient {
    how: How,
    /// For threads without connections of their own.
    shared: Client,
    own: ThreadLocal<Client>,
}

/// What all clients of an upstream have in common.
struct How {
    headers: HeaderMap,
    connect: Duration,
    is_plain: bool,
}

impl UpstreamClient {
    /// Returns an error if a setting is not valid, or if there are no certificates although they are needed.
    pub(crate) fn new(settings: &ClientSettings<'_>, url: &Url) -> Result<Self, ConfigError> {
        let ClientSettings { connect, key, setting } = *settings;
        // Fails if another part of the program has already installed the same provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", key.reveal())).map_err(|_| {
                    let message = "must consist of visible ASCII characters";
                    ConfigError::new(format!("{setting}.api_key"), message)
                })?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let how = How { headers, connect, is_plain: url.scheme() == "http" };
        let shared = how.client().map_err(|error| {
            let cause = error.source().map(|cause| format!(": {cause}"));
            let message = format!(
                "cannot be used over TLS; are CA certificates installed?{}",
                cause.unwrap_or_default()
            );
            ConfigError::new(format!("{setting}.base_url"), message)
        })?;
        Ok(Self { how, shared, own: ThreadLocal::new() })
    }

    /// Sends the request that `make` makes with a client. The request must not have a time limit of its own: its timer would
    /// be one of the thread's runtime, and if that ends while the answer is read, polling it panics. The caller limits the
    /// time.
    pub(crate) async fn send(
        &self,
        make: impl FnOnce(&Client) -> RequestBuilder + Send,
    ) -> Result<Response, SendError> {
        let Some(runtime) = OWN.with(|own| own.get().cloned()) else {
            return Ok(make(&self.shared).send().await?);
        };
        let client = self.own.get_or(|| {
            self.how.client().unwrap_or_else(|error| {
                tracing::warn!(%error, "a thread has no connections of its own to an upstream");
                self.shared.clone()
            })
        });
        let request = make(client);
        // A task of that runtime, so that connecting and its timers end with it. If the caller stops waiting, so does the task.
        let sent = AbortOnDropHandle::new(runtime.spawn(async move { request.send().await }));
        Ok(sent.await.map_err(SendError::Ended)??)
    }
}

/// Why a request got no answer.
#[derive(Debug, Error)]
pub(crate) enum SendError {
    #[error(transparent)]
    Request(reqwest::Error),
    /// Its task has ended early, usually because the runtime of the thread on which it began has.
    #[error("the task of the request has ended")]
    Ended(#[source] JoinError),
}

impl From<reqwest::Error> for SendError {
    fn from(error: reqwest::Error) -> Self {
        // Upstreams are named in the settings, and a URL may have secrets in its query.
        Self::Request(error.without_url())
    }
}

impl SendError {
    /// Whether no connection could be opened.
    pub(crate) fn is_connect(&self) -> bool {
        matches!(self, Self::Request(error) if error.is_connect())
    }
}

impl How {
    fn client(&self) -> reqwest::Result<Client> {
        let builder = Client::builder()
            .user_agent(concat!("Cicerone/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone())
            .redirect(redirect::Policy::none())
            .no_proxy()
            // Over HTTP/2, all requests of a thread would share one connection and its limit of streams, without regard
            // to accounts.
            .http1_only()
            .connect_timeout(self.connect);
        if self.is_plain { builder.tls_certs_only([]).build() } else { builder.build() }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::pin::pin;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    use futures_util::future::{Either, select};
    use tokio::runtime::{Builder, Runtime};
    use tokio::sync::oneshot;
    use tokio::time::timeout;
    use url::Url;

    use super::{ClientSettings, SendError, UpstreamClient, connect_from_this_thread};

    /// More than any request here takes.
    const LONG: Duration = Duration::from_secs(20);

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_all().build().unwrap()
    }

    fn client(url: &Url) -> UpstreamClient {
        let settings = ClientSettings { connect: LONG, key: None, setting: "upstream" };
        UpstreamClient::new(&settings, url).unwrap()
    }

    /// An upstream that accepts connections and reads requests, and answers if it is told to.
    fn upstream(answers: bool) -> (Url, std::sync::mpsc::Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let (arrived, arrival) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let mut kept = Vec::new();
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let mut head = [0; 4_096];
                let read = socket.read(&mut head).unwrap();
                assert!(head[..read].starts_with(b"GET "));
                if answers {
                    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
                }
                kept.push(socket);
                // The test may have ended.
                let _ = arrived.send(());
            }
        });
        (url, arrival)
    }

    #[test]
    fn the_runtime_of_the_thread_serves_its_connections() {
        let (url, _arrival) = upstream(true);
        let client = client(&url);
        // Nothing runs on this runtime.
        let idle = runtime();
        let answer = runtime().block_on(async {
            connect_from_this_thread();
            let mut asked = pin!(async {
                let answer = client.send(|client| client.get(url)).await.unwrap();
                answer.text().await
            });
            timeout(
                LONG,
                poll_fn(|context| {
                    let _entered = idle.enter();
                    asked.as_mut().poll(context)
                }),
            )
            .await
        });
        assert_eq!(answer.unwrap().unwrap(), "ok");
    }

    #[test]
    fn a_request_fails_if_the_runtime_of_its_thread_ends_and_another_thread_can_repeat_it() {
        let (silent, arrival) = upstream(false);
        let asked = Arc::new(client(&silent));
        let (begun, rest) = oneshot::channel();
        let of_thread = Arc::clone(&asked);
        let thread = thread::spawn(move || {
            runtime().block_on(async move {
                connect_from_this_thread();
                let mut asking =
                    Box::pin(async move { of_thread.send(|client| client.get(silent)).await });
                let arrival = tokio::task::spawn_blocking(move || arrival.recv().unwrap());
                // The upstream has the request, and does not answer.
                let first = timeout(LONG, select(&mut asking, arrival)).await.unwrap();
                assert!(matches!(first, Either::Right((Ok(()), _))));
                assert!(begun.send(asking).is_ok());
            });
        });
        thread.join().unwrap();
        let (answering, _arrival) = upstream(true);
        runtime().block_on(async {
            let outcome = timeout(LONG, rest.await.unwrap()).await.unwrap();
            assert!(matches!(outcome, Err(SendError::Ended(_))), "{outcome:?}");
            let repeated = asked.send(|client| client.get(answering)).await.unwrap();
            assert_eq!(repeated.text().await.unwrap(), "ok");
        });
    }
}
