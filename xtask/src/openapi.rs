//! The contract as a file, so that a change of it is seen in review.

use std::fs;

use anyhow::{Context as _, bail};

use crate::process;

const FILE: &str = "docs/openapi.json";

/// Writes the document that the server serves to `docs/openapi.json`; with `check`, fails where the
/// file is not what the code says.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let path = process::root().join(FILE);
    let document =
        cicerone_http::openapi(&[]).to_pretty_json().context("rendering the document")?;
    let document = document + "\n";
    if !check {
        fs::write(&path, document).with_context(|| format!("writing `{FILE}`"))?;
        println!("wrote {FILE}");
        return Ok(());
    }
    let kept = fs::read_to_string(&path).with_context(|| format!("reading `{FILE}`"))?;
    if kept != document {
        bail!(
            "`{FILE}` is not what the code says: run `cargo xtask openapi` and look at the difference"
        );
    }
    println!("openapi: {FILE} is what the code says");
    Ok(())
}
