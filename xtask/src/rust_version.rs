//! The Rust version that `Cargo.toml` declares.

use anyhow::{Context as _, ensure};
use semver::{Version, VersionReq};
use serde_json::Value;

use crate::process;

/// Returns an error if a dependency declares a later version than the workspace, or if the
/// workspace does not compile with its declared version. If the toolchain in use has that version, all other checks have
/// compiled the workspace with it. If none has it, prints a message; then only clippy's `incompatible_msrv` checks our own
/// code.
pub(crate) fn check() -> anyhow::Result<()> {
    let packages = process::packages(&["--locked"])?;
    let own = packages.iter().find(|package| package["name"] == "xtask");
    let declared = own.and_then(|own| own["rust_version"].as_str()).context("no rust-version")?;
    let later = later(&packages, declared)?;
    ensure!(later.is_empty(), "later than Rust {declared}:\n  {}", later.join("\n  "));
    println!("rust-version: every dependency allows {declared}");
    compile(declared)
}

fn compile(declared: &str) -> anyhow::Result<()> {
    if process::output(&["--version"])?.starts_with(&format!("cargo {declared}.")) {
        println!("rust-version: the toolchain in use is Rust {declared}");
        return Ok(());
    }
    let toolchain = format!("+{declared}");
    if !process::exists("cargo", &[&toolchain, "--version"]) {
        println!("skipped: Rust {declared} is not installed: rustup toolchain install {declared}");
        return Ok(());
    }
    // A separate folder: two versions of the compiler would invalidate each other's builds.
    let check = ["check", "--workspace", "--all-targets", "--locked"];
    let folder = ["--target-dir", "target/rust-version"];
    process::cargo(&[&[toolchain.as_str()], &check[..], &folder].concat(), &[])
}

/// The packages that need a later version than this one, which has no patch number, one on each line.
fn later(packages: &[Value], declared: &str) -> anyhow::Result<Vec<String>> {
    let declared = Version::parse(&format!("{declared}.0"))?;
    let mut later = Vec::new();
    for package in packages {
        let Some(needed) = package["rust_version"].as_str() else { continue };
        if !VersionReq::parse(&format!(">={needed}"))?.matches(&declared) {
            later.push(format!("{} {} needs {needed}", package["name"], package["version"]));
        }
    }
    Ok(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_that_need_a_later_version_are_named() {
        let package = |needed: &str| serde_json::json!({ "name": "reader", "version": "2.0.0", "rust_version": needed });
        let found = |needed: &str| later(&[package(needed)], "1.90").unwrap();
        assert!(found("1.90").is_empty() && found("1.90.0").is_empty() && found("1.9").is_empty());
        assert_eq!(found("1.90.1"), ["\"reader\" \"2.0.0\" needs 1.90.1"]);
        assert_eq!(found("1.95").len(), 1);
        assert!(later(&[serde_json::json!({})], "1.90").unwrap().is_empty());
    }
}
