//! The gate.

use crate::{advisories, layers, openapi, process, rust_version};

/// Runs every check and all tests. If `cargo-deny` is missing, its checks are skipped with a message.
pub(crate) fn run() -> anyhow::Result<()> {
    process::cargo(&["fmt", "--all", "--check"], &[])?;
    if process::exists("cargo-deny", &["--version"]) {
        // `cargo-deny` checks the dependencies of all platforms.
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
    // These have workspaces of their own: the fuzz targets, and a program that uses our crates. The
    // library that drives fuzzing needs a C++ compiler, and only `fuzz/run.sh` links it.
    for manifest in ["fuzz/Cargo.toml", "examples/reading/Cargo.toml"] {
        let check = ["check", "--manifest-path", manifest, "--target-dir", "target"];
        process::cargo(&check, &[("CUSTOM_LIBFUZZER_PATH", "/not/linked/libfuzzer.a")])?;
    }
    // The crates that other programs use, packaged as for a registry.
    let ours =
        ["-pcicerone-domain", "-pcicerone-egress", "-pcicerone-ingestion", "-pcicerone-language"];
    let pack = ["package", "--quiet", "--locked", "--allow-dirty", "--no-verify"];
    process::cargo(&[&pack[..], &ours].concat(), &[])?;
    layers::check()?;
    openapi::run(true)?;
    test(&[])
}

/// All tests: the README's second command. `filter` is passed to the test binaries.
pub(crate) fn test(filter: &[String]) -> anyhow::Result<()> {
    let mut arguments = vec!["test", "--workspace", "--"];
    arguments.extend(filter.iter().map(String::as_str));
    process::cargo(&arguments, &[])
}
