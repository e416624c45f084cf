//! A website on loopback whose every answer the test decides, and which remembers every request.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cicerone_tests_listener::{Listener, Request};
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// One answer of the site.
#[derive(Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// Waits for as long before it answers.
    pause: Duration,
    /// Waits for a permit before it answers.
    hold: Option<Arc<Semaphore>>,
    /// Closes the connection instead.
    is_broken: bool,
}

/// An answer of this type.
pub(crate) fn answer(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    Answer {
        status,
        headers: vec![("content-type", content_type.to_owned())],
        body: body.into(),
        pause: Duration::ZERO,
        hold: None,
        is_broken: false,
    }
}

/// A page with a title, text that is its own, and what else is given.
pub(crate) fn page(title: &str, inside: &str) -> Answer {
    let body =
        format!("<html><head><title>{title}</title></head><body>{title}: text. {inside}</body>");
    answer(200, "text/html; charset=utf-8", body)
}

/// Links to these addresses.
pub(crate) fn links(to: &[&str]) -> String {
    to.iter().map(|to| format!("<a href=\"{to}\">more</a> ")).collect()
}

pub(crate) fn redirect(to: &str) -> Answer {
    answer(301, "text/plain", "").with("location", to)
}

/// An answer without content.
pub(crate) fn status(status: u16) -> Answer {
    answer(status, "text/plain", "sorry")
}

/// A connection that breaks off.
pub(crate) fn broken() -> Answer {
    Answer { is_broken: true, ..status(200) }
}

impl Answer {
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn after(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    pub(crate) fn held(self, hold: &Arc<Semaphore>) -> Self {
        Self { hold: Some(Arc::clone(hold)), ..self }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    /// Whether the request has this version already.
    fn is_known(&self, request: &Request) -> bool {
        let same =
            |own: Option<&str>, theirs: &str| own.is_some_and(|own| request.header(theirs) == own);
        same(self.header("etag"), "if-none-match")
            || same(self.header("last-modified"), "if-modified-since")
    }
}

#[derive(Default)]
struct Shared {
    /// The answers of each path, one after the other; the last is repeated.
    answers: Mutex<HashMap<String, Vec<Answer>>>,
    log: Mutex<Vec<(String, u16)>>,
    body_bytes: AtomicUsize,
    busy: AtomicUsize,
    most_busy: AtomicUsize,
}

/// A running site; it ends with this.
pub(crate) struct Server {
    listener: Listener,
    shared: Arc<Shared>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let shared = Arc::<Shared>::default();
        let state = Arc::clone(&shared);
        let listener = Listener::start(move |request, stream| {
            let state = Arc::clone(&state);
            async move { state.respond(stream, request).await }
        })
        .await;
        Self { listener, shared }
    }

    /// Its address with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        self.listener.url(path)
    }

    /// Waits until no connection to it is open.
    pub(crate) async fn unused(&self) {
        self.listener.unused().await;
    }

    /// Sets what a path answers from now on.
    pub(crate) fn set(&self, path: &str, answer: Answer) {
        self.set_all(path, vec![answer]);
    }

    /// Sets what a path answers, one after the other.
    pub(crate) fn set_all(&self, path: &str, mut answers: Vec<Answer>) {
        answers.reverse();
        self.shared.answers.lock().insert(path.to_owned(), answers);
    }

    pub(crate) fn remove(&self, path: &str) {
        self.shared.answers.lock().remove(path);
    }

    /// The paths that were requested, in order.
    pub(crate) fn log(&self) -> Vec<String> {
        self.shared.log.lock().iter().map(|(path, _)| path.clone()).collect()
    }

    /// How often a path was requested.
    pub(crate) fn requests(&self, path: &str) -> usize {
        self.log().iter().filter(|logged| *logged == path).count()
    }

    /// The statuses that were answered.
    pub(crate) fn statuses(&self) -> Vec<(String, u16)> {
        self.shared.log.lock().clone()
    }

    /// Bytes of bodies that were sent.
    pub(crate) fn body_bytes(&self) -> usize {
        self.shared.body_bytes.load(Ordering::SeqCst)
    }

    /// Most requests that were being answered at a time.
    pub(crate) fn most_busy(&self) -> usize {
        self.shared.most_busy.load(Ordering::SeqCst)
    }

    /// Forgets the requests so far.
    pub(crate) fn forget(&self) {
        self.shared.log.lock().clear();
        self.shared.body_bytes.store(0, Ordering::SeqCst);
    }
}

impl Shared {
    /// Answers a request.
    async fn respond(&self, mut stream: TcpStream, request: Request) -> Option<TcpStream> {
        let busy = self.busy.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_busy.fetch_max(busy, Ordering::SeqCst);
        let answer = self.next(&request.path);
        let is_known = answer.status == 200 && answer.is_known(&request);
        let status = if is_known { 304 } else { answer.status };
        self.log.lock().push((request.path, status));
        tokio::time::sleep(answer.pause).await;
        if let Some(hold) = &answer.hold {
            hold.acquire().await.unwrap().forget();
        }
        // Who has the answer may ask for the next page, so it is over before that.
        self.busy.fetch_sub(1, Ordering::SeqCst);
        if answer.is_broken {
            return None;
        }
        let body = if is_known { Vec::new() } else { answer.body };
        let mut head = format!("HTTP/1.1 {status} Scripted\r\n");
        if !is_known {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        for (name, value) in &answer.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        self.body_bytes.fetch_add(body.len(), Ordering::SeqCst);
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.write_all(&body).await.ok()?;
        Some(stream)
    }

    fn next(&self, path: &str) -> Answer {
        let mut answers = self.answers.lock();
        match answers.get_mut(path) {
            Some(left) if left.len() > 1 => left.pop().unwrap(),
            Some(left) => left[0].clone(),
            None => status(404),
        }
    }
}
