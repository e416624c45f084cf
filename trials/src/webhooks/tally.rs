//! The events that the receiver was sent, and those that it accepted.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, bail, ensure};
use bytes::Bytes;
use cicerone_tests::receiver::{Reaction, Received};
use serde_json::Value;

use crate::bench::corpus::Numbers;

/// A receiver that refuses three out of ten requests at random.
pub(super) struct Tally(Mutex<State>);

struct State {
    chance: Numbers,
    /// By `webhook-id`.
    events: HashMap<String, Event>,
    /// The `webhook-id` of each source.
    by_source: HashMap<String, String>,
    /// The number of accepted events.
    delivered: usize,
    /// The number of accepted requests.
    accepted: usize,
    refused: usize,
    /// The first fault.
    fault: Option<String>,
}

/// An event that was sent.
struct Event {
    body: Bytes,
    /// How often it was accepted.
    accepted: usize,
}

impl Tally {
    /// A new receiver. The same seed refuses the same requests, counted in the order in which they
    /// arrive.
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(State {
            chance: Numbers::new(seed),
            events: HashMap::new(),
            by_source: HashMap::new(),
            delivered: 0,
            accepted: 0,
            refused: 0,
            fault: None,
        }))
    }

    /// Records a request and decides how it is answered.
    pub(super) fn react(&self, received: &Received) -> Reaction {
        let mut state = self.lock();
        if let Err(fault) = state.note(received) {
            state.fault.get_or_insert_with(|| format!("{fault:#}"));
        }
        let refusal = match state.chance.below(10) {
            0 => Reaction::status(500),
            1 => Reaction::Cut,
            2 => Reaction::Answer(429, "retry-after: 1\r\n".to_owned()),
            _ => {
                state.accept(received.header("webhook-id"));
                return Reaction::status(204);
            }
        };
        state.refused += 1;
        refusal
    }

    /// How many events were accepted.
    pub(super) fn delivered(&self) -> usize {
        self.lock().delivered
    }

    /// How many requests were accepted.
    pub(super) fn accepted(&self) -> usize {
        self.lock().accepted
    }

    /// How many requests were refused.
    pub(super) fn refused(&self) -> usize {
        self.lock().refused
    }

    /// The first fault, if any.
    pub(super) fn fault(&self) -> Option<String> {
        self.lock().fault.clone()
    }

    /// Checks that the events of exactly these sources were accepted.
    pub(super) fn check(&self, sources: &BTreeSet<String>) -> anyhow::Result<()> {
        let state = self.lock();
        for source in sources {
            let event = state.by_source.get(source).and_then(|id| state.events.get(id));
            let accepted = event.map_or(0, |event| event.accepted);
            ensure!(accepted > 0, "the event of source `{source}` was not accepted");
        }
        match state.by_source.keys().find(|source| !sources.contains(*source)) {
            Some(source) => bail!("an event names `{source}`, which no answer named"),
            None => Ok(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns an error if this is not the only event of its source, or differs from earlier
    /// attempts.
    fn note(&mut self, received: &Received) -> anyhow::Result<()> {
        let id = received.header("webhook-id");
        ensure!(id.starts_with("evt_"), "`{id}` is not a webhook-id");
        if let Some(event) = self.events.get(id) {
            ensure!(event.body == received.body, "the event `{id}` was sent with two bodies");
            return Ok(());
        }
        let body: Value = serde_json::from_slice(&received.body).context("a body is not JSON")?;
        ensure!(body["event"] == "source.trained", "the event `{id}` is another: {body}");
        let source = body["data"]["id"].as_str().context("an event without a source")?;
        if let Some(other) = self.by_source.insert(source.to_owned(), id.to_owned()) {
            bail!("source `{source}` has two events, `{other}` and `{id}`");
        }
        self.events.insert(id.to_owned(), Event { body: received.body.clone(), accepted: 0 });
        Ok(())
    }

    fn accept(&mut self, id: &str) {
        self.accepted += 1;
        if let Some(event) = self.events.get_mut(id) {
            event.accepted += 1;
            self.delivered += usize::from(event.accepted == 1);
        }
    }
}
