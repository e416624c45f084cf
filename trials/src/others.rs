//! Programs of others that ours is compared with, installed from their registries.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use tokio::process::Command;

/// The status with which the script reports that a dependency is missing.
const SKIPPED: i32 = 77;

/// The folder of their scripts and lists.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("beside")
}

/// Installs them in the target directory, and returns the folder. `None` if a registry is not reached or an interpreter
/// is missing, which is printed.
pub(crate) async fn install() -> anyhow::Result<Option<PathBuf>> {
    let script = scripts().join("install.sh");
    let output = Command::new(&script)
        .stderr(Stdio::inherit())
        .output()
        .await
        .with_context(|| format!("running `{}`", script.display()))?;
    if output.status.code() == Some(SKIPPED) {
        eprintln!("programs of others are left out");
        return Ok(None);
    }
    ensure!(output.status.success(), "`{}` ended with {}", script.display(), output.status);
    let folder = String::from_utf8(output.stdout).context("the name of a folder")?;
    Ok(Some(PathBuf::from(folder.trim())))
}
