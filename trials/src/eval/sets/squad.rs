//! The format of SQuAD: articles of paragraphs with questions.

use cicerone_language::sentences;
use serde::Deserialize;

use crate::eval::collection::Collection;

/// The size in characters of a passage of a long paper.
const PASSAGE_CHARS: usize = 1_600;

#[derive(Deserialize)]
struct File {
    data: Vec<Article>,
}

#[derive(Deserialize)]
struct Article {
    paragraphs: Vec<Paragraph>,
}

#[derive(Deserialize)]
struct Paragraph {
    context: String,
    qas: Vec<Asked>,
}

#[derive(Deserialize)]
struct Asked {
    question: String,
}

/// Each paragraph is a passage.
pub(super) fn paragraphs(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let file: File = serde_json::from_str(text)?;
    let mut collection = Collection::new(name);
    for paragraph in file.data.into_iter().flat_map(|article| article.paragraphs) {
        let number = collection.add_passage(None, &paragraph.context, false);
        for asked in paragraph.qas {
            collection.ask(&asked.question, [number]);
        }
    }
    Ok(collection)
}

/// Each paragraph is a paper that is cut into passages at sentences: any of them counts as right.
pub(super) fn papers(name: &'static str, text: &str) -> anyhow::Result<Collection> {
    let file: File = serde_json::from_str(text)?;
    let mut collection = Collection::new(name);
    for paper in file.data.into_iter().flat_map(|article| article.paragraphs) {
        let mut passage = String::new();
        let first = collection.passages.len();
        for range in sentences(&paper.context) {
            let sentence = paper.context.get(range).unwrap_or_default();
            if !passage.is_empty() && passage.len() + sentence.len() > PASSAGE_CHARS {
                collection.add_passage(None, &std::mem::take(&mut passage), false);
            }
            passage.push_str(sentence);
            passage.push(' ');
        }
        collection.add_passage(None, &passage, false);
        let last = collection.passages.len();
        for asked in paper.qas {
            collection.ask(&asked.question, first..last);
        }
    }
    Ok(collection)
}
