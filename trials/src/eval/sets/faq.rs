//! Questions with their answers.

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

/// Pairs that are asked in other words.
pub(super) fn stackfaq(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let file: StackFile = serde_json::from_str(text)?;
    let mut collection = Collection::new(name);
    for pair in file.root.qapair {
        let answer = match pair.answer {
            Answers::One(answer) => answer,
            Answers::Many(answers) => answers.join("\n\n"),
        };
        let number = collection.add_passage(Some(&pair.question), &answer, true);
        // A lone star separates two groups of rephrasings.
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

/// Pairs that are asked in their own words. A question that is stored twice may find either.
pub(super) fn covid(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let mut collection = Collection::new(name);
    let mut questions: Vec<String> = Vec::new();
    for row in csv::Reader::from_reader(text.as_bytes()).deserialize() {
        let row: CovidRow = row?;
        collection.add_passage(Some(&row.question), &row.answer, true);
        questions.push(row.question.trim().to_owned());
    }
    for question in &questions {
        let same = questions.iter().enumerate().filter(|(_, other)| *other == question);
        let same: Vec<usize> = same.map(|(number, _)| number).collect();
        collection.ask(question, same);
    }
    Ok(collection)
}
