//! The numbers of packages that the README states are those that cargo counts.

#![expect(clippy::expect_used, reason = "a failed setup is a failed test")]

use std::collections::BTreeSet;
use std::process::Command;

/// The packages that this one is compiled from with these features, itself included.
fn packages(features: &str) -> usize {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none"])
        .args(["--target", "x86_64-unknown-linux-gnu", "--no-default-features"])
        .args(["--features", features, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).expect("text");
    let named = tree.lines().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
    named.filter(|package| !package.is_empty()).collect::<BTreeSet<_>>().len()
}

#[test]
fn the_readme_states_how_many_packages_each_layer_compiles() {
    let readme = include_str!("../README.md");
    for (row, features) in [
        ("none", ""),
        ("`html`", "html"),
        ("`pdf`", "pdf"),
        ("`office`", "office"),
        ("`sandbox`", "sandbox"),
        ("`crawl`", "crawl"),
        ("all", "html,pdf,sandbox,crawl"),
    ] {
        let start = format!("| {row} |");
        let line = readme.lines().find(|line| line.starts_with(&start)).expect("a row");
        let stated = line.trim_end_matches([' ', '|']).rsplit("| ").next();
        assert_eq!(stated, Some(packages(features).to_string().as_str()), "of {row}");
    }
}
