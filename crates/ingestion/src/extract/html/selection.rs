//! Which texts of a page are kept.

use select::document::Document;
use select::node::Node;

use super::dom::{is_beside, is_beside_by_name, is_unread};
use super::weights::{Weights, weight_of};

/// A part with at least this percentage of its text outside links is neither a list of links nor navigation.
const MOST: usize = 70;
/// A block is little but links with more than so many links and so many hundredths of it in them.
const LINKS: usize = 3;
const LINKED: usize = 90;

/// The nodes that hold a kept text, or are one.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    holds: Vec<bool>,
    /// Letters and digits of the kept texts.
    weight: usize,
}

impl Selection {
    /// Nothing of a document.
    fn nothing(document: &Document) -> Self {
        Self { holds: vec![false; document.nodes.len()], weight: 0 }
    }

    /// These texts, and the rest of the code, tables and definition lists that contain them.
    pub(super) fn of_texts(document: &Document, texts: &[usize]) -> Self {
        let mut selection = Self::nothing(document);
        for text in texts.iter().filter_map(|text| document.nth(*text)) {
            if !selection.holds(&text) {
                match ancestors(&text).find(is_kept_whole) {
                    Some(whole) => selection.add_all(&whole),
                    None => selection.add(&text),
                }
            }
        }
        selection
    }

    /// What is read below `root`, except navigation and the like.
    pub(super) fn of_region(document: &Document, root: &Node<'_>, weights: &Weights) -> Self {
        let mut selection = Self::nothing(document);
        selection.add_content(root, weights, weights.at(root).plain() * MOST / 100);
        selection
    }

    /// Whether a node is kept, or holds a text that is.
    pub(super) fn holds(&self, node: &Node<'_>) -> bool {
        self.holds.get(node.index()).copied().unwrap_or(false)
    }

    /// Letters and digits that are kept.
    pub(super) fn weight(&self) -> usize {
        self.weight
    }

    /// Adds what is content below `node`. What weighs more than `most` is content by any name.
    fn add_content(&mut self, node: &Node<'_>, weights: &Weights, most: usize) {
        if node.as_text().is_some() {
            return self.add(node);
        }
        let Some(name) = node.name() else { return };
        let is_most = weights.at(node).plain() > most;
        if is_unread(node, name)
            || is_beside(node, name)
            || (!is_most && (is_beside_by_name(node) || is_link_list(node, name, weights)))
        {
            return;
        }
        node.children().for_each(|child| self.add_content(&child, weights, most));
    }

    fn add_all(&mut self, node: &Node<'_>) {
        if node.as_text().is_some() {
            self.add(node);
        } else if node.name().is_some_and(|name| !is_unread(node, name)) {
            node.children().for_each(|child| self.add_all(&child));
        }
    }

    fn add(&mut self, text: &Node<'_>) {
        self.weight += text.as_text().map_or(0, weight_of);
        for node in std::iter::once(*text).chain(ancestors(text)) {
            match self.holds.get_mut(node.index()) {
                Some(holds) if !*holds => *holds = true,
                // What is above is noted already.
                Some(_) | None => return,
            }
        }
    }
}

/// Whether an element is kept whole if any of its text is kept: code, lists of terms, tables of data.
fn is_kept_whole(node: &Node<'_>) -> bool {
    match node.name() {
        Some("pre" | "dl") => true,
        Some("table") => !node.descendants().any(|inner| {
            matches!(inner.name(), Some("table" | "h1" | "h2" | "h3" | "article" | "section" | "p"))
        }),
        Some(_) | None => false,
    }
}

/// Whether a block is little but links.
fn is_link_list(node: &Node<'_>, name: &str, weights: &Weights) -> bool {
    let weight = weights.at(node);
    matches!(name, "ul" | "ol" | "div" | "section" | "p" | "table")
        && weight.all > 0
        && weight.linked * 100 > weight.all * LINKED
        && node.descendants().filter(|inner| inner.name() == Some("a")).nth(LINKS).is_some()
}

fn ancestors<'a>(node: &Node<'a>) -> impl Iterator<Item = Node<'a>> + use<'a> {
    std::iter::successors(node.parent(), Node::parent)
}
