//! A website on loopback: pages that a test writes, changes and removes, with the entity tags and
//! conditional answers of a good server, and a log of every request.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use cicerone_tests_listener::{Listener, Request};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// The resource at a path.
#[derive(Debug, Clone)]
pub struct Resource {
    status: u16,
    content_type: String,
    headers: String,
    body: Bytes,
}

impl Resource {
    /// A page of HTML.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::of("text/html; charset=utf-8", body)
    }

    /// Bytes with a content type.
    pub fn of(content_type: &str, body: impl Into<Bytes>) -> Self {
        let content_type = content_type.to_owned();
        Self { status: 200, content_type, headers: String::new(), body: body.into() }
    }

    /// A redirect.
    pub fn redirect(target: &str) -> Self {
        Self::html("").status(302).header("location", target)
    }

    /// The same with another status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with a further header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers += &format!("{name}: {value}\r\n");
        self
    }

    fn entity_tag(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.body.hash(&mut hasher);
        format!("\"{:016x}\"", hasher.finish())
    }
}

/// A request that the site answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visit {
    /// The path with its query.
    pub path: String,
    /// The status of the answer; 0 if the connection was cut instead.
    pub status: u16,
    /// Bytes of the body that was sent.
    pub body_bytes: usize,
    /// The `User-Agent` header of the request.
    pub user_agent: String,
}

/// How the site behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Up,
    /// Every connection is cut.
    Down,
}

#[derive(Debug, Default)]
struct Shared {
    resources: HashMap<String, Resource>,
    visits: Vec<Visit>,
    mode: Mode,
    delay: Duration,
    in_flight: usize,
    most_in_flight: usize,
}

/// A running site. Dropping it closes its socket.
#[derive(Debug)]
pub struct Site {
    listener: Listener,
    shared: Arc<Mutex<Shared>>,
}

impl Site {
    /// A site without pages on a free port.
    pub async fn start() -> Self {
        let shared = Arc::<Mutex<Shared>>::default();
        let state = Arc::clone(&shared);
        let listener =
            Listener::start(move |request, stream| respond(request, stream, Arc::clone(&state)))
                .await;
        Self { listener, shared }
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        self.listener.url(path)
    }

    /// Sets the resource at a path.
    pub fn put(&self, path: &str, resource: Resource) {
        lock(&self.shared).resources.insert(path.to_owned(), resource);
    }

    /// Sets a page with a title, a paragraph and links at a path.
    pub fn page(&self, path: &str, title: &str, text: &str, links: &[&str]) {
        let links: String =
            links.iter().map(|link| format!("<li><a href=\"{link}\">{link}</a></li>")).collect();
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><title>{title}</title></head><body><main>\
             <h1>{title}</h1><p>{text}</p></main><nav><ul>{links}</ul></nav></body></html>"
        );
        self.put(path, Resource::html(html));
    }

    /// Sets every file of a folder at its path; `index.html` also at its folder's.
    pub fn folder(&self, folder: &Path) {
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in std::fs::read_dir(&next).expect("a readable folder") {
                let path = entry.expect("a readable entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(folder).expect("a path within").to_str();
                let name = format!("/{}", name.expect("a path in UTF-8"));
                let body = std::fs::read(&path).expect("a readable file");
                let resource = Resource::of(content_type(&name), body);
                if let Some(parent) = name.strip_suffix("index.html") {
                    self.put(parent, resource.clone());
                }
                self.put(&name, resource);
            }
        }
    }

    /// Removes a page.
    pub fn remove(&self, path: &str) {
        lock(&self.shared).resources.remove(path);
    }

    /// If `is_down`, cuts every further connection; otherwise answers again.
    pub fn set_down(&self, is_down: bool) {
        lock(&self.shared).mode = if is_down { Mode::Down } else { Mode::Up };
    }

    /// Sets a delay before each answer.
    pub fn set_delay(&self, delay: Duration) {
        lock(&self.shared).delay = delay;
    }

    /// The requests since the last call, in the order of their answers.
    pub fn take_visits(&self) -> Vec<Visit> {
        std::mem::take(&mut lock(&self.shared).visits)
    }

    /// The most requests that were in progress at the same time.
    pub fn most_in_flight(&self) -> usize {
        lock(&self.shared).most_in_flight
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().expect("no test panics while it holds the lock")
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html" | "htm") => "text/html; charset=utf-8",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("json") => "application/json",
        Some("xml") => "application/xml",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("pdf") => "application/pdf",
        _ => "application/octet-stream",
    }
}

/// Answers a request after the delay.
async fn respond(
    request: Request,
    mut stream: TcpStream,
    shared: Arc<Mutex<Shared>>,
) -> Option<TcpStream> {
    let delay = {
        let mut shared = lock(&shared);
        shared.in_flight += 1;
        shared.most_in_flight = shared.most_in_flight.max(shared.in_flight);
        shared.delay
    };
    tokio::time::sleep(delay).await;
    let answer = answer(&request, &shared);
    lock(&shared).in_flight -= 1;
    stream.write_all(&answer?).await.ok()?;
    Some(stream)
}

/// The answer to a request; `None` if the connection is to be cut.
fn answer(request: &Request, shared: &Mutex<Shared>) -> Option<Vec<u8>> {
    let is_head = request.method == "HEAD";
    let path = request.path.clone();
    let user_agent = request.header("user-agent").to_owned();
    let mut shared = lock(shared);
    if shared.mode == Mode::Down {
        shared.visits.push(Visit { path, status: 0, body_bytes: 0, user_agent });
        return None;
    }
    let found = shared.resources.get(&path).cloned();
    let resource =
        found.unwrap_or_else(|| Resource::html("<title>not here</title>not here").status(404));
    let tag = resource.entity_tag();
    let is_known = resource.status == 200 && request.header("if-none-match") == tag;
    let status = if is_known { 304 } else { resource.status };
    let body = if is_known || is_head { Bytes::new() } else { resource.body.clone() };
    let length = if is_known {
        String::new()
    } else {
        format!("content-length: {}\r\n", resource.body.len())
    };
    let mut answer = format!(
        "HTTP/1.1 {status} Status\r\ncontent-type: {}\r\n{length}etag: {tag}\r\n{}\r\n",
        resource.content_type, resource.headers
    )
    .into_bytes();
    answer.extend_from_slice(&body);
    shared.visits.push(Visit { path, status, body_bytes: body.len(), user_agent });
    Some(answer)
}
