//! The lines between the title of a page and its marked content: a summary, the caption of the first picture.
//!
//! Publishing systems put them outside the element of the text, so the marked content begins after them. Manuals do the
//! same with the name and purpose of a command, under a heading of its own.

use select::document::Document;
use select::node::Node;

use super::dom::{is_beside, is_inline, is_unread};
use super::selection::Selection;
use super::weights::{Weights, weight_of};

/// A line with fewer letters and digits is a date, a name or a control ...
const LINE: usize = 60;
/// ... unless a heading below the title of a manual announces it.
const ANNOUNCED: usize = 12;
/// ... and so is a line with at least this fraction (one part in N) of its letters and digits in links.
const LINKED: usize = 3;
/// A line with more letters and digits is a separate text.
const LEAD: usize = 1_200;

/// The kind of text that the lines introduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A narrative text, for example an article, whose headings may be followed by a date and a name.
    Article,
    /// A reference text.
    Manual,
}

/// Adds the lines that introduce the text of a page, which begins at `region`.
pub(super) fn add(
    document: &Document,
    region: &Node<'_>,
    weights: &Weights<'_>,
    of: Of,
    selection: &mut Selection,
) {
    let before = (0..region.index()).rev().filter_map(|index| document.nth(index));
    let Some(title) = before.clone().find(|node| node.name() == Some("h1")) else { return };
    let is_inside = |node: &Node<'_>| {
        std::iter::successors(Some(*node), Node::parent).any(|above| above.index() == title.index())
    };
    let headings = before.clone().take_while(|node| node.index() > title.index());
    let first_heading =
        headings.filter(is_heading).last().map_or(usize::MAX, |heading| heading.index());
    let mut lines: Vec<Line<'_>> = Vec::new();
    for text in before.take_while(|node| node.index() > title.index()) {
        let Some(letters) = text.as_text().filter(|letters| !letters.trim().is_empty()) else {
            continue;
        };
        let Some(block) = block_of(&text).filter(|_| !is_inside(&text)) else { continue };
        if lines.last().is_none_or(|line| line.block.index() != block.index()) {
            lines.push(Line { block, texts: Vec::new(), all: 0, linked: 0 });
        }
        let Some(line) = lines.last_mut() else { continue };
        let weight = weight_of(letters);
        line.all += weight;
        line.linked += if is_linked(&text, &block) { weight } else { 0 };
        line.texts.push(text);
    }
    lines.retain(|line| {
        let is_announced =
            of == Of::Manual && line.block.index() > first_heading && !is_heading(&line.block);
        line.all >= if is_announced { ANNOUNCED } else { LINE }
            && line.linked * LINKED < line.all
            && !std::iter::successors(Some(line.block), Node::parent)
                .any(|above| is_left_out(&above, weights))
    });
    if lines.iter().map(|line| line.all).sum::<usize>() <= LEAD {
        lines.iter().flat_map(|line| &line.texts).for_each(|text| selection.add_text(text));
    }
}

fn is_heading(node: &Node<'_>) -> bool {
    matches!(node.name(), Some("h2" | "h3" | "h4" | "h5" | "h6"))
}

/// The texts of one block.
struct Line<'a> {
    block: Node<'a>,
    texts: Vec<Node<'a>>,
    all: usize,
    linked: usize,
}

/// The element around a text that is not inline.
fn block_of<'a>(text: &Node<'a>) -> Option<Node<'a>> {
    std::iter::successors(text.parent(), Node::parent)
        .find(|above| above.name().is_some_and(|name| !is_inline(name)))
}

/// Whether there is a link between a text and its block.
fn is_linked(text: &Node<'_>, block: &Node<'_>) -> bool {
    std::iter::successors(text.parent(), Node::parent)
        .take_while(|above| above.index() != block.index())
        .any(|above| above.name() == Some("a"))
}

/// Whether an element or its names mark it as not part of the content.
fn is_left_out(node: &Node<'_>, weights: &Weights<'_>) -> bool {
    let Some(name) = node.name() else { return false };
    matches!(name, "form" | "button")
        || is_unread(node, name)
        || is_beside(node, name)
        || weights.is_beside_by_name(node)
}
