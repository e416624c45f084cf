//! Questions with their answers.

use anyhow::Context as _;
use serde::Deserialize;

use crate::eval::collection::Collection;

#[derive(Deserialize)]
struct StackFile {
    root: StackRoot,
}

#[derive(Deserialize)]
struct StackRoot {
    qapair: Vec<StackPair>,
}

#[derive(Deserialize)]
struct StackPair {
    rephr: Vec<Option<String>>,
    question: String,
    answer: Answers,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answers {
    One(String),
    Many(Vec<String>),
}

/// Pairs with questions in other words.
pub(super) fn stackfaq(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let file: StackFile = serde_json::from_str(text)?;
    let mut collection = Collection::new(name);
    for pair in file.root.qapair {
        let answer = match pair.answer {
            Answers::One(answer) => answer,
            Answers::Many(answers) => answers.join("\n\n"),
        };
        let number = collection.add_passage(Some(&pair.question), &answer, true);
        // A single star separates two groups of rephrasings.
        for rephrased in pair.rephr.iter().flatten().filter(|text| text.trim() != "*") {
            collection.ask(rephrased, [number]);
        }
    }
    Ok(collection)
}

#[derive(Deserialize)]
struct CovidRow {
    question: String,
    answer: String,
}

/// The pairs, and their questions.
fn covid_pairs(name: &'static str, text: &str) -> anyhow::Result<(Collection, Vec<String>)> {
    let mut collection = Collection::new(name);
    let mut questions: Vec<String> = Vec::new();
    for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let row: CovidRow = row?;
        collection.add_passage(Some(&row.question), &row.answer, true);
        questions.push(row.question.trim().to_owned());
    }
    Ok((collection, questions))
}

/// The same pairs, asked in a few loose words and with typing mistakes. Each line of `asked` has
/// the numbers of the pairs that answer it, and the question.
pub(super) fn covid_short(
    name: &'static str,
    text: &str,
    asked: &str,
) -> anyhow::Result<Collection> {
    let (mut collection, _) = covid_pairs(name, text)?;
    for line in asked.lines().filter(|line| !line.starts_with('#')) {
        let (numbers, question) = line.split_once(' ').context("a line without a question")?;
        let numbers: Result<Vec<usize>, _> = numbers.split(',').map(str::parse).collect();
        collection.ask(question, numbers?);
    }
    Ok(collection)
}

/// Pairs with questions in their own words. For a question that is stored twice, either pair is
/// right.
pub(super) fn covid(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let (mut collection, questions) = covid_pairs(name, text)?;
    for question in &questions {
        let same = questions.iter().enumerate().filter(|(_, other)| *other == question);
        let same: Vec<usize> = same.map(|(number, _)| number).collect();
        collection.ask(question, same);
    }
    Ok(collection)
}
