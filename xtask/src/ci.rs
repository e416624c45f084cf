//! The gate.

use anyhow::Context as _;

use crate::{advisories, layers, openapi, process, rust_version};

/// Runs every check and all tests. If `cargo-deny` is missing, its checks are skipped with a message.
pub(crate) fn run() -> anyhow::Result<()> {
    cargo("fmt --all --check", &[])?;
    if process::exists("cargo-deny", &["--version"]) {
        // `cargo-deny` checks the dependencies of all platforms.
        cargo("fetch --locked", &[])?;
        cargo("deny --offline check bans licenses sources", &[])?;
    } else {
        println!("skipped: cargo-deny is not installed: cargo install --locked cargo-deny");
    }
    advisories::check()?;
    cargo("clippy --workspace --all-targets --locked -- -D warnings", &[])?;
    cargo("doc --workspace --no-deps --locked", &[("RUSTDOCFLAGS", "-D warnings")])?;
    rust_version::check()?;
    // These have workspaces of their own: the fuzz targets, and a program that uses our crates. The
    // library that drives fuzzing needs a C++ compiler, and only `fuzz/run.sh` links it.
    for folder in ["fuzz", "examples/reading"] {
        let check =
            format!("check --locked --manifest-path {folder}/Cargo.toml --target-dir target");
        cargo(&check, &[("CUSTOM_LIBFUZZER_PATH", "/not/linked/libfuzzer.a")])?;
    }
    // The crates that other programs use, packaged as for a registry.
    let ours = "-pcicerone-domain -pcicerone-egress -pcicerone-ingestion -pcicerone-language";
    cargo(&format!("package --quiet --locked --allow-dirty --no-verify {ours}"), &[])?;
    layers::check()?;
    openapi::run(true)?;
    test(&[])?;
    // The README's first command, and then the console in a browser with the program that it built.
    let question = "Does Cicerone work without a model?";
    let ask = ["run", "--release", "--locked", "--target-dir", "target", "--", "ask"];
    process::cargo(&[&ask[..], &["--source", "README.md", question]].concat(), &[])?;
    let program = process::root().join("target/release/cicerone").canonicalize()?;
    let program = program.to_str().context("the program's path is not UTF-8")?;
    // The whole workspace, whose features are the ones that the tests above were built with.
    cargo("test --workspace --test suite -- console::", &[("CICERONE_PROGRAM", program)])
}

/// All tests: the README's second command. `filter` is passed to the test binaries.
pub(crate) fn test(filter: &[String]) -> anyhow::Result<()> {
    let mut arguments = vec!["test", "--workspace", "--"];
    arguments.extend(filter.iter().map(String::as_str));
    process::cargo(&arguments, &[])
}

/// Runs `cargo` with the arguments of `line`, of which none contains a blank.
fn cargo(line: &str, variables: &[(&str, &str)]) -> anyhow::Result<()> {
    process::cargo(&line.split(' ').collect::<Vec<_>>(), variables)
}
