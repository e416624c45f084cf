//! Which document each passage of an extracted source is from.

use cicerone_domain::content::{Document, Extracted, Passage};

/// The position of each passage's document. Passages stand in the order of their documents, and a
/// document's passages are stretches of its text, in order.
pub(super) fn documents_of_passages(extracted: &Extracted) -> Vec<i64> {
    let mut documents = extracted.documents.iter().peekable();
    let mut current = documents.next();
    // Bytes of the current document's text that earlier passages took.
    let mut taken = 0;
    let mut positions = Vec::with_capacity(extracted.passages.len());
    for passage in &extracted.passages {
        while documents.peek().is_some() {
            if let Some(end) = current.and_then(|document| end_within(document, passage, taken)) {
                taken = end;
                break;
            }
            current = documents.next();
            taken = 0;
        }
        positions.push(current.map_or(0, |document| document.position));
    }
    positions
}

/// Where the passage ends in the document's text after its first `taken` bytes; none where it is not
/// from there.
fn end_within(document: &Document, passage: &Passage, taken: usize) -> Option<usize> {
    if document.is_pair && document.title != passage.title {
        return None;
    }
    let rest = document.text.get(taken..)?;
    rest.find(&passage.text).map(|at| taken + at + passage.text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)], passages: &[(&str, &str)]) -> Extracted {
        let document = |(position, (question, answer)): (i64, &(&str, &str))| Document {
            position,
            url: None,
            title: Some((*question).to_owned()),
            page_count: None,
            text: (*answer).to_owned(),
            is_pair: true,
        };
        let passage = |(position, (question, text)): (i64, &(&str, &str))| Passage {
            position,
            title: Some((*question).to_owned()),
            heading: None,
            url: None,
            page: None,
            text: (*text).to_owned(),
            is_pair: true,
            language: None,
        };
        Extracted {
            title: None,
            documents: (0..).zip(pairs).map(document).collect(),
            passages: (0..).zip(passages).map(passage).collect(),
        }
    }

    #[test]
    fn a_long_answer_has_several_passages() {
        let extracted = pairs(
            &[("a", "one. two. one."), ("b", "three")],
            &[("a", "one."), ("a", "two."), ("a", "one."), ("b", "three")],
        );
        assert_eq!(documents_of_passages(&extracted), [0, 0, 0, 1]);
    }

    #[test]
    fn the_same_pair_twice_is_two_documents() {
        let pair = ("a", "one");
        assert_eq!(
            documents_of_passages(&pairs(&[pair, pair, pair], &[pair, pair, pair])),
            [0, 1, 2]
        );
    }

    #[test]
    fn a_single_document_has_all_passages_whatever_they_say() {
        let extracted = pairs(&[("a", "one")], &[("x", "y"), ("z", "")]);
        assert_eq!(documents_of_passages(&extracted), [0, 0]);
        assert!(documents_of_passages(&pairs(&[], &[])).is_empty());
    }
}
