//! What the files of the console may contain, and how large they may be.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::files::{FILES, PAGE};
use super::{Console, ConsoleSettings, served};
use crate::compression::{Effort, gzip};

/// Everything that a browser loads, compressed.
const BUDGET_BYTES: usize = 100_000;
/// Of each of our own files.
const LINES: usize = 500;
/// Ways to turn text into code or markup, which the policy of the page also refuses.
const FORBIDDEN: [&str; 9] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "javascript:",
    "unsafeHTML",
    "localStorage.setItem('cicerone-key",
];
/// Addresses that are examples, names of formats, or parts of patterns, and are never requested.
const KNOWN_ADDRESSES: [&str; 5] = [
    "http://www.w3.org/2000/svg",
    "https://museum.example",
    "https://example.com/hook",
    "https?://",
    "`https://${trimmed}`",
];

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("console")
}

/// The files that are not another project's.
fn ours() -> impl Iterator<Item = (&'static str, &'static str)> {
    let files = FILES.iter().filter(|(name, _)| !name.starts_with("vendor/"));
    let texts = files.map(|(name, bytes)| (*name, std::str::from_utf8(bytes).expect("UTF-8")));
    texts.chain([("index.html", PAGE)])
}

fn collect(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let entry = entry.expect("an entry");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

#[test]
fn every_file_is_served() {
    let mut found = BTreeSet::new();
    collect(&folder(), "", &mut found);
    // The page is made of the first; the second is for developers.
    assert!(found.remove("index.html") && found.remove("vendor.json"));
    let served: BTreeSet<_> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, served, "crates/http/src/console/files.rs must list the files of the folder");
}

#[test]
fn all_files_together_are_small() {
    let page = (&"index.html", PAGE.as_bytes());
    // Licences are served, but a browser does not load them.
    let loaded = FILES.iter().filter(|(name, _)| !name.ends_with("LICENSE"));
    let all = loaded.map(|(name, bytes)| (name, *bytes)).chain([page]);
    let sent = |bytes: &[u8]| gzip(bytes, Effort::Kept).map_or(bytes.len(), |small| small.len());
    let sizes: Vec<_> = all.map(|(name, bytes)| (*name, sent(&served(name, bytes)))).collect();
    let sum: usize = sizes.iter().map(|(_, size)| size).sum();
    assert!(sum <= BUDGET_BYTES, "{sum} bytes are more than {BUDGET_BYTES}: {sizes:?}");
}

#[test]
fn files_can_be_served_without_their_comments() {
    for (name, text) in ours().filter(|(name, _)| name.ends_with(".js")) {
        // `slim` knows lines only: what looks like a comment in a template or a string would be lost.
        for line in text.lines().map(str::trim).filter(|line| line.contains("/** @")) {
            let before = line.split("/** @").next().unwrap_or_default();
            let quotes = before.chars().filter(|letter| matches!(letter, '\'' | '"')).count();
            assert_eq!(quotes % 2, 0, "{name}: {line}");
        }
    }
    let script = served("a.js", b"/** A. */\n  let a;\n");
    assert_eq!(script, "let a;\n");
    assert_eq!(served("a.css", b"a {\n  color: red;\n}\n"), "a{color:red}");
    let (name, vendored) =
        FILES.iter().find(|(name, _)| name.ends_with("lit-html.js")).expect("it");
    assert_eq!(served(name, vendored), *vendored);
}

#[test]
fn no_file_makes_code_or_markup_of_texts() {
    for (name, text) in ours() {
        for forbidden in FORBIDDEN {
            assert!(!text.contains(forbidden), "{name} contains `{forbidden}`");
        }
        for (start, _) in text.match_indices(" on") {
            let rest = &text[start + 3..];
            let letters = rest.chars().take_while(char::is_ascii_lowercase).count();
            let is_handler = letters > 0 && rest[letters..].starts_with('=');
            assert!(!is_handler, "{name} has the attribute `on{}`", &rest[..letters]);
        }
        assert!(
            !text.contains(" style="),
            "{name} has a style attribute, which the policy refuses"
        );
    }
}

#[test]
fn no_file_names_another_host() {
    for (name, text) in ours() {
        for (start, _) in text.match_indices("://") {
            let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
            let rest = text[line..].lines().next().unwrap_or_default();
            let is_known = KNOWN_ADDRESSES.iter().any(|known| rest.contains(known))
                || rest.contains("https?:\\/\\/");
            assert!(is_known, "{name} names another host: {rest}");
        }
    }
}

#[test]
fn files_are_short() {
    for (name, text) in ours() {
        assert!(text.lines().count() <= LINES, "{name} has more than {LINES} lines");
    }
}

/// `vendor.json`.
#[derive(Deserialize)]
struct Record {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    licence: String,
    files: Vec<VendoredFile>,
}

#[derive(Deserialize)]
struct VendoredFile {
    path: String,
    sha256: String,
}

#[test]
fn files_of_others_are_unchanged() {
    let record = std::fs::read(folder().join("vendor.json")).expect("vendor.json");
    let record: Record = serde_json::from_slice(&record).expect("a record");
    let mut recorded = BTreeSet::new();
    for package in &record.packages {
        assert!(["MIT", "ISC", "BSD-3-Clause"].contains(&package.licence.as_str()));
        for file in &package.files {
            let found = FILES.iter().find(|(name, _)| *name == file.path);
            let (_, bytes) = found.unwrap_or_else(|| panic!("{} is not served", file.path));
            let hash: String =
                Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hash, file.sha256, "{} is not that of {}", file.path, package.name);
            recorded.insert(file.path.as_str());
        }
        let has_licence = package.files.iter().any(|file| file.path.ends_with("LICENSE"));
        assert!(has_licence, "the licence of {} is not served", package.name);
    }
    for (name, _) in FILES.iter().filter(|(name, _)| name.starts_with("vendor/")) {
        assert!(recorded.contains(name), "vendor.json does not know {name}");
    }
}

#[test]
fn the_page_names_every_module() {
    let console = Console::new(&ConsoleSettings::default()).expect("it is turned on");
    let page = console.render(PAGE.as_bytes());
    let text = std::str::from_utf8(page.plain()).expect("UTF-8");
    for (name, _) in
        FILES.iter().filter(|(name, _)| name.ends_with(".js") || name.ends_with(".css"))
    {
        assert!(text.contains(&format!("console/{}/{name}\"", console.version)), "{name}");
    }
    assert!(!text.contains('{') && !text.contains("<!-- "));
}
