//! The part of a page that the page itself marks as its content.

use select::document::Document;
use select::node::Node;

use super::dom::{elements, has_name};
use super::weights::Weights;

/// What says that an element is the content, the surest first.
const SIGNS: [fn(&Node<'_>) -> bool; 5] = [
    |node| node.attr("itemprop").is_some_and(|names| names.contains("articleBody")),
    |node| has_name(node, &BODIES),
    |node| node.name() == Some("article"),
    |node| node.name() == Some("main") || node.attr("role") == Some("main"),
    |node| has_name(node, &CONTENTS),
];
/// Names that publishing systems and generators of manuals give to a text.
const BODIES: [&str; 16] = [
    "article__body",
    "article__content",
    "article-body",
    "article-content",
    "articlebody",
    "articlecontent",
    "entry-content",
    "markdown-body",
    "mw-parser-output",
    "post__content",
    "post-body",
    "post-content",
    "rst-content",
    "story-body",
    "story-content",
    "theme-doc-markdown",
];
/// Names that are also given to other things.
const CONTENTS: [&str; 8] = [
    "article",
    "content",
    "content-body",
    "entry",
    "main-content",
    "maincontent",
    "page-content",
    "post",
];
/// The content has at least this percentage of the text outside links.
const SHARE: usize = 30;
/// And at least so many letters and digits.
const ENOUGH: usize = 400;
/// All others with the same sign hold at most one part in so many of it: else it is a list of things.
const OTHERS: usize = 4;

/// The element that holds the content by the page's own word; none where the page says nothing, or
/// says it of too little.
pub(super) fn stated<'a>(document: &'a Document, weights: &Weights) -> Option<Node<'a>> {
    let page = weights.page(document);
    SIGNS.iter().find_map(|is_sign| {
        let signed = outermost(
            elements(document)
                .filter(|node| !matches!(node.name(), Some("html" | "body")) && is_sign(node)),
        );
        let weight = |node: &Node<'_>| weights.at(node).plain();
        let all: usize = signed.iter().map(weight).sum();
        let largest = signed.into_iter().max_by_key(weight)?;
        let held = weight(&largest);
        let is_content =
            held >= ENOUGH && held * 100 >= page * SHARE && (all - held) * OTHERS <= held;
        is_content.then_some(largest)
    })
}

/// Of nodes in page order, those that are inside none of the others.
fn outermost<'a>(nodes: impl Iterator<Item = Node<'a>>) -> Vec<Node<'a>> {
    let mut tops: Vec<Node<'a>> = Vec::new();
    for node in nodes {
        // A node comes after all that it stands in, and what is in the last top follows it at once.
        let is_within = tops.last().is_some_and(|top| {
            std::iter::successors(node.parent(), Node::parent)
                .any(|above| above.index() == top.index())
        });
        if !is_within {
            tops.push(node);
        }
    }
    tops
}
