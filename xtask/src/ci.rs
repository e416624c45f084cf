//! The checks of the gate, for a developer's machine.

use crate::{advisories, layers, openapi, process};

/// Everything that the gate runs, in its order. `cargo-deny` is skipped, and said so, where it is
/// not installed.
pub(crate) fn run() -> anyhow::Result<()> {
    process::run("cargo", &["fmt", "--all", "--check"])?;
    if process::exists("cargo-deny", "--version") {
        process::run("cargo", &["deny", "--offline", "check", "bans", "licenses", "sources"])?;
    } else {
        println!(
            "cargo-deny is not installed, its checks are skipped: cargo install --locked cargo-deny"
        );
    }
    advisories::check()?;
    process::run(
        "cargo",
        &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    )?;
    let warnings = [("RUSTDOCFLAGS", "-D warnings")];
    process::run_with("cargo", &["doc", "--workspace", "--no-deps", "--locked"], &warnings)?;
    layers::check()?;
    openapi::run(true)?;
    test(&[])
}

/// All tests; `filter` goes to the test binaries.
pub(crate) fn test(filter: &[String]) -> anyhow::Result<()> {
    let mut arguments = vec!["test", "--workspace"];
    if !filter.is_empty() {
        arguments.push("--");
        arguments.extend(filter.iter().map(String::as_str));
    }
    process::run("cargo", &arguments)
}
