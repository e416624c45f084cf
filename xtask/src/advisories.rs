//! Checks for known vulnerabilities in the dependencies: from the RustSec database if it can be
//! reached, otherwise from the dated summary in `advisories.toml`.

mod summary;

use crate::process;

const DATABASE: &str = "https://github.com/RustSec/advisory-db";
/// How long the database may take to answer before it is considered unreachable, in seconds.
const PATIENCE: &str = "20";

/// Returns an error if a crate is affected by an advisory that `deny.toml` does not accept, or if the
/// database can be reached but not read.
pub(crate) fn check() -> anyhow::Result<()> {
    // Git must not prompt for a password: nobody would answer.
    let ask = ["GIT_TERMINAL_PROMPT=0", "timeout", PATIENCE, "git", "ls-remote", DATABASE, "HEAD"];
    if !process::exists("cargo-deny", &["--version"]) {
        println!("cargo-deny is not installed: cargo install --locked cargo-deny");
    } else if process::exists("env", &ask) {
        return process::cargo(&["deny", "check", "advisories"], &[]);
    } else {
        println!("`{DATABASE}` cannot be reached within {PATIENCE} s");
    }
    summary::check()
}
