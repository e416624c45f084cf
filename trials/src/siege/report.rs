//! The outcome of a siege: figures, and whether the server withstood it.

use std::time::Duration;

use super::victim::{Seen, Times};
use super::watch::Held;
use crate::latency::millis;

/// How many times slower the other account may be served than without an attack.
const TIMES: u32 = 5;
/// Smaller differences are ignored: the attackers in this program use the same processors.
const NOISE: Duration = Duration::from_millis(25);
/// How soon 99 of 100 requests of the other account must be answered in any case.
const ANSWERED: Duration = Duration::from_millis(250);
/// How soon its texts must be trained.
const TRAINED: Duration = Duration::from_secs(3);

/// By how much a siege may raise the server's memory, in MiB.
pub(super) const RISE_MIB: f64 = 64.0;

/// The outcome of a siege.
#[derive(Debug, Default)]
pub(super) struct Report {
    attempts: Vec<String>,
    faults: Vec<String>,
    quiet: Option<Seen>,
    during: Option<Seen>,
    held: Option<Held>,
    after: Option<f64>,
}

impl Report {
    /// Adds a description of an attempt and its outcome.
    pub(super) fn attempted(&mut self, what: impl Into<String>) {
        self.attempts.push(what.into());
    }

    /// The attempts so far.
    pub(super) fn said(&self) -> String {
        self.attempts.join("; ")
    }

    /// Records the fault unless `holds` is true.
    pub(super) fn check(&mut self, holds: bool, fault: impl Into<String>) {
        if !holds {
            self.faults.push(fault.into());
        }
    }

    /// Records a fault.
    pub(super) fn fell(&mut self, fault: impl Into<String>) {
        self.faults.push(fault.into());
    }

    /// Whether there are no faults so far.
    pub(super) const fn is_held(&self) -> bool {
        self.faults.is_empty()
    }

    /// Adds the memory of the process, which may have risen by this many MiB.
    pub(super) fn memory_rose(&mut self, held: Held, most: f64) {
        let rise = held.rise();
        self.check(rise <= most, format!("memory rose by {rise:.0} MiB, more than {most:.0}"));
        self.keep(held);
    }

    /// Adds the memory of the process, which may have reached this many MiB.
    pub(super) fn memory_below(&mut self, held: Held, most: f64) {
        let reached = held.most;
        self.check(reached < most, format!("memory reached {reached:.0} MiB of {most:.0}"));
        self.keep(held);
    }

    /// Keeps the greatest rise of several attacks.
    fn keep(&mut self, held: Held) {
        let rise = held.rise();
        let files = self.held.map_or(0, |before| before.files).max(held.files);
        let known = self.held.filter(|before| before.rise() > rise);
        self.held = Some(Held { files, ..known.unwrap_or(held) });
    }

    /// Adds the memory of the process, in MiB, some time after the attackers are gone.
    pub(super) fn after(&mut self, now: f64, rest: Duration) {
        if let Some(held) = self.held {
            let left = now - held.before;
            self.check(
                left <= RISE_MIB / 2.0,
                format!("{left:.0} MiB are still held after {} s", rest.as_secs()),
            );
        }
        self.after = Some(now);
    }

    /// Adds the measurements of the other account before and during the siege.
    pub(super) fn victim(&mut self, quiet: &Seen, during: Seen) {
        let failures: usize = during.failures.values().sum();
        if let Some((failure, count)) = during.failures.iter().next() {
            self.faults
                .push(format!("the victim: {failures} failures, {count} of them: {failure}"));
        }
        self.slower("messages", &quiet.messages, &during.messages);
        self.slower("lists", &quiet.lists, &during.lists);
        let slowest = during.texts.within(1.0);
        self.check(slowest <= TRAINED, format!("the victim's text was trained in {slowest:.1?}"));
        self.quiet = Some(quiet.clone());
        self.during = Some(during);
    }

    fn slower(&mut self, what: &str, quiet: &Times, during: &Times) {
        let (quiet, during) = (quiet.within(0.99), during.within(0.99));
        let limit = (quiet * TIMES).max(NOISE).min(ANSWERED);
        self.check(
            during <= limit,
            format!("the victim's {what} took {during:.1?} (p99), more than {limit:.1?}"),
        );
    }

    /// The report's line.
    pub(super) fn line(&self, name: &str, took: Duration) -> String {
        let verdict = if self.is_held() { "held" } else { "FELL" };
        let mut parts = vec![self.said()];
        if let (Some(quiet), Some(during)) = (&self.quiet, &self.during) {
            parts.push(format!(
                "victim's p50/p99, quiet and during: messages {} and {}, lists {} and {}, texts {} \
                 and {}",
                halves(&quiet.messages),
                halves(&during.messages),
                halves(&quiet.lists),
                halves(&during.lists),
                halves(&quiet.texts),
                halves(&during.texts),
            ));
        }
        if let Some(held) = &self.held {
            let after = self.after.map(|after| format!(", {after:.0} afterwards"));
            parts.push(format!(
                "memory {:.0} MiB, {:.0} at most{}; {} files",
                held.before,
                held.most,
                after.unwrap_or_default(),
                held.files
            ));
        }
        parts.push(format!("{:.0} s", took.as_secs_f64()));
        if !self.is_held() {
            parts.push(format!("because {}", self.faults.join("; ")));
        }
        format!("{verdict} {name}: {}", parts.join(" | "))
    }
}

/// The median and the 99th percentile of times.
fn halves(times: &Times) -> String {
    if times.count() == 0 {
        return "none".to_owned();
    }
    format!("{:.1}/{:.1} ms", millis(times.within(0.5)), millis(times.within(0.99)))
}
