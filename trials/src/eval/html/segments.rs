//! Pages with segments that their text must contain and segments that it must not.
//!
//! A wanted segment in the text counts as found, one that is missing as missed, and an unwanted one
//! in the text as false. Precision is found / (found + false), recall is found / (found + missed),
//! over the segments of all pages.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;
use unicode_normalization::UnicodeNormalization as _;
use url::Url;

/// The expectations for a page.
#[derive(Debug, Deserialize)]
struct Expected {
    file: String,
    #[serde(default)]
    with: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

#[derive(Debug, Default)]
struct Counts {
    found: usize,
    missed: usize,
    false_: usize,
}

/// Reads every page that `evaldata.json` in the folder lists. Does nothing without that file.
pub(super) fn run(folder: &Path) -> anyhow::Result<()> {
    let list = folder.join("evaldata.json");
    if !list.exists() {
        return Ok(());
    }
    let text = std::fs::read_to_string(&list).context("reading `evaldata.json`")?;
    let pages: BTreeMap<String, Expected> =
        serde_json::from_str(&text).context("`evaldata.json` is not as expected")?;
    let mut counts = Counts::default();
    let mut lost = Vec::new();
    let mut read = 0;
    for (address, page) in &pages {
        let file = folder.join("pages").join(&page.file);
        if !file.exists() {
            continue;
        }
        let source = std::fs::read(&file).with_context(|| format!("reading `{}`", page.file))?;
        let url = Url::parse(address).or_else(|_| Url::parse("https://example.com/"))?;
        let text = match cicerone_ingestion::read_page(&source, None, &url) {
            Ok(page) => page.reading.text,
            Err(reason) => {
                println!("{}: {reason}", page.file);
                String::new()
            }
        };
        read += 1;
        // Letters with diacritics can be encoded in several ways.
        let text: String = text.nfc().collect();
        let is_in = |segment: &&String| text.contains(&segment.nfc().collect::<String>());
        let found = page.with.iter().filter(is_in).count();
        counts.found += found;
        counts.missed += page.with.len() - found;
        counts.false_ += page.without.iter().filter(is_in).count();
        if found == 0 && !page.with.is_empty() {
            lost.push(page.file.as_str());
        }
    }
    let share = |part: usize, rest: usize| part as f64 / (part + rest).max(1) as f64;
    let precision = share(counts.found, counts.false_);
    let recall = share(counts.found, counts.missed);
    let f1 = 2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE);
    println!(
        "segments of {read} pages: precision {precision:.3}, recall {recall:.3}, F1 {f1:.3} (trafilatura 2.3.1 F1 .924)"
    );
    println!("{} pages lost all that was wanted: {}", lost.len(), lost.join(", "));
    Ok(())
}
