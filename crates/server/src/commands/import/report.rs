//! The report of an import.

use serde_json::{Value, json};

use super::found::{Item, Refusal};
use crate::failure::Failure;
use crate::output;

/// The most refusals that the report lists. The others are counted.
const LISTED: usize = 10_000;

/// A source that was added.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// The number of pairs.
    pub(super) pairs: usize,
    /// The parts that were not read.
    pub(super) partially_read: Option<String>,
}

impl Taken {
    pub(super) fn of(item: &Item, id: String) -> Self {
        let (kind, pairs) = match item {
            Item::Pairs { count, .. } => ("qa", *count),
            Item::Text { .. } => ("text", 0),
            Item::Website(_) => ("website", 0),
            Item::File(_) => ("file", 0),
        };
        Self { id, name: item.name(), kind, pairs, partially_read: None }
    }

    fn json(&self) -> Value {
        let Self { id, name, kind, pairs, partially_read } = self;
        let id = if id.is_empty() { Value::Null } else { json!(id) };
        json!({ "id": id, "name": name, "type": kind, "pairs": pairs, "partially_read": partially_read })
    }
}

/// What was added, and what was not.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) taken: Vec<Taken>,
    /// What the agent already had from an earlier import.
    pub(super) there: Vec<String>,
    refused: Vec<Refusal>,
    /// Refusals beyond those that are listed.
    unlisted: usize,
}

impl Report {
    pub(super) fn new(mut refused: Vec<Refusal>) -> Self {
        let unlisted = refused.len().saturating_sub(LISTED);
        refused.truncate(LISTED);
        Self { taken: Vec::new(), there: Vec::new(), refused, unlisted }
    }

    pub(super) fn refuse(&mut self, what: String, reason: String) {
        if self.refused.len() < LISTED {
            self.refused.push(Refusal { what, reason });
        } else {
            self.unlisted += 1;
        }
    }

    /// Prints the report on standard output.
    pub(super) fn print(&self, as_json: bool) -> Result<(), Failure> {
        if as_json {
            let taken: Vec<Value> = self.taken.iter().map(Taken::json).collect();
            let refused = self.refused.iter();
            let refused: Vec<Value> =
                refused.map(|one| json!({ "what": one.what, "reason": one.reason })).collect();
            let report = json!({
                "taken": taken,
                "already_there": self.there,
                "not_taken": refused,
                "not_listed": self.unlisted,
            });
            return output::line(&report);
        }
        for Refusal { what, reason } in &self.refused {
            output::line(&format!("not taken: {what}: {reason}"))?;
        }
        if self.unlisted > 0 {
            output::line(&format!("not taken: {} more", self.unlisted))?;
        }
        for name in &self.there {
            output::line(&format!("already there: {name}"))?;
        }
        for taken in &self.taken {
            if let Some(reason) = &taken.partially_read {
                output::line(&format!("partially read: {}: {reason}", taken.name))?;
            }
        }
        let pairs: usize = self.taken.iter().map(|taken| taken.pairs).sum();
        let refused = self.refused.len() + self.unlisted;
        let sources = self.taken.len();
        let there = match self.there.len() {
            0 => String::new(),
            count => format!("already there: {count}; "),
        };
        output::line(&format!(
            "Sources added: {sources}; pairs: {pairs}; {there}items not added: {refused}."
        ))
    }
}
