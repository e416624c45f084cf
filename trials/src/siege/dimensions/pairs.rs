//! Question/answer pairs that are large in one dimension.

use serde_json::{Value, json};

use super::{Dimension, SENTENCES, Shape, words};

/// The most pairs of a source.
const MOST: usize = 500;
/// The most characters of a question.
const QUESTION_CHARS: usize = 2_000;

/// The `content` of a source.
pub(super) fn content(shape: Shape) -> String {
    let (count, total) = (shape.count.clamp(1, MOST), shape.count * shape.chars);
    let chars = (total / count).max(1);
    let pairs = (0..count).map(|at| {
        let (question, answer) = match shape.dimension {
            Dimension::Headings => {
                (words(chars.min(QUESTION_CHARS)), format!("# {}", words(chars)))
            }
            Dimension::Names => (words(chars), "At nine.".to_owned()),
            Dimension::Languages => {
                let sentence = SENTENCES[at % SENTENCES.len()];
                (sentence.to_owned(), sentence.repeat(chars / 60 + 1))
            }
            Dimension::Lines => (format!("When, {at}?"), "a\n".repeat(chars / 2 + 1)),
            Dimension::Nesting => (format!("When, {at}?"), "> ".repeat(chars / 2 + 1) + "a"),
            Dimension::Links => (format!("When, {at}?"), "[a](b) ".repeat(chars / 7 + 1)),
            Dimension::Cells => (format!("When, {at}?"), "|a".repeat(chars / 2 + 1)),
            Dimension::Pairs | Dimension::Attributes | Dimension::Pages | Dimension::Fonts => {
                (format!("When, {at}?"), words(chars))
            }
        };
        json!({ "question": question, "answer": answer })
    });
    Value::Array(pairs.collect()).to_string()
}
