//! `cargo trial mutate`: real files, changed at random, read as the server reads them.
//!
//! Every change follows from a seed, the format and a number, so that a finding can be reproduced.
//! A file must never crash a reader, exceed the time limit, or take more memory than allowed.

mod change;
mod peak;
mod through_server;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use cicerone_domain::{UploadType, limits};
use cicerone_ingestion::Readers;
use clap::Args;

use crate::eval::files;
use crate::formats::{self, End};
use crate::program;
use peak::Peak;

/// What to change, and how often.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    server: program::ServerBinary,
    /// The folder with the files to change, by their extensions
    #[arg(long)]
    files: PathBuf,
    /// Number of changed files of each format
    #[arg(long, default_value_t = 10_000)]
    count: usize,
    /// Only these formats
    #[arg(long = "format")]
    formats: Vec<String>,
    /// The seed of the random changes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A program that reads, such as a built server, instead of this one
    #[arg(long, value_name = "FILE")]
    reader: Option<PathBuf>,
    /// Number of reading processes
    #[arg(long, default_value_t = 2)]
    processes: usize,
    /// Files larger than this are left out
    #[arg(long, default_value_t = 300_000)]
    bytes: u64,
    /// How many of each format to send through a running server as well
    #[arg(long, default_value_t = 0)]
    served: usize,
    /// The folder for files that crashed a reader or exceeded a limit
    #[arg(long, default_value = "target/mutate")]
    findings: PathBuf,
}

/// A file to change.
struct Original {
    name: String,
    bytes: Vec<u8>,
}

/// The outcomes of the changed files of a format.
#[derive(Default)]
struct Tally {
    read: usize,
    ends: BTreeMap<End, usize>,
    findings: Vec<String>,
    slowest: (Duration, String),
}

/// Changes files of each format and reads them. Returns an error if one crashed its reader or took
/// too long.
pub(crate) async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut findings = 0;
    println!(
        "{:6} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10} {:>9}",
        "format",
        "files",
        "changed",
        "read",
        "refused",
        "crashed",
        "timeout",
        "memory",
        "slowest",
        "largest"
    );
    for (format, kind) in formats::named(&arguments.formats)? {
        let originals = originals(&arguments.files, format, arguments.bytes)?;
        if originals.is_empty() {
            println!("{format:6} no files in `{}`", arguments.files.display());
            continue;
        }
        let originals = Arc::new(originals);
        let peak = Peak::watch();
        let tally = change_all(&arguments, format, kind, &originals).await?;
        let largest = peak.end();
        let end = |end: End| tally.ends.get(&end).copied().unwrap_or(0);
        println!(
            "{format:6} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10} {:>6} MiB",
            originals.len(),
            arguments.count,
            tally.read,
            end(End::Refused) + end(End::Nested),
            end(End::Crashed),
            end(End::TimedOut),
            end(End::OutOfMemory),
            format!("{:.1?}", tally.slowest.0),
            largest / 1_024,
        );
        println!("       slowest: {}", tally.slowest.1);
        tally.findings.iter().for_each(|finding| println!("       {finding}"));
        findings += tally.findings.len();
        if arguments.served > 0 {
            let (seed, served) = (arguments.seed, arguments.served);
            through_server::run(&arguments.server, format, seed, served, &originals).await?;
        }
    }
    ensure!(findings == 0, "{findings} files are kept in `{}`", arguments.findings.display());
    Ok(())
}

/// Changes and reads the files of a format.
async fn change_all(
    arguments: &Arguments,
    format: &'static str,
    kind: UploadType,
    originals: &Arc<Vec<Original>>,
) -> anyhow::Result<Tally> {
    let readers = formats::readers(arguments.processes, arguments.reader.as_deref())?;
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for _ in 0..arguments.processes.max(1) {
        let (readers, next, originals) =
            (readers.clone(), Arc::clone(&next), Arc::clone(originals));
        let (seed, count) = (arguments.seed, arguments.count);
        let findings = arguments.findings.clone();
        tasks.push(tokio::spawn(async move {
            let mut tally = Tally::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(original) = originals.get(number % originals.len()) else { break };
                if number >= count {
                    break;
                }
                let bytes = change::of(&original.bytes, seed, format, number);
                let name = format!("{format}-{seed}-{number} of `{}`", original.name);
                tally.read(&readers, kind, bytes, &name, &findings).await?;
            }
            anyhow::Ok(tally)
        }));
    }
    let mut all = Tally::default();
    for task in tasks {
        all.add(task.await.context("a task")??);
    }
    Ok(all)
}

impl Tally {
    /// Reads a changed file, and saves it if it is a finding.
    async fn read(
        &mut self,
        readers: &Readers,
        kind: UploadType,
        bytes: Vec<u8>,
        name: &str,
        findings: &Path,
    ) -> anyhow::Result<()> {
        let bytes = Bytes::from(bytes);
        let begun = Instant::now();
        let outcome = readers.file(kind, bytes.clone(), None).await;
        let took = begun.elapsed();
        if took > self.slowest.0 {
            self.slowest = (took, name.to_owned());
        }
        let Err(reason) = outcome else {
            self.read += 1;
            return Ok(());
        };
        let end = End::of(&reason.to_string());
        *self.ends.entry(end).or_default() += 1;
        if !matches!(end, End::Refused | End::Nested) {
            let file = name.split(' ').next().unwrap_or(name);
            std::fs::create_dir_all(findings)?;
            std::fs::write(findings.join(file), &bytes)?;
            self.findings.push(format!("{name}: {reason}"));
        }
        Ok(())
    }

    fn add(&mut self, other: Self) {
        self.read += other.read;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        self.findings.extend(other.findings);
        if other.slowest.0 > self.slowest.0 {
            self.slowest = other.slowest;
        }
    }
}

/// The files of a format that are not too large.
fn originals(folder: &Path, format: &str, most: u64) -> anyhow::Result<Vec<Original>> {
    let mut originals = Vec::new();
    for path in files::with_extension(folder, format)? {
        let length = path.metadata()?.len();
        if length <= most.min(u64::try_from(limits::FILE_BYTES)?) && length > 0 {
            let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
            originals.push(Original { name, bytes: std::fs::read(&path)? });
        }
    }
    Ok(originals)
}
