//! Two servers on one SQLite file, each with its own data directory.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use cicerone_tests::process::Server;
use tempfile::TempDir;

use super::arena::Field;
use super::report::Report;

/// How long the second server may take to refuse.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the siege. The file is named in three ways.
pub(super) async fn run(field: Field) -> anyhow::Result<Report> {
    let folder = TempDir::with_prefix("cicerone-siege-").context("making a folder")?;
    let file = folder.path().join("shared.db");
    let link = folder.path().join("link.db");
    let first = Server::of(&field.program)
        .env("CICERONE_DATABASE_URL", format!("sqlite:{}", file.display()))
        .start();
    std::os::unix::fs::symlink(&file, &link).context("making a link")?;
    let mut report = Report::default();
    let names = [
        ("by the same name", file.display().to_string()),
        ("by a link", link.display().to_string()),
        ("by another path", format!("{}/./shared.db", folder.path().display())),
    ];
    for (how, name) in names {
        let ended = second(&field, &format!("sqlite:{name}"))?;
        report.attempted(format!("a second server {how} {}", if ended { "ended" } else { "ran" }));
        report.check(ended, format!("a second server {how} was started"));
    }
    first.client().get("/v1/agents").await.expect(200);
    Ok(report)
}

/// Starts a second server on the file. Returns whether it ended by itself without success.
fn second(field: &Field, url: &str) -> anyhow::Result<bool> {
    let data = TempDir::with_prefix("cicerone-siege-").context("making a folder")?;
    let mut command = field.program.command(data.path(), &["serve"]);
    command.env("CICERONE_BIND", "127.0.0.1:0").env("CICERONE_DATABASE_URL", url);
    let mut child =
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("starting it")?;
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().context("waiting for it")? {
            return Ok(!status.success());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().context("ending it")?;
    child.wait().context("waiting for it")?;
    Ok(false)
}
