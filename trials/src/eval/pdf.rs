//! `cargo trial eval pdf`: the text of PDF files against golden texts, and against that of other tools.
//!
//! Every file is read as the server reads it, in a sandboxed child process. If other tools are
//! installed, their figures are printed beside ours, and files on which the first three of them
//! agree are compared with the first.

mod tools;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use cicerone_domain::UploadType;
use cicerone_ingestion::{PdfReader, Readers, SandboxSettings};

use super::files;
use super::words::Words;
use tools::Tool;

/// The argument, in place of a set, with which this program is a child that reads documents.
const READ_WORKER: &str = "read-worker";
/// The argument, in place of a set and before a reader and a file, with which this program reads
/// that file with that reader.
const READ_ALONE: &str = "read-pdf-alone";
/// Files with fewer words are not used to judge a reader.
const FEW_WORDS: usize = 10;
/// The number of tools that judge: the first ones of those that are installed.
const JUDGES: usize = 3;
/// The score from which on they agree on a file.
const AGREE: f64 = 0.95;
/// Files with a lower score are printed one by one.
const GOOD: f64 = 0.9;
/// A file whose score fell by more than this since the last run is reported.
const FELL: f64 = 0.01;
/// The longest that a file may take.
const LIMIT: Duration = Duration::from_secs(20);
/// The scores of the last run.
const LAST: &str = "target/eval/pdf.json";
/// The individual readers and their names.
const ALONE: [(PdfReader, &str); 3] = [
    (PdfReader::Glyphs, "glyphs"),
    (PdfReader::ExtractorAsItComes, "pdf-extract"),
    (PdfReader::Extractor, "repaired"),
];

/// A file as we and the other tools read it.
struct Trial {
    name: String,
    golden: Option<Words>,
    ours: Words,
    theirs: Vec<Words>,
    took: Duration,
    is_partly_read: bool,
}

/// Whether this program is a child of this evaluation, according to its sets. If so, it has done
/// the child's work.
pub(crate) fn is_child(sets: &[String]) -> anyhow::Result<bool> {
    match sets {
        [only] if only == READ_WORKER => {
            cicerone_ingestion::serve_reader();
            Ok(true)
        }
        [first, reader, path] if first == READ_ALONE => {
            read_alone(reader, Path::new(path))?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Reads every PDF of the folder.
pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let readers = {
        let _guard = runtime.enter();
        let arguments = ["eval", "--data", ".", READ_WORKER].map(Into::into).to_vec();
        Readers::new(SandboxSettings { arguments, ..Default::default() })
    };
    let tools = tools::installed();
    let folder = data.join("pdf");
    let mut trials = Vec::new();
    for path in files::with_extension(&folder, "pdf")? {
        let name = path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy().into_owned();
        let bytes = Bytes::from(std::fs::read(&path).with_context(|| format!("reading `{name}`"))?);
        let begun = Instant::now();
        let outcome = runtime.block_on(readers.file(UploadType::Pdf, bytes, None));
        let took = begun.elapsed();
        let (ours, is_partly_read) = match outcome {
            Ok(reading) => (Words::of(&reading.text), !reading.warnings.is_empty()),
            Err(reason) => {
                println!("{name}: {reason}");
                (Words::default(), false)
            }
        };
        let golden = std::fs::read_to_string(format!("{}.txt", path.display())).ok();
        let golden = golden.as_deref().map(Words::of);
        let theirs = tools.iter().map(|tool| tool.words(&path, &name));
        let theirs = theirs.collect::<anyhow::Result<_>>()?;
        trials.push(Trial { name, golden, ours, theirs, took, is_partly_read });
    }
    print(&trials, &tools);
    compare_with_the_last_run(&trials)?;
    trials.sort_by_key(|trial| trial.took);
    print_times(&trials)
}

/// Prints word-F1 on the files with a golden text, and on those on which the first tools agree.
fn print(trials: &[Trial], tools: &[Tool]) {
    let goldens: Vec<(&Trial, &Words)> =
        trials.iter().filter_map(|trial| Some((trial, trial.golden.as_ref()?))).collect();
    let judges = JUDGES.min(tools.len());
    let agreed: Vec<(&Trial, &Words)> = trials
        .iter()
        .filter_map(|trial| {
            let [first, others @ ..] = trial.theirs.get(..judges)? else { return None };
            let agree = |other: &Words| other.len() >= FEW_WORDS && first.f1(other) >= AGREE;
            let is_text = first.len() >= FEW_WORDS && !others.is_empty();
            (is_text && others.iter().all(agree)).then_some((trial, first))
        })
        .collect();
    for (trial, reference) in goldens.iter().chain(&agreed) {
        let score = reference.f1(&trial.ours);
        if score < GOOD {
            println!("{score:.3} {} ({} words)", trial.name, reference.len());
        }
    }
    println!(
        "\n{:12} {:>8} {:>8} {:>9} {:>11}",
        "reader", "goldens", "agreed", "below .9", "with words"
    );
    row("ours", &goldens, &agreed, trials, |trial| &trial.ours);
    for (index, tool) in tools.iter().enumerate() {
        row(tool.name, &goldens, &agreed, trials, |trial| &trial.theirs[index]);
    }
    let partly = trials.iter().filter(|trial| trial.is_partly_read).count();
    println!("{} goldens, {} agreed, {partly} files partly read", goldens.len(), agreed.len());
}

fn row(
    name: &str,
    goldens: &[(&Trial, &Words)],
    agreed: &[(&Trial, &Words)],
    trials: &[Trial],
    words: impl Fn(&Trial) -> &Words,
) {
    let scores = |files: &[(&Trial, &Words)]| -> Vec<f64> {
        files.iter().map(|(trial, reference)| reference.f1(words(trial))).collect()
    };
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    let (goldens, agreed) = (scores(goldens), scores(agreed));
    let below = agreed.iter().filter(|score| **score < GOOD).count();
    let with_words = trials.iter().filter(|trial| words(trial).len() > 0).count();
    println!(
        "{name:12} {:>8.3} {:>8.3} {below:>9} {with_words:>11}",
        mean(&goldens),
        mean(&agreed)
    );
}

/// Prints the names of the files that are read worse than in the last run, by the best of the
/// references.
fn compare_with_the_last_run(trials: &[Trial]) -> anyhow::Result<()> {
    let score = |trial: &Trial| {
        let references = trial.golden.iter().chain(&trial.theirs);
        references.map(|reference| reference.f1(&trial.ours)).fold(0.0, f64::max)
    };
    let scores: BTreeMap<&str, f64> =
        trials.iter().map(|trial| (trial.name.as_str(), score(trial))).collect();
    let last = std::fs::read(LAST).ok();
    let last: BTreeMap<String, f64> =
        last.and_then(|last| serde_json::from_slice(&last).ok()).unwrap_or_default();
    for (name, score) in &scores {
        if let Some(before) = last.get(*name).filter(|before| *before - score > FELL) {
            println!("{name} fell from {before:.3} to {score:.3}");
        }
    }
    if let Some(folder) = Path::new(LAST).parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(LAST, serde_json::to_vec(&scores)?)?;
    Ok(())
}

/// Prints how long the files took, the slowest last.
fn print_times(trials: &[Trial]) -> anyhow::Result<()> {
    let at = |share: f64| trials.get((share * trials.len() as f64) as usize);
    let took = |trial: Option<&Trial>| trial.map_or(Duration::ZERO, |trial| trial.took);
    println!("median {:.1?}, p99 {:.1?}", took(at(0.5)), took(at(0.99)));
    let Some(slowest) = trials.last() else { return Ok(()) };
    println!("slowest {:.1?} `{}`", slowest.took, slowest.name);
    if slowest.took > LIMIT + Duration::from_secs(1) {
        bail!("`{}` took {:?}", slowest.name, slowest.took);
    }
    Ok(())
}

/// Prints the text that one reader alone reads from a file.
fn read_alone(reader: &str, path: &Path) -> anyhow::Result<()> {
    let known = ALONE.iter().find(|(_, name)| *name == reader);
    let (reader, _) = known.with_context(|| format!("there is no reader `{reader}`"))?;
    let bytes = std::fs::read(path)?;
    print!("{}", cicerone_ingestion::read_pdf_alone(*reader, &bytes).unwrap_or_default());
    Ok(())
}
