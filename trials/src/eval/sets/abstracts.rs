//! Abstracts of papers, with questions or with topics and judgments.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use serde::Deserialize;

use crate::eval::collection::Collection;

#[derive(Deserialize)]
struct Paper {
    #[serde(rename = "QUESTION")]
    question: String,
    #[serde(rename = "CONTEXTS")]
    contexts: Vec<String>,
}

/// Questions that are the titles of papers; the abstract is the passage.
pub(super) fn pubmedqa(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let papers: BTreeMap<String, Paper> = serde_json::from_str(text)?;
    let mut collection = Collection::new(name);
    for paper in papers.into_values() {
        let number = collection.add_passage(None, &paper.contexts.join("\n"), false);
        collection.ask(&paper.question, [number]);
    }
    Ok(collection)
}

/// Abstracts marked up by lines that begin with a dot; questions are numbered by their position.
pub(super) fn cranfield(
    name: &'static str,
    documents: &str,
    questions: &str,
    judgments: &str,
) -> anyhow::Result<Collection> {
    let mut collection = Collection::new(name);
    for record in documents.split("\n.I ") {
        let title = section(record, ".T");
        let text = section(record, ".W");
        // The abstract repeats the title at its beginning.
        let text = text.strip_prefix(title.as_str()).unwrap_or(&text).trim();
        collection.add_passage(Some(&title), text, false);
    }
    let mut relevant: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for line in judgments.lines().filter(|line| !line.trim().is_empty()) {
        let mut columns = line.split_whitespace();
        let mut next = || columns.next().context("a judgment has too few columns");
        let (question, document, grade) = (next()?, next()?, next()?);
        if grade.parse::<i32>()? >= 0 {
            relevant.entry(question.parse()?).or_default().insert(document.parse::<usize>()? - 1);
        }
    }
    for (position, record) in questions.split("\n.I ").enumerate() {
        let relevant = relevant.remove(&(position + 1)).unwrap_or_default();
        collection.ask(&section(record, ".W"), relevant);
    }
    Ok(collection)
}

/// The lines after the line `mark`, up to the next one that begins with a dot and a capital.
fn section(record: &str, mark: &str) -> String {
    let lines = record.lines().skip_while(|line| line.trim_end() != mark).skip(1);
    let is_mark = |line: &str| {
        let mut characters = line.chars();
        characters.next() == Some('.')
            && characters.next().is_some_and(|character| character.is_ascii_uppercase())
            && line.trim_end().len() == 2
    };
    lines.take_while(|line| !is_mark(line)).collect::<Vec<_>>().join("\n")
}

/// The TREC format.
pub(super) fn vaswani(
    name: &'static str,
    documents: &str,
    questions: &str,
    judgments: &str,
) -> anyhow::Result<Collection> {
    let mut collection = Collection::new(name);
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for record in documents.split("<DOC>").skip(1) {
        let text = between(record, "</DOCNO>", "</DOC>")?;
        numbers.insert(
            between(record, "<DOCNO>", "</DOCNO>")?,
            collection.add_passage(None, text, false),
        );
    }
    let mut relevant: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for line in judgments.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        if let [question, _, document, grade] = columns.as_slice()
            && *grade != "0"
            && let Some(number) = numbers.get(document)
        {
            relevant.entry(question).or_default().insert(*number);
        }
    }
    for record in questions.split("<top>").skip(1) {
        let number = between(record, "<num>", "</num>")?;
        let text = between(record, "<title>", "</title>")?;
        collection.ask(&text.to_lowercase(), relevant.remove(number).unwrap_or_default());
    }
    Ok(collection)
}

fn between<'text>(text: &'text str, start: &str, end: &str) -> anyhow::Result<&'text str> {
    let (_, rest) = text.split_once(start).with_context(|| format!("no `{start}`"))?;
    let (inner, _) = rest.split_once(end).with_context(|| format!("no `{end}`"))?;
    Ok(inner.trim())
}
