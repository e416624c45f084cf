//! A cache of the units of passages: the same few passages answer most questions.

use std::fmt;
use std::sync::Arc;

use cicerone_language::defined_term;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::units::{self, Kind, Unit};
use super::words::{Word, words};

/// The size of the cache in bytes.
const BYTES: u64 = 16 * 1_024 * 1_024;
/// The size of an entry in addition to its content.
const OVERHEAD: usize = 128;
/// The expected number of entries, which only sizes the bookkeeping.
const ENTRIES: usize = 2_048;

/// The units and words of a text.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) units: Box<[Unit]>,
    pub(super) words: Box<[Word]>,
    /// For each unit, whether the definition of an option or other code begins with it.
    definitions: Box<[bool]>,
    /// The text has code, or defines options or other code.
    pub(super) is_technical: bool,
}

impl Reading {
    /// Whether the definition of an option or other code begins with a unit.
    pub(super) fn defines_code(&self, unit: usize) -> bool {
        self.definitions.get(unit) == Some(&true)
    }
}

/// The readings of texts by their content, so that a changed passage gets a new reading.
#[derive(Clone)]
pub(super) struct Readings(Arc<Cache<Arc<str>, Arc<Reading>, Weight>>);

impl Readings {
    /// The reading of a passage.
    pub(super) fn of(&self, text: &Arc<str>) -> Arc<Reading> {
        if let Some(reading) = self.0.get(text) {
            return reading;
        }
        let units = units::of(text);
        let definitions: Box<[bool]> = units.iter().map(|unit| defines_code(unit, text)).collect();
        let has_code = units.iter().any(|unit| unit.kind == Kind::Code);
        let is_technical = has_code || definitions.contains(&true);
        let words = words(text).collect();
        let reading = Arc::new(Reading { units: units.into(), words, definitions, is_technical });
        self.0.insert(Arc::clone(text), Arc::clone(&reading));
        reading
    }
}

/// Whether a unit begins the definition of an option or other code.
fn defines_code(unit: &Unit, text: &str) -> bool {
    let line = || text.get(unit.range.clone()).unwrap_or_default();
    matches!(unit.kind, Kind::Sentence | Kind::Item { .. })
        && defined_term(line()).is_some_and(|term| term.starts_with(['`', '-', '\\', '.']))
}

impl Default for Readings {
    fn default() -> Self {
        Self(Arc::new(Cache::with_weighter(ENTRIES, BYTES, Weight)))
    }
}

impl fmt::Debug for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readings").field("passages", &self.0.len()).finish()
    }
}

/// The size of an entry in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<Arc<str>, Arc<Reading>> for Weight {
    fn weight(&self, text: &Arc<str>, reading: &Arc<Reading>) -> u64 {
        let units = std::mem::size_of_val::<[Unit]>(&reading.units);
        let words = std::mem::size_of_val::<[Word]>(&reading.words);
        (text.len() + units + words + reading.definitions.len() + OVERHEAD) as u64
    }
}
