//! Known faults in the crates of this tree: by the RustSec database if it can be reached, else by the
//! dated summary in `advisories.toml`.

mod summary;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::process;

/// The database.
const DATABASE: &str = "https://github.com/RustSec/advisory-db";
/// How long it may take to answer before it counts as out of reach.
const PATIENCE: Duration = Duration::from_secs(20);

/// Checks them. Fails if a crate is affected by an advisory that `deny.toml` does not accept, and if a
/// database that can be reached cannot be read.
pub(crate) fn check() -> anyhow::Result<()> {
    let is_installed = process::exists("cargo-deny", "--version");
    if is_installed && is_reached()? {
        return process::run("cargo", &["deny", "check", "advisories"]);
    }
    if is_installed {
        println!("`{DATABASE}` cannot be reached within {} s", PATIENCE.as_secs());
    } else {
        println!("cargo-deny is not installed: cargo install --locked cargo-deny");
    }
    summary::check()
}

/// Whether the database answers.
fn is_reached() -> anyhow::Result<bool> {
    let mut child = Command::new("git")
        .args(["ls-remote", "--exit-code", DATABASE, "HEAD"])
        // Nobody is there to be asked for a password.
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("starting `git`")?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().context("waiting for `git`")? {
            return Ok(status.success());
        }
        if Instant::now() > deadline {
            child.kill().context("ending `git`")?;
            child.wait().context("waiting for `git`")?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
