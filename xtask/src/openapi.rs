//! The contract as a file, so that reviews show every change of it, and the types of the clients that follow from it.

use std::fs;

use anyhow::{Context as _, bail};

use crate::process;

const FILE: &str = "docs/openapi.json";

/// Writes the document that the server serves to `docs/openapi.json`, and the types of the clients. With `check`,
/// returns an error if a file differs from the document.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    contract(check)?;
    cicerone_clients::run(&process::root(), check)
}

fn contract(check: bool) -> anyhow::Result<()> {
    let path = process::root().join(FILE);
    let example = ["run", "--quiet", "--package", "cicerone-http", "--example", "openapi"];
    let document = process::output(&example)?;
    if !check {
        fs::write(&path, document).with_context(|| format!("writing `{FILE}`"))?;
        println!("wrote {FILE}");
        return Ok(());
    }
    let kept = fs::read_to_string(&path).with_context(|| format!("reading `{FILE}`"))?;
    if kept != document {
        bail!("`{FILE}` differs from the code: run `cargo xtask openapi` and review it");
    }
    println!("openapi: {FILE} is up to date");
    Ok(())
}
