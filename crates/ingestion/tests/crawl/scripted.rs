//! A network in memory, for what depends on time or on hosts that loopback does not have.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use cicerone_ingestion::crawl::{Fetch, FetchError, FetchRequest, Fetched};
use parking_lot::Mutex;
use tokio::time::Instant;

/// Answers by address; what has none is not found.
pub(crate) struct Network {
    answers: Mutex<HashMap<String, Vec<Result<Fetched, FetchError>>>>,
    log: Mutex<Vec<(String, Instant)>>,
    begun: Instant,
    /// How long each answer takes.
    latency: Duration,
}

/// A page with a title and links.
pub(crate) fn page(title: &str, links: &[&str]) -> Fetched {
    let links = crate::server::links(links);
    let html = format!("<title>{title}</title><p>{title} text {links}</p>");
    Fetched {
        status: 200,
        content_type: Some("text/html".to_owned()),
        body: Some(Bytes::from(html)),
        ..Fetched::default()
    }
}

/// A page that declares itself a copy of another one.
pub(crate) fn copy(title: &str, of: &str) -> Fetched {
    let html =
        format!("<title>{title}</title><link rel=\"canonical\" href=\"{of}\"><p>{title} text</p>");
    Fetched { body: Some(Bytes::from(html)), ..page(title, &[]) }
}

/// A text, such as `robots.txt`.
pub(crate) fn text(text: &str) -> Fetched {
    Fetched {
        status: 200,
        content_type: Some("text/plain".to_owned()),
        body: Some(Bytes::from(text.to_owned())),
        ..Fetched::default()
    }
}

pub(crate) fn redirect(to: &str) -> Fetched {
    Fetched { status: 308, location: Some(to.to_owned()), ..Fetched::default() }
}

/// A refusal that may ask to come back later.
pub(crate) fn busy(status: u16, retry_after: Option<&str>) -> Fetched {
    Fetched { status, retry_after: retry_after.map(str::to_owned), ..Fetched::default() }
}

/// A connection that breaks off.
pub(crate) fn broken() -> FetchError {
    FetchError {
        message: "the connection was interrupted".to_owned(),
        is_transient: true,
        is_outage: true,
    }
}

impl Network {
    pub(crate) fn new(latency: Duration) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::default(),
            log: Mutex::default(),
            begun: Instant::now(),
            latency,
        })
    }

    /// When the first request could be sent.
    pub(crate) const fn begun(&self) -> Instant {
        self.begun
    }

    pub(crate) fn set(&self, url: &str, answer: Fetched) {
        self.set_all(url, vec![Ok(answer)]);
    }

    /// Sets what an address answers, one after the other; the last is repeated.
    pub(crate) fn set_all(&self, url: &str, mut answers: Vec<Result<Fetched, FetchError>>) {
        answers.reverse();
        self.answers.lock().insert(url.to_owned(), answers);
    }

    /// The addresses that were requested, in order.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().iter().map(|(url, _)| url.clone()).collect()
    }

    /// When an address was requested, in milliseconds since the beginning.
    pub(crate) fn times(&self, url: &str) -> Vec<u128> {
        let log = self.log.lock();
        let times = log.iter().filter(|(logged, _)| logged == url);
        times.map(|(_, at)| at.duration_since(self.begun).as_millis()).collect()
    }

    /// The pauses between requests, in whole seconds.
    pub(crate) fn pauses(&self) -> Vec<u64> {
        let log = self.log.lock();
        log.windows(2).map(|pair| pair[1].1.duration_since(pair[0].1).as_secs()).collect()
    }
}

#[async_trait]
impl Fetch for Network {
    async fn fetch(&self, request: FetchRequest) -> Result<Fetched, FetchError> {
        let url = request.url.to_string();
        self.log.lock().push((url.clone(), Instant::now()));
        tokio::time::sleep(self.latency).await;
        let mut answers = self.answers.lock();
        match answers.get_mut(&url) {
            Some(left) if left.len() > 1 => left.pop().unwrap(),
            Some(left) => left[0].clone(),
            None => Ok(Fetched { status: 404, ..Fetched::default() }),
        }
    }
}
