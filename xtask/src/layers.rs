//! The direction of the layers: who may depend on whom, checked on the manifests.

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::process;

/// What each crate of ours may depend on among the crates of ours, tests aside.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("cicerone-domain", &[]),
    ("cicerone-egress", &[]),
    ("cicerone-language", &[]),
    ("cicerone-storage", &["cicerone-domain"]),
    ("cicerone-ingestion", &["cicerone-domain", "cicerone-egress", "cicerone-language"]),
    // Not an adapter: it carries out what the others provide, and reading and crawling are functions to it.
    ("cicerone-processing", &["cicerone-domain", "cicerone-ingestion"]),
    ("cicerone-retrieval", &["cicerone-domain", "cicerone-language"]),
    ("cicerone-llm", &["cicerone-domain", "cicerone-language"]),
    ("cicerone-webhooks", &["cicerone-domain", "cicerone-egress"]),
    ("cicerone-http", &["cicerone-domain"]),
    (
        "cicerone-server",
        &[
            "cicerone-domain",
            "cicerone-egress",
            "cicerone-http",
            "cicerone-ingestion",
            "cicerone-language",
            "cicerone-llm",
            "cicerone-processing",
            "cicerone-retrieval",
            "cicerone-storage",
            "cicerone-webhooks",
        ],
    ),
];

/// Crates that other services use on their own, and what must not come with them.
const STANDALONE: [(&str, &[&str]); 3] = [
    ("cicerone-domain", &["actix-web", "diesel", "tantivy", "reqwest"]),
    ("cicerone-egress", &["actix-web", "diesel", "tantivy"]),
    ("cicerone-ingestion", &["actix-web", "diesel", "tantivy"]),
];

/// Fails with every arrow that points the wrong way.
pub(crate) fn check() -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    let metadata = process::output("cargo", &["metadata", "--format-version=1", "--no-deps"])?;
    let metadata: Value = serde_json::from_str(&metadata).context("reading cargo's metadata")?;
    for package in metadata["packages"].as_array().context("cargo's metadata has no packages")? {
        wrong.extend(wrong_arrows(package));
    }
    for (name, heavy) in STANDALONE {
        let tree =
            process::output("cargo", &["tree", "-p", name, "-e", "normal", "--prefix=none"])?;
        for heavy in heavy {
            if tree.lines().any(|line| line.split(' ').next() == Some(*heavy)) {
                wrong.push(format!("`{name}` is used on its own and must not bring `{heavy}`"));
            }
        }
    }
    if !wrong.is_empty() {
        bail!("the layers are crossed:\n  {}", wrong.join("\n  "));
    }
    println!("layers: every arrow points the right way");
    Ok(())
}

fn wrong_arrows(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    // `tests` and `xtask` stand outside and may see everything.
    let outside = ["cicerone-tests", "xtask"].contains(&name);
    let allowed = ALLOWED.iter().find(|(of, _)| *of == name).map(|(_, allowed)| *allowed);
    let Some(allowed) = allowed else {
        return if outside {
            Vec::new()
        } else {
            vec![format!("`{name}` has no place in the layers")]
        };
    };
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    dependencies
        .iter()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| dependency["name"].as_str())
        .filter(|on| on.starts_with("cicerone-") && !allowed.contains(on))
        .map(|on| format!("`{name}` must not depend on `{on}`"))
        .collect()
}
