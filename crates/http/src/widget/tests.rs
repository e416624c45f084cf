//! What the widget may contain, and how large it may be.

use std::collections::BTreeSet;

use cicerone_domain::widget::TEXT_KEYS;

use super::{MODULES, STYLE, script};
use crate::compression::{Effort, gzip};

/// Of the script, compressed.
const BUDGET_BYTES: usize = 10_000;
/// Ways to turn text into code or markup, and to store data on the visitor's machine that the book does not mention.
const FORBIDDEN: [&str; 12] = [
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "eval(",
    "new Function",
    "javascript:",
    "setHTML",
    "createContextualFragment",
    "DOMParser",
    "cookie",
    "sessionStorage",
];

#[test]
fn the_script_is_small() {
    let script = script();
    let size = gzip(script.as_bytes(), Effort::Kept).map_or(script.len(), |small| small.len());
    assert!(size <= BUDGET_BYTES, "{size} bytes are more than {BUDGET_BYTES}");
}

#[test]
fn the_script_is_one_function_without_modules() {
    let script = script();
    assert!(script.starts_with("(() => {\n") && script.ends_with("})();\n"));
    for line in script.lines() {
        assert!(!line.starts_with("import ") && !line.starts_with("export "), "{line}");
    }
}

#[test]
fn names_of_its_modules_are_unique() {
    let mut names = BTreeSet::new();
    for (file, text) in MODULES {
        for line in text.lines() {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let line = line.strip_prefix("async ").unwrap_or(line);
            let declared = ["const ", "let ", "function ", "class "];
            let Some(rest) = declared.iter().find_map(|word| line.strip_prefix(word)) else {
                continue;
            };
            let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
            let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
            assert!(names.insert(&rest[..end]), "{file} declares {} again", &rest[..end]);
        }
    }
    assert!(names.contains("panelOf"), "{names:?}");
}

#[test]
fn it_makes_no_code_or_markup_of_texts_and_names_no_host() {
    for (file, text) in MODULES.iter().copied().chain([("style.css", STYLE)]) {
        for forbidden in FORBIDDEN {
            assert!(!text.contains(forbidden), "{file} contains `{forbidden}`");
        }
        for line in text.lines().filter(|line| line.contains("://")) {
            let known = ["http://www.w3.org/2000/svg", "https?://", "https?:\\/\\/"];
            assert!(known.iter().any(|known| line.contains(known)), "{file}: {line}");
        }
        assert!(text.lines().count() <= 500, "{file} is long");
    }
}

#[test]
fn the_contract_lists_the_keys_of_its_texts() {
    let texts =
        MODULES.iter().find_map(|(file, text)| (*file == "texts.js").then_some(*text)).unwrap();
    let key = |line: &str| Some(line.strip_prefix("  ")?.split_once(": '")?.0.to_owned());
    let mut keys: BTreeSet<String> = texts.lines().filter_map(key).collect();
    // The server's own words, unless they are replaced.
    keys.extend(["busy", "limit"].map(str::to_owned));
    assert_eq!(keys, TEXT_KEYS.map(str::to_owned).into());
}
