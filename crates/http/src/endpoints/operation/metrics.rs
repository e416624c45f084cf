//! `GET /metrics`

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::Method;
use cicerone_domain::Error;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use crate::asset::Asset;
use crate::compression::Effort;
use crate::context::{App, Incoming, RequestContext};
use crate::endpoint::{Endpoint, Tag};
use crate::error::RequestError;
use crate::response::Answer;

/// The media type of Prometheus' text format.
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
/// How old a text may be that is sent again. Programs that collect metrics ask less often.
const LIFE: Duration = Duration::from_secs(1);

/// Renders the text of all metrics.
pub(crate) type Render = Arc<dyn Fn() -> String + Send + Sync>;

pub(crate) fn endpoint() -> Endpoint {
    Endpoint::open(Tag::Operation, Method::GET, "/metrics", handle)
        .named("metrics", "Get metrics in the Prometheus format")
        .details("The values are at most a second old.")
        .gives_text(&["text/plain"])
        .refuses(404, "Metrics are turned off.")
        .refuses(429, "Too many requests from one address.")
}

async fn handle(app: App, incoming: Incoming) -> Answer {
    let context = RequestContext::of(&incoming.request)?;
    app.gate.admit_stranger(&context)?;
    let rendered = app.rendered.as_ref().ok_or(RequestError::NoRoute)?;
    Ok(rendered.latest(&app.runtime).await?.answer(&incoming.request, &[]))
}

/// The text, and when it was made.
type Dated = (Instant, Arc<Asset>);

/// The metrics as they were within the last second. All callers share one text, so that neither the number of requests
/// nor that of clients that do not read determines what it takes.
pub(crate) struct Rendered {
    render: Render,
    latest: Arc<Mutex<Option<Dated>>>,
}

impl Rendered {
    pub(crate) fn new(render: Render) -> Self {
        Self { render, latest: Arc::default() }
    }

    /// The text, which is rendered on a blocking thread if the last one is too old.
    async fn latest(&self, runtime: &Handle) -> Result<Arc<Asset>, Error> {
        let mut latest = Arc::clone(&self.latest).lock_owned().await;
        if let Some((at, text)) = &*latest
            && at.elapsed() < LIFE
        {
            return Ok(Arc::clone(text));
        }
        let render = Arc::clone(&self.render);
        // The thread has the lock: callers that go away do not let others begin to render as well.
        let rendered = runtime.spawn_blocking(move || {
            let text = Asset::of(PROMETHEUS, render().into(), Effort::Once);
            *latest = Some((Instant::now(), Arc::clone(&text)));
            text
        });
        rendered.await.map_err(Error::internal)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::runtime::Handle;

    use super::Rendered;

    #[tokio::test]
    async fn a_flood_of_requests_renders_once_a_second_and_shares_the_text() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let rendered = Rendered::new(Arc::new(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(20));
            "x 1\n".repeat(1_000)
        }));
        let runtime = Handle::current();
        // A caller that goes away meanwhile.
        let _ = tokio::time::timeout(Duration::from_millis(1), rendered.latest(&runtime)).await;
        let texts = join_all((0..500).map(|_| rendered.latest(&runtime))).await;
        let first = texts[0].as_ref().unwrap();
        assert!(texts.iter().all(|text| Arc::ptr_eq(text.as_ref().unwrap(), first)));
        assert_eq!(count.load(Ordering::Relaxed), 1);
        tokio::time::sleep(super::LIFE).await;
        rendered.latest(&runtime).await.unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }
}
