//! `cargo trial eval pdf`: the text of PDF files against that of `pdftotext` (Debian's poppler-utils).
//!
//! Every file is read as the server reads it, in a child process behind walls; beside it each reader alone, in a
//! process of its own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use cicerone_domain::UploadType;
use cicerone_ingestion::{PdfReader, Readers, SandboxSettings};

use super::files;
use super::words::Words;

/// In the place of a set: this program is a child that reads documents.
const READ_WORKER: &str = "read-worker";
/// In the place of a set, before a reader and a file: this program reads that file by that reader.
const READ_ALONE: &str = "read-pdf-alone";
/// Files with fewer words say nothing about a reader.
const FEW_WORDS: usize = 10;
/// Files below this are printed one by one.
const GOOD: f64 = 0.93;
/// No file may take longer.
const LIMIT: Duration = Duration::from_secs(20);
/// The readers alone, and what they are called.
const ALONE: [(PdfReader, &str); 3] = [
    (PdfReader::Oxide, "pdf_oxide"),
    (PdfReader::ExtractorAsItComes, "pdf-extract"),
    (PdfReader::Extractor, "repaired"),
];

/// A file, as `pdftotext` and each of ours reads it.
struct Trial {
    name: String,
    reference: Words,
    ours: Words,
    alone: [Words; ALONE.len()],
}

/// Whether this program is a child of this evaluation, by its sets; then it has done what a child does.
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
    let mut trials = Vec::new();
    let (mut read, mut refused, mut slowest) = (0, 0, (Duration::ZERO, String::new()));
    for path in files::with_extension(&data.join("pdf"), "pdf")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = Bytes::from(std::fs::read(&path).with_context(|| format!("reading `{name}`"))?);
        let begun = Instant::now();
        let outcome = runtime.block_on(readers.file(UploadType::Pdf, bytes, None));
        let took = begun.elapsed();
        if took > slowest.0 {
            slowest = (took, name.clone());
        }
        let ours = match outcome {
            Ok(reading) => {
                read += 1;
                Words::of(&reading.text)
            }
            Err(reason) => {
                refused += 1;
                println!("{name}: {reason}");
                Words::default()
            }
        };
        let reference = pdftotext(&path)?;
        let alone = ALONE.map(|(_, reader)| alone(reader, &path));
        trials.push(Trial { name, reference, ours, alone });
    }
    print(&mut trials);
    println!("{read} read, {refused} refused; slowest {:.1?} `{}`", slowest.0, slowest.1);
    if slowest.0 > LIMIT + Duration::from_secs(1) {
        bail!("`{}` took {:?}", slowest.1, slowest.0);
    }
    Ok(())
}

/// Prints the files that are read badly, and the means.
fn print(trials: &mut [Trial]) {
    trials.sort_by(|one, other| one.score().total_cmp(&other.score()));
    for trial in trials.iter().filter(|trial| trial.reference.len() >= FEW_WORDS) {
        if trial.score() < GOOD {
            println!("{:.3} {} ({} words)", trial.score(), trial.name, trial.reference.len());
        }
    }
    println!("\n{:12} {:>6} {:>8}", "reader", "files", "word-F1");
    row("ours", trials, |trial| &trial.ours);
    for (index, (_, name)) in ALONE.iter().enumerate() {
        row(name, trials, |trial| &trial.alone[index]);
    }
}

/// The mean over the files of which both the reader and `pdftotext` make text.
fn row(name: &str, trials: &[Trial], words: impl Fn(&Trial) -> &Words) {
    let both = |trial: &&Trial| trial.reference.len().min(words(trial).len()) >= FEW_WORDS;
    let scores: Vec<f64> =
        trials.iter().filter(both).map(|trial| trial.reference.f1(words(trial))).collect();
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    println!("{name:12} {:>6} {mean:>8.3}", scores.len());
}

impl Trial {
    fn score(&self) -> f64 {
        self.reference.f1(&self.ours)
    }
}

fn pdftotext(path: &Path) -> anyhow::Result<Words> {
    let mut command = Command::new("pdftotext");
    command.args(["-q", "-enc", "UTF-8"]).arg(path).arg("-");
    let output = command.output().context("running `pdftotext`; Debian has it in poppler-utils")?;
    Ok(Words::of(&String::from_utf8_lossy(&output.stdout)))
}

/// The words that a reader alone makes of a file, in a process that may be lost.
fn alone(reader: &str, path: &Path) -> Words {
    let Ok(program) = std::env::current_exe() else { return Words::default() };
    let mut command = Command::new(program);
    command.args(["eval", "--data", ".", READ_ALONE]).arg(reader).arg(path).stderr(Stdio::null());
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    Words::of(&String::from_utf8_lossy(&output))
}

/// Prints what a reader alone makes of a file.
fn read_alone(reader: &str, path: &Path) -> anyhow::Result<()> {
    let known = ALONE.iter().find(|(_, name)| *name == reader);
    let (reader, _) = known.with_context(|| format!("there is no reader `{reader}`"))?;
    let bytes = std::fs::read(path)?;
    print!("{}", cicerone_ingestion::read_pdf_alone(*reader, &bytes).unwrap_or_default());
    Ok(())
}
