//! Runs other programs from the project's root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Writes a file and says so.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("writing `{}`", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Runs `cargo` with additional environment variables and shows its output.
pub(crate) fn cargo(arguments: &[&str], variables: &[(&str, &str)]) -> anyhow::Result<()> {
    println!("\n== cargo {}", arguments.join(" "));
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).envs(variables.iter().copied()).current_dir(root());
    let status = cargo.status().context("starting `cargo`")?;
    ensure!(status.success(), "`cargo {}` failed: {status}", arguments.join(" "));
    Ok(())
}

/// Runs `cargo` and returns its output.
pub(crate) fn output(arguments: &[&str]) -> anyhow::Result<String> {
    let mut cargo = Command::new("cargo");
    cargo.args(arguments).current_dir(root()).stderr(Stdio::inherit());
    let output = cargo.output().context("starting `cargo`")?;
    ensure!(output.status.success(), "`cargo {}` failed", arguments.join(" "));
    String::from_utf8(output.stdout).context("`cargo` printed no UTF-8")
}

/// The packages that `cargo metadata` lists.
pub(crate) fn packages(options: &[&str]) -> anyhow::Result<Vec<Value>> {
    let metadata = output(&[&["metadata", "--format-version=1"], options].concat())?;
    Ok(serde_json::from_value(serde_json::from_str::<Value>(&metadata)?["packages"].take())?)
}

/// Whether a program can be run with these arguments.
pub(crate) fn exists(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).current_dir(root()).output();
    output.is_ok_and(|output| output.status.success())
}
