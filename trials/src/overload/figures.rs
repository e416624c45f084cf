//! What an overload did, as `docs/performance.md` shows it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::bench::figures::{Figures, grouped, shown};
use crate::bench::plot::Plot;
use crate::latency::{millis, percentile};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Overload {
    pub(super) factor: u32,
    pub(super) seconds: u64,
    pub(super) connections: usize,
    pub(super) accounts: usize,
    pub(super) replies_at_once: Option<u32>,
    /// Turns per second of the normal load; requests per second of the overload, and what became of them.
    pub(super) normal_rate: f64,
    pub(super) offered_rate: f64,
    pub(super) accepted_rate: f64,
    pub(super) refused_rate: f64,
    /// Over one connection, of the normal load, and of the overload.
    pub(super) unloaded: Latency,
    pub(super) normal: Latency,
    pub(super) accepted: Latency,
    pub(super) refused: Latency,
    /// Turns of another account during the overload, and how many of them were not answered.
    pub(super) other: Latency,
    pub(super) other_refused: usize,
    pub(super) without_retry_after: usize,
    /// Answers of each status, and requests that failed with each error.
    pub(super) statuses: Vec<(u16, usize)>,
    pub(super) errors: Vec<(String, usize)>,
    pub(super) usual_mib: f64,
    pub(super) most_mib: f64,
    pub(super) recovered_seconds: f64,
}

/// Percentiles in milliseconds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Latency {
    p50_ms: f64,
    p99_ms: f64,
}

impl Latency {
    /// Those of sorted latencies.
    pub(super) fn of(sorted: &[Duration]) -> Self {
        Self { p50_ms: millis(percentile(sorted, 0.5)), p99_ms: millis(percentile(sorted, 0.99)) }
    }

    /// This p99 as a multiple of the other.
    pub(super) fn times_slower_than(&self, other: &Self) -> f64 {
        self.p99_ms / other.p99_ms
    }
}

impl Figures for Overload {
    const NAME: &'static str = "overload";

    fn text(&self) -> String {
        let limit = self.replies_at_once.map_or_else(String::new, |replies| {
            format!(", with `http.replies_at_once` set to {replies}")
        });
        let accounts = match self.accounts {
            1 => "one account".to_owned(),
            several => format!("{several} accounts"),
        };
        let mut text = format!(
            "{} times the rate of the normal load for {} s by {accounts} over {} connections{limit}: {} requests per second were \
             released, of which those that found a free connection were sent.\n\n\
             | what | per second | p50 | p99 |\n|---|---|---|---|\n",
            self.factor,
            self.seconds,
            self.connections,
            grouped(self.offered_rate),
        );
        for (name, rate, latency) in [
            ("turns over 1 connection", None, &self.unloaded),
            ("turns of the normal load, 16 connections", Some(self.normal_rate), &self.normal),
            ("accepted turns of the overload", Some(self.accepted_rate), &self.accepted),
            ("refusals of the overload", Some(self.refused_rate), &self.refused),
            ("turns of another account meanwhile, over 1 connection", None, &self.other),
        ] {
            let rate = rate.map_or("–".to_owned(), grouped);
            let (p50, p99) = (shown(latency.p50_ms), shown(latency.p99_ms));
            text += &format!("| {name} | {rate} | {p50} ms | {p99} ms |\n");
        }
        let against = |other: &Latency| shown(self.accepted.times_slower_than(other));
        text += &format!(
            "\nThe p99 of accepted turns is {} times that of the normal load and {} times that over one connection. \
             Memory: {} MiB under the normal load, {} MiB at most. It was itself again after {} s.",
            against(&self.normal),
            against(&self.unloaded),
            shown(self.usual_mib),
            shown(self.most_mib),
            shown(self.recovered_seconds),
        );
        let answers = self.statuses.iter().map(|(status, count)| format!("{count} of {status}"));
        let answers = answers
            .chain(self.errors.iter().map(|(error, count)| format!("{count} failed: {error}")));
        text += &format!(
            " Answers: {}; {} of 503 without `Retry-After`.\n",
            answers.collect::<Vec<_>>().join(", "),
            self.without_retry_after
        );
        text
    }

    fn plot(&self) -> Option<Plot> {
        None
    }
}
