//! The contract as a file, so that reviews show every change of it, and the types of the clients that follow from it.

use std::fs;

use anyhow::{Context as _, ensure};

use crate::process;

const FILE: &str = "docs/openapi.json";

/// Writes the document that the server serves to `docs/openapi.json`, and the types of the clients. With `check`,
/// returns an error if a file differs from the document.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let path = process::root().join(FILE);
    let example = ["run", "--quiet", "--package", "cicerone-http", "--example", "openapi"];
    let document = process::output(&example)?;
    if check {
        let kept = fs::read_to_string(&path).with_context(|| format!("reading `{FILE}`"))?;
        ensure!(kept == document, "`{FILE}` differs: run `cargo xtask openapi` and review it");
        println!("openapi: {FILE} is up to date");
    } else {
        process::write(&path, &document)?;
    }
    let clients = ["run", "--quiet", "--package", "cicerone-clients", "--"];
    process::cargo(&[&clients[..], if check { &["--check"] } else { &[] }].concat(), &[])
}
