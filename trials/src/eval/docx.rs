//! `cargo trial eval docx`: the text of DOCX files compared with what pandoc reads.

mod native;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::files;
use super::words::Words;

/// Files with a lower score are printed one by one.
const GOOD: f64 = 0.965;

/// Reads every DOCX file of the folder, and compares those for which there is a golden text.
pub(crate) fn run(data: &Path) -> anyhow::Result<()> {
    let mut scores: Vec<(f64, String)> = Vec::new();
    let mut slowest = (Duration::ZERO, String::new());
    let (mut opened, mut refused) = (0, 0);
    for path in files::with_extension(&data.join("docx"), "docx")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).with_context(|| format!("reading `{name}`"))?;
        let begun = Instant::now();
        let outcome = cicerone_ingestion::read_docx(&bytes);
        let took = begun.elapsed();
        if took > slowest.0 {
            slowest = (took, name.clone());
        }
        let text = match outcome {
            Ok(reading) => {
                opened += 1;
                reading.text
            }
            Err(reason) => {
                refused += 1;
                println!("{name}: {reason}");
                String::new()
            }
        };
        let golden = path.with_extension("native");
        if golden.exists() {
            let golden = native::text(&std::fs::read_to_string(golden)?);
            let text: String = text.lines().map(without_marks).collect::<Vec<_>>().join("\n");
            scores.push((Words::of(&golden).f1(&Words::of(&text)), name));
        }
    }
    scores.sort_by(|one, other| one.0.total_cmp(&other.0));
    for (score, name) in scores.iter().filter(|(score, _)| *score < GOOD) {
        println!("{score:.3} {name}");
    }
    let mean = scores.iter().map(|(score, _)| score).sum::<f64>() / scores.len().max(1) as f64;
    println!("{opened} opened, {refused} refused; slowest {:?} `{}`", slowest.0, slowest.1);
    println!("word-F1 over {} goldens: {mean:.3} (mammoth .945)", scores.len());
    Ok(())
}

/// A line without its heading mark and its list label: the golden texts do not contain them.
fn without_marks(line: &str) -> &str {
    let line = line.trim_start().trim_start_matches('#').trim_start();
    match line.split_once(' ') {
        Some((first, rest)) if is_label(first) => rest,
        _ => line,
    }
}

/// `2.`, `b)`, `-`, `2.4`.
fn is_label(word: &str) -> bool {
    let is_number = word.contains('.') && word.starts_with(|char: char| char.is_ascii_digit());
    word.len() <= 8
        && (word.ends_with(['.', ')', '-']) || is_number)
        && word
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || matches!(char, '.' | '(' | ')' | '-'))
}
