//! `cargo trial eval html`: the text of web pages compared with the expectations of Readability's
//! authors, and with wanted and unwanted segments.

mod segments;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use select::document::Document;
use select::node::Node;
use url::Url;

use super::files;
use super::words::Words;

/// Pages with a lower score are printed one by one.
const GOOD: f64 = 0.9;
/// How often a page is read. The fastest time counts, because others use this machine too.
const TIMES: usize = 3;

/// Reads every page of the folder for which there is an expectation.
pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let url = Url::parse("https://example.com/")?;
    let mut scores: Vec<(f64, String)> = Vec::new();
    let mut times: Vec<Duration> = Vec::new();
    for path in files::with_extension(&data.join("html"), "html")? {
        let golden = path.with_file_name("expected.html");
        if path.file_name().is_none_or(|name| name != "source.html") || !golden.exists() {
            continue;
        }
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = folder.to_string_lossy().into_owned();
        let source = std::fs::read(&path).with_context(|| format!("reading `{name}`"))?;
        let mut quickest = Duration::MAX;
        let mut text = String::new();
        for _ in 0..TIMES {
            let begun = Instant::now();
            match cicerone_ingestion::read_page(&source, None, &url) {
                Ok(page) => text = page.reading.text,
                Err(reason) => println!("{name}: {reason}"),
            }
            quickest = quickest.min(begun.elapsed());
        }
        times.push(quickest);
        let golden = shown(&std::fs::read_to_string(golden)?);
        scores.push((Words::of(&golden).f1(&Words::of(&text)), name));
    }
    scores.sort_by(|one, other| one.0.total_cmp(&other.0));
    times.sort();
    for (score, name) in scores.iter().filter(|(score, _)| *score < GOOD) {
        println!("{score:.3} {name}");
    }
    let mean = scores.iter().map(|(score, _)| score).sum::<f64>() / scores.len().max(1) as f64;
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let slowest = times.last().copied().unwrap_or_default();
    println!("word-F1 over {} pages: {mean:.3} (trafilatura .933, all text .796)", scores.len());
    println!("time a page: median {median:?}, slowest {slowest:?}");
    segments::run(&data.join("html").join("trafilatura"))
}

/// All text of an expectation, which contains only content.
fn shown(html: &str) -> String {
    let document = Document::from(html);
    let mut text = String::new();
    for root in document.nodes.iter().filter(|node| node.parent.is_none()) {
        if let Some(root) = document.nth(root.index) {
            push(&root, &mut text);
        }
    }
    text
}

fn push(node: &Node<'_>, text: &mut String) {
    if let Some(own) = node.as_text() {
        text.push_str(own);
        return;
    }
    let is_within_a_line = node.name().is_some_and(|name| {
        [
            "a", "abbr", "b", "code", "em", "font", "i", "mark", "small", "span", "strong", "sub",
            "sup", "u",
        ]
        .contains(&name)
    });
    let edge = if is_within_a_line { "" } else { " " };
    text.push_str(edge);
    node.children().for_each(|child| push(&child, text));
    text.push_str(edge);
}
