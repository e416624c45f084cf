//! More connections without a key than the server may have open files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use anyhow::Context as _;
use cicerone_tests::process::Program;
use tempfile::TempDir;

use super::arena::{Arena, Field};
use super::connections;
use super::report::{RISE_MIB, Report};

/// The number of connections that send nothing.
const CONNECTIONS: usize = 1_100;
/// The usual soft limit of open files.
const SOFT: usize = 1_024;
/// The usual hard limit.
const HARD: usize = 4_096;

/// With the usual limits: the server raises the soft one. The connections come from one address and
/// from eleven.
pub(super) async fn soft(field: Field) -> anyhow::Result<Report> {
    besiege(field, HARD, &[1, 11]).await
}

/// With a limit that cannot be raised. The connections come from one address.
pub(super) async fn hard(field: Field) -> anyhow::Result<Report> {
    besiege(field, SOFT, &[1]).await
}

async fn besiege(mut field: Field, hard: usize, addresses: &[usize]) -> anyhow::Result<Report> {
    let folder = TempDir::with_prefix("cicerone-siege-").context("making a folder")?;
    field.program = limited(&field.program, &folder, hard)?;
    let arena = Arena::open(&field, field.server()?).await?;
    let time = field.seconds(20, 5);
    let mut report = Report::default();
    for &addresses in addresses {
        let attack = connections::hold(arena.server.address(), CONNECTIONS, addresses, "", time);
        let fates = arena.besiege(&mut report, RISE_MIB, attack).await?;
        report.attempted(format!(
            "{CONNECTIONS} idle connections from {addresses} addresses at limits of {SOFT} and \
             {hard} files: {} came about, {} open after {} s",
            fates.made,
            fates.open,
            time.as_secs(),
        ));
    }
    Ok(report)
}

/// The program with limits of open files.
fn limited(program: &Program, folder: &TempDir, hard: usize) -> anyhow::Result<Program> {
    let path = folder.path().join("limited");
    let program = program.path().display();
    let script =
        format!("#!/bin/sh\nulimit -S -n {SOFT}\nulimit -H -n {hard}\nexec '{program}' \"$@\"\n");
    fs::write(&path, script).context("writing a script")?;
    fs::set_permissions(&path, Permissions::from_mode(0o700)).context("making it executable")?;
    Ok(Program::at(path))
}
