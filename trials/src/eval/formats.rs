//! `cargo trial eval formats`: files of office programs, books and messages, read in a child
//! process, compared with the text from LibreOffice and pandoc if they are installed.
//!
//! Rows of tables repeat the headers of their columns, so words are looked up and not counted:
//! `found` is the share of the other tool's words that our text contains, `own` the share of our
//! words that the other tool's text contains.
//!
//! A file with its text beside it (`FILE.known`, by `trials/write-formats.py`) is compared with that instead: `F1` is that
//! of words, of different ones in tables.

mod references;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bytes::Bytes;
use cicerone_ingestion::detect_upload_type;

use super::files;
use crate::formats::{End, FORMATS, readers};
use references::Reference;

/// Files with a lower share found are printed one by one.
const GOOD: f64 = 0.95;
/// A file whose share found fell by more than this since the last run is reported.
const FELL: f64 = 0.01;
/// A text with fewer words is not used to judge a reader.
const FEW_WORDS: usize = 5;
/// Formats whose rows repeat the headers of their columns.
const TABLES: [&str; 4] = ["xlsx", "xls", "ods", "csv"];
/// The shares of the last run.
const LAST: &str = "target/eval/formats.json";

/// A file as we and the other tools read it.
struct Trial {
    name: String,
    words: HashSet<String>,
    reason: Option<String>,
    took: Duration,
    theirs: Vec<Option<HashSet<String>>>,
    /// How well our text agrees with the known one, if there is one.
    known: Option<f64>,
}

/// Reads every file of these formats in the folder.
pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut found = BTreeMap::new();
    println!(
        "{:6} {:>6} {:>6} {:>8} {:>8} {:>9}  agreement",
        "format", "files", "read", "refused", "words", "slowest"
    );
    for (format, kind) in FORMATS {
        let paths = files::with_extension(data, format)?;
        let references = Reference::of(format);
        for reference in &references {
            reference.prepare(data, &paths)?;
        }
        let readers = {
            let _guard = runtime.enter();
            readers(1, None)?
        };
        let mut trials = Vec::new();
        for path in &paths {
            let name = path.strip_prefix(data).unwrap_or(path).display().to_string();
            let bytes = std::fs::read(path).with_context(|| format!("reading `{name}`"))?;
            if detect_upload_type(&bytes) != Some(kind) {
                println!("{name}: detected as {:?}", detect_upload_type(&bytes));
            }
            let begun = Instant::now();
            let outcome = runtime.block_on(readers.file(kind, Bytes::from(bytes), None));
            let took = begun.elapsed();
            let (text, reason) = match outcome {
                Ok(reading) => (reading.text, None),
                Err(reason) => (String::new(), Some(reason.to_string())),
            };
            let ours = words(&text);
            let theirs = references.iter().map(|tool| tool.text(data, path).as_deref().map(words));
            let known = std::fs::read_to_string(format!("{}.known", path.display())).ok();
            let known = known.map(|known| f1(&known, &text, TABLES.contains(&format)));
            let theirs = if known.is_some() { Vec::new() } else { theirs.collect() };
            trials.push(Trial { name, words: ours, reason, took, theirs, known });
        }
        print(format, &trials, &references);
        found.extend(trials.iter().map(|trial| (trial.name.clone(), trial.found())));
    }
    compare_with_the_last_run(&found)
}

impl Trial {
    /// The share of the tools' words that the text contains, for the tool that agrees best; 1 if
    /// there is none.
    fn found(&self) -> f64 {
        if let Some(f1) = self.known {
            return f1;
        }
        let shares = self.theirs.iter().flatten().filter(|theirs| theirs.len() >= FEW_WORDS);
        let best = shares.map(|theirs| share(theirs, &self.words)).reduce(f64::max);
        best.unwrap_or(if self.reason.is_none() { 1.0 } else { 0.0 })
    }
}

/// The F1 of the words of a known text and ours; of different words only, if they may repeat.
fn f1(known: &str, ours: &str, repeats: bool) -> f64 {
    let counts = |text: &str| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for word in runs(text) {
            let count = counts.entry(word).or_default();
            *count = if repeats { 1 } else { *count + 1 };
        }
        counts
    };
    let (known, ours) = (counts(known), counts(ours));
    let common: usize =
        known.iter().map(|(word, count)| ours.get(word).map_or(0, |own| *own.min(count))).sum();
    let all: usize = known.values().chain(ours.values()).sum();
    2.0 * common as f64 / all.max(1) as f64
}

/// Different words.
fn words(text: &str) -> HashSet<String> {
    runs(text).collect()
}

/// Runs of letters and digits, in lower case.
fn runs(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|char: char| !char.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.map(str::to_lowercase)
}

/// The share of the words of `these` that are also in `those`.
fn share(these: &HashSet<String>, those: &HashSet<String>) -> f64 {
    let common = these.iter().filter(|word| those.contains(*word)).count();
    common as f64 / these.len().max(1) as f64
}

fn print(format: &str, trials: &[Trial], references: &[Reference]) {
    for trial in trials {
        match &trial.reason {
            Some(reason) => println!("{}: {:?}: {reason}", trial.name, End::of(reason)),
            None if trial.found() < GOOD => println!("{:.3} {}", trial.found(), trial.name),
            None => {}
        }
    }
    let read = trials.iter().filter(|trial| trial.reason.is_none()).count();
    let slowest = trials.iter().map(|trial| trial.took).max().unwrap_or_default();
    let agreement = references.iter().enumerate().map(|(index, reference)| {
        let both = trials.iter().filter_map(|trial| {
            let theirs = trial.theirs.get(index)?.as_ref()?;
            let is_asked = trial.reason.is_none() && theirs.len() >= FEW_WORDS;
            is_asked.then(|| (share(theirs, &trial.words), share(&trial.words, theirs)))
        });
        let both: Vec<(f64, f64)> = both.collect();
        let mean = |part: fn(&(f64, f64)) -> f64| {
            both.iter().map(part).sum::<f64>() / both.len().max(1) as f64
        };
        let (found, own) = (mean(|pair| pair.0), mean(|pair| pair.1));
        format!("{} ({} files): found {found:.3}, own {own:.3}", reference.name(), both.len())
    });
    let known: Vec<f64> = trials.iter().filter_map(|trial| trial.known).collect();
    let least = known.iter().copied().fold(1.0, f64::min);
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let of_known = (!known.is_empty())
        .then(|| format!("known ({} files): F1 {mean:.4}, least {least:.3}", known.len()));
    println!(
        "{format:6} {:>6} {read:>6} {:>8} {:>8} {:>9}  {}",
        trials.len(),
        trials.len() - read,
        trials.iter().map(|trial| trial.words.len()).sum::<usize>(),
        format!("{slowest:.1?}"),
        of_known.into_iter().chain(agreement).collect::<Vec<_>>().join("; "),
    );
}

/// Prints the names of the files of which less is found than in the last run.
fn compare_with_the_last_run(found: &BTreeMap<String, f64>) -> anyhow::Result<()> {
    let last = std::fs::read(LAST).ok();
    let last: BTreeMap<String, f64> =
        last.and_then(|last| serde_json::from_slice(&last).ok()).unwrap_or_default();
    for (name, share) in found {
        if let Some(before) = last.get(name).filter(|before| *before - share > FELL) {
            println!("{name} fell from {before:.3} to {share:.3}");
        }
    }
    if let Some(folder) = Path::new(LAST).parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(LAST, serde_json::to_vec(found)?)?;
    Ok(())
}
