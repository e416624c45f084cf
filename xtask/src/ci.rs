//! The gate.

use crate::{advisories, layers, openapi, process, rust_version};

/// Runs every check and all tests. Without `cargo-deny` its checks are skipped, and a line says so.
pub(crate) fn run() -> anyhow::Result<()> {
    process::cargo(&["fmt", "--all", "--check"], &[])?;
    if process::exists("cargo-deny", &["--version"]) {
        // `cargo-deny` looks at the crates of all platforms.
        process::cargo(&["fetch", "--locked"], &[])?;
        process::cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"], &[])?;
    } else {
        println!("skipped: cargo-deny is not installed: cargo install --locked cargo-deny");
    }
    advisories::check()?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    process::cargo(&clippy, &[])?;
    let warnings = [("RUSTDOCFLAGS", "-D warnings")];
    process::cargo(&["doc", "--workspace", "--no-deps", "--locked"], &warnings)?;
    rust_version::check()?;
    fuzz()?;
    outside()?;
    layers::check()?;
    openapi::run(true)?;
    test(&[])
}

/// Compiles the fuzz targets, which are a workspace of their own, without the library that drives
/// them: that one needs a C++ compiler, and only `fuzz/run.sh` links it.
fn fuzz() -> anyhow::Result<()> {
    let check = ["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir"];
    let no_library = [("CUSTOM_LIBFUZZER_PATH", "/not/linked/libfuzzer.a")];
    process::cargo(&[&check[..], &["target"]].concat(), &no_library)
}

/// Compiles the program that uses our crates from outside the workspace.
fn outside() -> anyhow::Result<()> {
    let manifest = ["check", "--manifest-path", "examples/reading/Cargo.toml"];
    process::cargo(&[&manifest[..], &["--locked", "--target-dir", "target"]].concat(), &[])
}

/// All tests: the README's second command. `filter` goes to the test binaries.
pub(crate) fn test(filter: &[String]) -> anyhow::Result<()> {
    let mut arguments = vec!["test", "--workspace"];
    if !filter.is_empty() {
        arguments.push("--");
        arguments.extend(filter.iter().map(String::as_str));
    }
    process::cargo(&arguments, &[])
}
