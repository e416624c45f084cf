//! Listeners on loopback with scripted answers, and clients that may reach them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cicerone_egress::{Egress, EgressSettings, Resolve, Url};
use cicerone_tests_listener::Listener;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// A listener that counts its connections.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    listener: Listener,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Answers each request by its path. Connections are kept.
    pub(crate) async fn serve(
        address: &str,
        answer: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&heads);
        let listener = Listener::start_at(address, move |request, mut stream| {
            log.lock().unwrap().push(request.head);
            let answer = answer(&request.path);
            async move {
                stream.write_all(answer.as_bytes()).await.ok()?;
                Some(stream)
            }
        })
        .await;
        Self { address: listener.address(), listener, heads }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.listener.connections()
    }

    /// The heads of all requests.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// The URL of a path, by this site's address.
    pub(crate) fn url(&self, path: &str) -> Url {
        url(&format!("http://{}{path}", self.address))
    }
}

/// Two sites at the same port of 127.0.0.1 and 127.0.0.2: one that must not be reached, and one
/// that may.
pub(crate) async fn neighbours(answer: fn(&str) -> String) -> (Site, Site) {
    loop {
        let canary = Site::serve("127.0.0.1:0", answer).await;
        let beside = format!("127.0.0.2:{}", canary.port());
        if std::net::TcpListener::bind(&beside).is_ok() {
            return (canary, Site::serve(&beside, answer).await);
        }
    }
}

/// Hands each connection to `script` after its first request.
pub(crate) async fn scripted<F>(
    script: impl Fn(TcpStream) -> F + Send + Sync + 'static,
) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = Listener::start(move |_, stream| {
        let scripted = script(stream);
        async move {
            scripted.await;
            None
        }
    });
    listener.await.detach()
}

/// An answer with a body, after which the connection is kept.
pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A response that redirects to an address.
pub(crate) fn redirect(status: u16, to: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n")
}

pub(crate) fn url(text: &str) -> Url {
    text.parse().unwrap()
}

/// Gives addresses by a function of the name and of how often it was asked.
pub(crate) struct Scripted<F> {
    script: F,
    asked: AtomicUsize,
}

impl<F> Scripted<F> {
    /// How often it was asked.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

pub(crate) fn resolver<F>(script: F) -> Arc<Scripted<F>>
where
    F: Fn(&str, usize) -> io::Result<Vec<IpAddr>> + Send + Sync,
{
    Arc::new(Scripted { script, asked: AtomicUsize::new(0) })
}

/// A resolver that always gives the same.
pub(crate) fn always(addresses: &[&str]) -> Arc<dyn Resolve> {
    let addresses = ips(addresses);
    resolver(move |_, _| Ok(addresses.clone()))
}

pub(crate) fn ips(addresses: &[&str]) -> Vec<IpAddr> {
    addresses.iter().map(|address| address.parse().unwrap()).collect()
}

#[async_trait]
impl<F> Resolve for Scripted<F>
where
    F: Fn(&str, usize) -> io::Result<Vec<IpAddr>> + Send + Sync,
{
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        (self.script)(host, self.asked.fetch_add(1, Ordering::SeqCst))
    }
}

/// Settings with short times that allow some ranges.
pub(crate) fn allowing(allow: &[&str]) -> EgressSettings {
    EgressSettings {
        allow: allow.iter().map(|range| range.parse().unwrap()).collect(),
        connect_timeout: Duration::from_secs(2),
        read_timeout: Duration::from_secs(5),
        ..EgressSettings::default()
    }
}

/// A client for listeners on 127.0.0.1, which every name leads to.
pub(crate) fn open() -> Egress {
    Egress::new(allowing(&["127.0.0.0/8"]), always(&["127.0.0.1"])).unwrap()
}
