//! The server under test.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use cicerone_tests::process::Program;
use clap::Args;

/// Which server to test.
#[derive(Args)]
pub(crate) struct ServerBinary {
    /// A built server, instead of the release binary of this tree
    #[arg(long, value_name = "FILE", global = true)]
    binary: Option<PathBuf>,
}

impl ServerBinary {
    /// The given server, or one built from this tree in the release profile.
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
    cargo(&["build", "--release", "--locked", "--package", "cicerone-server"])?;
    let metadata = cargo(&["metadata", "--format-version=1", "--no-deps"])?;
    let metadata: serde_json::Value = serde_json::from_slice(&metadata)?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(Path::new(target).join("release/cicerone"))
}

/// Runs cargo in the project's root folder and returns what it printed.
fn cargo(arguments: &[&str]) -> anyhow::Result<Vec<u8>> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(own.parent().unwrap_or(own))
        .stderr(Stdio::inherit())
        .output()
        .context("starting `cargo`")?;
    ensure!(output.status.success(), "`cargo {}` failed: {}", arguments.join(" "), output.status);
    Ok(output.stdout)
}
