//! The part of a page that the page itself marks as its content.

use select::document::Document;
use select::node::Node;

use super::dom::{elements, has_name};
use super::weights::Weights;

/// Markers of the content, most reliable first.
const SIGNS: [fn(&Node<'_>) -> bool; 5] = [
    |node| node.attr("itemprop").is_some_and(|names| names.contains("articleBody")),
    |node| has_name(node, &BODIES),
    |node| node.name() == Some("article"),
    |node| node.name() == Some("main") || node.attr("role") == Some("main"),
    |node| has_name(node, &CONTENTS),
];
/// Names that publishing systems and documentation generators give to the main text.
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
/// Names that are also used for other parts.
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
/// The minimum number of letters and digits.
const ENOUGH: usize = 400;
/// All other elements with the same marker together contain at most this fraction (1/4) of its text. Otherwise, the
/// page is a list of items.
const OTHERS: usize = 4;

/// The element that the page itself marks as its content; `None` if there is no such marker, or if it covers too little
/// text.
pub(super) fn stated<'a>(document: &'a Document, weights: &Weights<'_>) -> Option<Node<'a>> {
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

/// Of nodes in document order, those that are not inside another one.
fn outermost<'a>(nodes: impl Iterator<Item = Node<'a>>) -> Vec<Node<'a>> {
    let mut tops: Vec<Node<'a>> = Vec::new();
    for node in nodes {
        // Nodes are in document order: a node follows its ancestors, and the descendants of the last top follow it
        // directly.
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
