//! Backups and restores that are killed half-way: after the next start, or the next restore,
//! nothing remains of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use cicerone_tests::process::Server;
use tempfile::TempDir;

use super::arena::Field;
use super::report::Report;
use crate::bench::corpus::{self, Numbers};

/// Texts in the database, and the characters of each.
const TEXTS: usize = 40;
const TEXT_CHARS: usize = 90_000;
/// The number of backups and restores that are killed.
const ROUNDS: usize = 10;
/// The longest time before one is killed.
const KILLED_MILLIS: u64 = 400;
/// Folders in which files appear and disappear.
const CHANGING: [&str; 2] = ["index", "uploads"];

/// Runs the siege, on SQLite.
pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let mut numbers = Numbers::new(field.seed);
    let mut server = Server::of(&field.program).start();
    let client = server.client();
    let agent = client.agent().await;
    for _ in 0..field.count(TEXTS, TEXTS / 4) {
        client.text(&agent, &corpus::text(&mut numbers, TEXT_CHARS)).await;
    }
    server.restart();
    let usual = names(server.data())?;
    let backups = TempDir::with_prefix("cicerone-siege-").context("making a folder")?;
    let whole = backups.path().join("whole");
    server.succeed(&["backup", &whole.display().to_string()]);

    let rounds = field.count(ROUNDS, 3);
    let mut report = Report::default();
    let mut left = BTreeSet::new();
    for round in 0..rounds {
        let file = backups.path().join(format!("half-{round}"));
        let backup = field.program.command(server.data(), &["backup", &file.display().to_string()]);
        kill_after(backup, &mut numbers)?;
    }
    server.restart();
    left.extend(names(server.data())?.difference(&usual).cloned());

    for _ in 0..rounds {
        let data = TempDir::with_prefix("cicerone-siege-").context("making a folder")?;
        let restore =
            field.program.command(data.path(), &["restore", &whole.display().to_string()]);
        kill_after(restore, &mut numbers)?;
        // It is carried out now, or it reports that this has already happened.
        field.program.run(data.path(), &["restore", &whole.display().to_string()]);
        let server = Server::of(&field.program).start_in(data);
        left.extend(names(server.data())?.difference(&usual).cloned());
    }
    report.attempted(format!("{rounds} killed backups and {rounds} killed restores left {left:?}"));
    report.check(left.is_empty(), format!("after the next start there were {left:?}"));
    Ok(report)
}

/// Starts a command and kills it at a random moment.
fn kill_after(mut command: Command, numbers: &mut Numbers) -> anyhow::Result<()> {
    let mut child: Child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("starting it")?;
    std::thread::sleep(Duration::from_millis(numbers.below(KILLED_MILLIS)));
    // It may have ended by itself.
    let _ = child.kill();
    child.wait().context("waiting for it")?;
    Ok(())
}

/// The names of files and folders in a data directory.
fn names(data: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(data).context("reading the data directory")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if CHANGING.contains(&name.as_str()) {
            continue;
        }
        if entry.path().is_dir() {
            let within = std::fs::read_dir(entry.path()).context("reading a folder")?;
            for inner in within {
                found.insert(format!("{name}/{}", inner?.file_name().to_string_lossy()));
            }
        }
        found.insert(name);
    }
    ensure!(!found.is_empty(), "the data directory is empty");
    Ok(found)
}
