//! Running other programs from the project's root.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use cicerone_tests::process::Program;
use clap::Args;

/// The project's root folder.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

/// Runs a program to its end, its output shown. Fails where it does.
pub(crate) fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    run_with(program, arguments, &[])
}

/// Runs a program with more environment variables.
pub(crate) fn run_with(
    program: &str,
    arguments: &[&str],
    variables: &[(&str, &str)],
) -> anyhow::Result<()> {
    println!("$ {program} {}", arguments.join(" "));
    let status = Command::new(program)
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("starting `{program}`"))?;
    if !status.success() {
        bail!("`{program} {}` failed: {status}", arguments.join(" "));
    }
    Ok(())
}

/// Runs a program and gives what it printed. Fails where it does.
pub(crate) fn output(program: &str, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("starting `{program}`"))?;
    if !output.status.success() {
        bail!("`{program} {}` failed: {}", arguments.join(" "), output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{program}` printed no UTF-8"))
}

/// Whether a program can be started.
pub(crate) fn exists(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Which server to drive.
#[derive(Args)]
pub(crate) struct ServerBinary {
    /// A server that is built already, in place of the release binary of this tree
    #[arg(long, value_name = "FILE", global = true)]
    binary: Option<PathBuf>,
}

impl ServerBinary {
    /// The server: as given, or built as it is shipped.
    pub(crate) fn program(&self) -> anyhow::Result<Program> {
        match &self.binary {
            Some(path) => {
                Ok(Program::at(path.canonicalize().with_context(|| path.display().to_string())?))
            }
            None => release_server().map(Program::at),
        }
    }
}

fn release_server() -> anyhow::Result<PathBuf> {
    run("cargo", &["build", "--release", "--locked", "--package", "cicerone-server"])?;
    let metadata = output("cargo", &["metadata", "--format-version=1", "--no-deps"])?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(Path::new(target).join("release/cicerone"))
}
