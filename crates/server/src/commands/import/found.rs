//! The items found in the inputs, before they are sent.

use std::collections::HashSet;
use std::path::PathBuf;

use cicerone_domain::limits;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// The largest content of a source of pairs, in bytes, so that a request stays far below its limit.
const PAIRS_BYTES: usize = 1_024 * 1_024;

/// A source to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// Pairs, as the content of a source.
    Pairs {
        name: String,
        count: usize,
        content: String,
    },
    Text {
        name: String,
        text: String,
    },
    Website(String),
    File(PathBuf),
}

impl Item {
    /// Its name in the report.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Pairs { name, count, .. } => format!("{name}: {count} pairs"),
            Self::Text { name, .. } => name.clone(),
            Self::Website(url) => url.clone(),
            Self::File(path) => path.display().to_string(),
        }
    }
}

/// Something that is not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The name of it in the report.
    pub(super) what: String,
    pub(super) reason: String,
}

/// What the inputs contain.
#[derive(Debug, Default)]
pub(super) struct Found {
    items: Vec<Item>,
    pub(super) refused: Vec<Refusal>,
    /// Pairs that are not in an item yet, as JSON, and their origin.
    pairs: Vec<String>,
    pairs_bytes: usize,
    pairs_of: String,
    /// Hashes of the pairs, texts and addresses that are there.
    seen: HashSet<[u8; 32]>,
}

impl Found {
    pub(super) fn refuse(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        self.refused.push(Refusal { what: what.into(), reason: reason.into() });
    }

    /// Whether this is the first time that these parts are seen.
    fn is_new(&mut self, parts: &[&str]) -> bool {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        self.seen.insert(hash.finalize().into())
    }

    /// Adds a pair of an input; `place` is its position there.
    pub(super) fn pair(&mut self, input: &str, place: &str, question: &str, answer: &str) {
        let (question, answer) = (question.trim(), answer.trim());
        let length = question.chars().count();
        let problem = if question.is_empty() {
            Some("the question is empty".to_owned())
        } else if answer.is_empty() {
            Some("the answer is empty".to_owned())
        } else if length > limits::QUESTION_CHARS {
            let most = limits::QUESTION_CHARS;
            Some(format!("the question has {length} characters; at most {most} are taken"))
        } else if question.contains('\0') || answer.contains('\0') {
            Some("it contains a NUL character".to_owned())
        } else if !self.is_new(&["pair", question, answer]) {
            Some("it repeats an earlier pair".to_owned())
        } else {
            None
        };
        let pair = json!({ "question": question, "answer": answer }).to_string();
        if let Some(problem) = problem {
            return self.refuse(format!("{input}: {place}"), problem);
        }
        let is_full = self.pairs.len() == limits::QA_PAIRS
            || self.pairs_bytes + pair.len() > PAIRS_BYTES
            || self.pairs_of != input;
        if is_full {
            self.end_pairs();
        }
        input.clone_into(&mut self.pairs_of);
        self.pairs_bytes += pair.len() + 1;
        self.pairs.push(pair);
    }

    fn end_pairs(&mut self) {
        let pairs = std::mem::take(&mut self.pairs);
        self.pairs_bytes = 0;
        if pairs.is_empty() {
            return;
        }
        let (name, count) = (self.pairs_of.clone(), pairs.len());
        let content = format!("[{}]", pairs.join(","));
        self.items.push(Item::Pairs { name, count, content });
    }

    /// Adds a text. One that is too long for a source becomes several.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return self.refuse(name, "the text is empty");
        }
        if text.contains('\0') {
            return self.refuse(name, "it contains a NUL character");
        }
        if !self.is_new(&["text", text]) {
            return self.refuse(name, "it repeats an earlier text");
        }
        let pieces = pieces(text, limits::TEXT_SOURCE_CHARS);
        let count = pieces.len();
        for (index, piece) in pieces.into_iter().enumerate() {
            let part = if count == 1 {
                name.to_owned()
            } else {
                format!("{name} ({} of {count})", index + 1)
            };
            self.items.push(Item::Text { name: part, text: piece.to_owned() });
        }
    }

    /// Adds a web page.
    pub(super) fn website(&mut self, url: &str) {
        let url = url.trim();
        if let Err(error) = cicerone_domain::source::WebsiteUrl::parse(url) {
            return self.refuse(url, error.message);
        }
        if !self.is_new(&["website", url]) {
            return self.refuse(url, "it repeats an earlier address");
        }
        self.items.push(Item::Website(url.to_owned()));
    }

    /// Adds a file, which is read when it is sent.
    pub(super) fn file(&mut self, path: PathBuf) {
        self.items.push(Item::File(path));
    }

    /// The number of web pages.
    pub(super) fn websites(&self) -> usize {
        self.items.iter().filter(|item| matches!(item, Item::Website(_))).count()
    }

    /// Everything that is to be sent.
    pub(super) fn into_items(mut self) -> Vec<Item> {
        self.end_pairs();
        self.items
    }
}

/// A text in pieces of at most `most` characters, each with something else than white space. It is cut between
/// paragraphs if possible, otherwise between lines or words.
fn pieces(text: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(most) {
        let head = rest.get(..end).unwrap_or(rest);
        let cut =
            ["\n\n", "\n", " "].iter().find_map(|mark| head.rfind(mark).filter(|at| *at > end / 2));
        let (piece, tail) = rest.split_at(cut.unwrap_or(end));
        pieces.push(piece.trim());
        rest = tail.trim_start();
    }
    pieces.push(rest);
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Found, Item, pieces};

    #[test]
    fn pairs_are_checked_and_divided_into_sources() {
        let mut found = Found::default();
        for number in 0..501 {
            found.pair("a.csv", "row", &format!("Question {number}"), "Answer");
        }
        found.pair("a.csv", "row 502", "Question 1", " Answer ");
        found.pair("a.csv", "row 503", " ", "Answer");
        found.pair("a.csv", "row 504", "Question", "");
        found.pair("a.csv", "row 505", &"é".repeat(2_001), "Answer");
        found.pair("b.csv", "row 1", "Question", "Answer");
        let reasons: Vec<&str> =
            found.refused.iter().map(|refusal| refusal.reason.as_str()).collect();
        assert_eq!(reasons.len(), 4);
        assert!(
            reasons[0].contains("repeats") && reasons[3].contains("2001 characters"),
            "{reasons:?}"
        );
        let names: Vec<String> = found.into_items().iter().map(Item::name).collect();
        assert_eq!(names, ["a.csv: 500 pairs", "a.csv: 1 pairs", "b.csv: 1 pairs"]);
    }

    #[test]
    fn a_long_text_is_cut_and_loses_no_word() {
        let paragraph = "word ".repeat(20);
        let text = vec![paragraph.trim(); 30].join("\n\n");
        let cut = pieces(&text, 500);
        assert!(cut.len() > 5 && cut.iter().all(|piece| piece.chars().count() <= 500));
        let words = |text: &str| text.split_whitespace().count();
        assert_eq!(cut.iter().map(|piece| words(piece)).sum::<usize>(), words(&text));
        assert_eq!(pieces(&"é".repeat(25), 10).len(), 3);
        assert_eq!(pieces("short", 10), ["short"]);
    }
}
