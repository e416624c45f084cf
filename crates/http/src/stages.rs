//! How long each stage of a reply took: for the metrics, and for the `Server-Timing` header.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use actix_web::HttpResponse;
use actix_web::http::header::{HeaderName, HeaderValue};
use cicerone_domain::ports::{Stage, StageObserver, Stages};
use metrics::Histogram;

/// The header of the W3C's "Server Timing" with the stages and their milliseconds.
pub(crate) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
/// The histogram of the seconds that each stage of a reply took.
const METRIC: &str = "cicerone_reply_stage_seconds";
/// The stage before those of the domain: finding the key, and counting the request against its
/// limits.
const AUTHENTICATE: &str = "authenticate";

thread_local! {
    /// Histograms that this thread has recorded to, by stage. Finding one in the registry allocates memory several times.
    static KNOWN: RefCell<Vec<(&'static str, Histogram)>> = const { RefCell::new(Vec::new()) };
}

/// The histogram of a stage.
fn histogram(stage: &'static str) -> Histogram {
    KNOWN.with_borrow_mut(|known| match known.iter().find(|(other, _)| *other == stage) {
        Some((_, histogram)) => histogram.clone(),
        None => {
            let histogram = metrics::histogram!(METRIC, "stage" => stage);
            known.push((stage, histogram.clone()));
            histogram
        }
    })
}

/// The clock of a reply.
#[derive(Clone)]
pub(crate) struct StageTimes(Arc<Mutex<Times>>);

struct Times {
    authenticate: Duration,
    /// The current stage, and when it began.
    current: Option<(Stage, Instant)>,
    /// By position in [`Stage::ALL`]; `None` for a stage that was not reached.
    taken: [Option<Duration>; Stage::ALL.len()],
}

impl StageTimes {
    /// A clock of a reply whose authentication took that long.
    pub(crate) fn new(authenticate: Duration) -> Self {
        let taken = [None; Stage::ALL.len()];
        Self(Arc::new(Mutex::new(Times { authenticate, current: None, taken })))
    }

    /// The receiver of the stages.
    pub(crate) fn stages(&self) -> Stages {
        Stages::observed_by(Arc::new(self.clone()))
    }

    /// Ends the last stage of a completed reply, and records all of them.
    pub(crate) fn record(&self) {
        let mut times = self.times();
        times.end(Instant::now());
        for (stage, taken) in times.stages() {
            histogram(stage).record(taken.as_secs_f64());
        }
    }

    /// Writes the stages so far into an answer.
    pub(crate) fn write(&self, response: &mut HttpResponse) {
        let times = self.times();
        let mut text = String::new();
        for (stage, taken) in times.stages() {
            let separator = if text.is_empty() { "" } else { ", " };
            let milliseconds = taken.as_secs_f64() * 1_000.0;
            // Writing into a `String` cannot fail.
            let _ = write!(text, "{separator}{stage};dur={milliseconds:.3}");
        }
        // Names and numbers are valid in a header.
        if let Ok(value) = HeaderValue::try_from(text) {
            response.headers_mut().insert(SERVER_TIMING, value);
        }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StageObserver for StageTimes {
    fn begins(&self, stage: Stage) {
        let now = Instant::now();
        let mut times = self.times();
        times.end(now);
        times.current = Some((stage, now));
    }

    fn taken(&self) -> Vec<(Stage, Duration)> {
        let now = Instant::now();
        let times = self.times();
        let running = |stage: Stage| {
            let began = times.current.filter(|(current, _)| *current == stage);
            began.map(|(_, began)| now.saturating_duration_since(began))
        };
        let until_now = |(stage, taken): (&Stage, &Option<Duration>)| match (taken, running(*stage))
        {
            (None, None) => None,
            (taken, running) => {
                Some((*stage, taken.unwrap_or_default() + running.unwrap_or_default()))
            }
        };
        Stage::ALL.iter().zip(&times.taken).filter_map(until_now).collect()
    }
}

impl Times {
    fn end(&mut self, now: Instant) {
        let Some((stage, began)) = self.current.take() else { return };
        let place = Stage::ALL.iter().position(|other| *other == stage);
        if let Some(taken) = place.and_then(|place| self.taken.get_mut(place)) {
            *taken.get_or_insert_default() += now.saturating_duration_since(began);
        }
    }

    /// The stages that were reached, in their order.
    fn stages(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let first = (AUTHENTICATE, self.authenticate);
        let others = Stage::ALL.iter().zip(self.taken);
        std::iter::once(first)
            .chain(others.filter_map(|(stage, taken)| Some((stage.name(), taken?))))
    }
}
