//! The layers: which crate may depend on which. Checks the manifests.

use anyhow::ensure;
use serde_json::Value;

use crate::process;

/// The prefix of our crates' names.
const OURS: &str = "cicerone-";

/// Which of our crates each of our crates may depend on, except for its tests. The server may depend on all.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("domain", &[]),
    ("egress", &[]),
    ("language", &[]),
    ("storage", &["domain"]),
    ("ingestion", &["domain", "egress", "language"]),
    // Not an adapter: it carries out work through the ports, and uses reading and crawling as functions.
    ("processing", &["domain", "ingestion"]),
    ("retrieval", &["domain", "language"]),
    ("llm", &["domain", "language"]),
    ("webhooks", &["domain", "egress"]),
    ("http", &["domain"]),
];

/// Crates that other services use on their own, and the crates that they must not depend on.
const STANDALONE: [(&str, &[&str]); 3] = [
    ("domain", &["actix-web", "diesel", "tantivy", "reqwest"]),
    ("egress", &["actix-web", "diesel", "tantivy"]),
    ("ingestion", &["actix-web", "diesel", "tantivy"]),
];

/// Returns an error that lists every dependency that is not allowed.
pub(crate) fn check() -> anyhow::Result<()> {
    let packages = process::packages(&["--no-deps"])?;
    let mut wrong: Vec<String> = packages.iter().flat_map(wrong_arrows).collect();
    for (name, heavy) in STANDALONE {
        let package = format!("{OURS}{name}");
        let tree = process::output(&["tree", "-p", &package, "-e", "normal", "--prefix=none"])?;
        for heavy in heavy {
            if tree.lines().any(|line| line.split(' ').next() == Some(*heavy)) {
                wrong.push(format!("`{package}` is used on its own and must not bring `{heavy}`"));
            }
        }
    }
    ensure!(wrong.is_empty(), "these dependencies are not allowed:\n  {}", wrong.join("\n  "));
    println!("layers: every dependency is allowed");
    Ok(())
}

fn wrong_arrows(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    // Tests, trials and tasks are not part of the product and may depend on all of it.
    let is_product = package["manifest_path"].as_str().is_some_and(|at| at.contains("/crates/"));
    if !is_product || name == "cicerone-server" {
        return Vec::new();
    }
    let place = ALLOWED.iter().find(|(of, _)| name.strip_prefix(OURS) == Some(*of));
    let Some((_, allowed)) = place else {
        return vec![format!("`{name}` has no place in the layers")];
    };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    dependencies
        .iter()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str()?.strip_prefix(OURS))
        .filter(|on| !allowed.contains(on))
        .map(|on| format!("`{name}` must not depend on `{OURS}{on}`"))
        .collect()
}
