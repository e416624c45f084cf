//! Asks the linker for a smaller program, if the linker and the C library can do it.
//!
//! A position-independent program of this size has two hundred thousand relocations. As plain
//! records they take 5 MB, which every start reads and keeps in memory; packed (`DT_RELR`), 100 kB.
//!
//! Generic code is compiled for each type that it is used with, often to the same instructions. LLD, which Rust uses on
//! x86-64 Linux by default, and mold keep one of them (`--icf`).

use std::path::PathBuf;
use std::process::Command;

/// The first release of glibc that reads packed relocations.
const FIRST: (u32, u32) = (2, 36);
/// Keeps one of several functions with the same instructions.
const ICF: &str = "-Wl,--icf=all";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_for_glibc =
        variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let is_native = variable("HOST") == variable("TARGET");
    if is_for_glibc && is_native && glibc().is_some_and(|version| version >= FIRST) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    let is_optimised = variable("PROFILE") == "release";
    if variable("CARGO_CFG_TARGET_OS") == "linux" && is_optimised && is_linked_with(ICF) {
        println!("cargo::rustc-link-arg-bins={ICF}");
    }
}

/// Whether the linker, as it is configured, takes this argument.
fn is_linked_with(argument: &str) -> bool {
    let folder = PathBuf::from(variable("OUT_DIR"));
    let (source, program) = (folder.join("linked.rs"), folder.join("linked"));
    let (flags, linker) = (variable("CARGO_ENCODED_RUSTFLAGS"), variable("RUSTC_LINKER"));
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--target", &variable("TARGET"), "-C", &format!("link-arg={argument}"), "-o"]);
    rustc.arg(program).arg(&source).args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    if !linker.is_empty() {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    let is_written = std::fs::write(source, "fn main() {}").is_ok();
    is_written && rustc.output().is_ok_and(|output| output.status.success())
}

/// The value of a variable that Cargo sets for build scripts; empty if it is not set.
#[expect(clippy::disallowed_methods, reason = "the environment is how Cargo tells it")]
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The version of this machine's glibc; `None` if it is not known.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}
