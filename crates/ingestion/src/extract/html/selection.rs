//! Which texts of a page are kept.

use std::collections::HashMap;

use select::document::Document;
use select::node::Node;

use super::dom::{is_beside, is_note, is_unread};
use super::weights::{Weights, weight_of};

/// A part with at least this percentage of its text outside links is neither a list of links nor navigation.
const MOST: usize = 70;
/// A block consists mostly of links if it has more than this many links and more than this percentage of its text in
/// them.
const LINKS: usize = 3;
const LINKED: usize = 90;

/// A block of running text has at least this many letters and digits outside links, and less than one part in N inside.
const PROSE: usize = 100;
const PROSE_LINKED: usize = 3;

/// A form with fewer letters and digits is meant to be filled in, not read.
const FORM: usize = 600;

/// The nodes that are or contain a kept text.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    holds: Vec<bool>,
    /// Letters and digits of the kept texts.
    weight: usize,
}

impl Selection {
    /// An empty selection.
    fn nothing(document: &Document) -> Self {
        Self { holds: vec![false; document.nodes.len()], weight: 0 }
    }

    /// These texts, and the rest of the code, tables and definition lists that contain them.
    pub(super) fn of_texts(document: &Document, texts: &[usize]) -> Self {
        let mut selection = Self::nothing(document);
        // A table is judged once, not for each of its texts.
        let mut judged: HashMap<usize, bool> = HashMap::new();
        let mut is_kept =
            |node: &Node<'_>| *judged.entry(node.index()).or_insert_with(|| is_kept_whole(node));
        for text in texts.iter().filter_map(|text| document.nth(*text)) {
            if !selection.holds(&text) {
                match ancestors(&text).find(&mut is_kept) {
                    Some(whole) => selection.add_all(&whole),
                    None => selection.add(&text),
                }
            }
        }
        selection
    }

    /// All readable text below `root`, except navigation and the like.
    pub(super) fn of_region(document: &Document, root: &Node<'_>, weights: &Weights<'_>) -> Self {
        let mut selection = Self::nothing(document);
        let most = weights.at(root).plain() * MOST / 100;
        selection.add_content(root, weights, most, &is_link_list);
        selection
    }

    /// All readable text of a document.
    #[cfg(feature = "office")]
    pub(super) fn whole(document: &Document) -> Self {
        let mut selection = Self::nothing(document);
        super::dom::roots(document).for_each(|root| selection.add_all(&root));
        selection
    }

    /// The same, including lists of links, which are the content of a table of contents.
    pub(super) fn with_lists(document: &Document, root: &Node<'_>, weights: &Weights<'_>) -> Self {
        let mut selection = Self::nothing(document);
        let most = weights.at(root).plain() * MOST / 100;
        selection.add_content(root, weights, most, &|_, _, _| false);
        selection
    }

    /// The intersection of both selections.
    pub(super) fn met_with(&self, document: &Document, other: &Self) -> Self {
        let mut met = Self::nothing(document);
        let both = self.holds.iter().zip(&other.holds).enumerate();
        for (index, _) in both.filter(|(_, (ours, theirs))| **ours && **theirs) {
            if let Some(text) = document.nth(index).filter(|node| node.as_text().is_some()) {
                met.add(&text);
            }
        }
        met
    }

    /// Adds the blocks of running text, notes and code that `whole` keeps. What the library omits from a list or a table is often part
    /// of the text, whereas boilerplate is short or full of links.
    pub(super) fn add_prose(&mut self, document: &Document, whole: &Self, weights: &Weights<'_>) {
        for index in 0..self.holds.len() {
            let Some(block) = document.nth(index) else { continue };
            if self.holds(&block) || !whole.holds(&block) {
                continue;
            }
            let weight = weights.at(&block);
            let is_prose = match block.name() {
                Some("p" | "li" | "td" | "dd" | "blockquote") => {
                    weight.plain() >= PROSE && weight.linked * PROSE_LINKED < weight.all
                }
                Some("pre") => true,
                Some("aside") => is_note(&block),
                Some(_) | None => false,
            };
            let is_in_form = || ancestors(&block).any(|above| is_small_form(&above, weights));
            if is_prose && !is_in_form() {
                let texts = block.descendants().filter(|node| node.as_text().is_some());
                let texts: Vec<Node<'_>> = texts.filter(|text| whole.holds(text)).collect();
                texts
                    .iter()
                    .filter(|text| !self.holds(text))
                    .copied()
                    .collect::<Vec<_>>()
                    .iter()
                    .for_each(|text| self.add(text));
            }
        }
    }

    /// Adds a text unless it is already kept.
    pub(super) fn add_text(&mut self, text: &Node<'_>) {
        if !self.holds(text) {
            self.add(text);
        }
    }

    /// The selection without these texts.
    pub(super) fn without<'t, 'a: 't>(
        &self,
        document: &'a Document,
        texts: impl Iterator<Item = &'t Node<'a>>,
    ) -> Self {
        let mut kept = self.holds.clone();
        for text in texts {
            if let Some(holds) = kept.get_mut(text.index()) {
                *holds = false;
            }
        }
        let mut rest = Self::nothing(document);
        for (index, _) in kept.iter().enumerate().filter(|(_, holds)| **holds) {
            if let Some(text) = document.nth(index).filter(|node| node.as_text().is_some()) {
                rest.add(&text);
            }
        }
        rest
    }

    /// Whether a node is or contains a kept text.
    pub(super) fn holds(&self, node: &Node<'_>) -> bool {
        self.holds.get(node.index()).copied().unwrap_or(false)
    }

    /// The number of kept letters and digits.
    pub(super) fn weight(&self) -> usize {
        self.weight
    }

    /// Adds the content below `node`. A node with more text than `most` is content, even if its name says otherwise.
    fn add_content(
        &mut self,
        node: &Node<'_>,
        weights: &Weights<'_>,
        most: usize,
        is_list: &impl Fn(&Node<'_>, &str, &Weights<'_>) -> bool,
    ) {
        if node.as_text().is_some() {
            return self.add(node);
        }
        let Some(name) = node.name() else { return };
        let is_most = weights.at(node).plain() > most;
        if is_unread(node, name)
            || is_beside(node, name)
            || (!is_most && (weights.is_beside_by_name(node) || is_list(node, name, weights)))
        {
            return;
        }
        node.children().for_each(|child| self.add_content(&child, weights, most, is_list));
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
                // Ancestors are already marked.
                Some(_) | None => return,
            }
        }
    }
}

/// Whether an element is a form that does not contain the text of the page, as it does in some systems.
fn is_small_form(node: &Node<'_>, weights: &Weights<'_>) -> bool {
    node.name() == Some("form") && weights.at(node).plain() < FORM
}

/// Whether an element is kept completely if any of its text is kept: code, lists of terms, tables of data.
fn is_kept_whole(node: &Node<'_>) -> bool {
    match node.name() {
        Some("pre" | "dl") => true,
        Some("table") => !node.descendants().any(|inner| {
            matches!(inner.name(), Some("table" | "h1" | "h2" | "h3" | "article" | "section" | "p"))
        }),
        Some(_) | None => false,
    }
}

/// Whether a block consists mostly of links.
fn is_link_list(node: &Node<'_>, name: &str, weights: &Weights<'_>) -> bool {
    let weight = weights.at(node);
    matches!(name, "ul" | "ol" | "div" | "section" | "p" | "table")
        && weight.all > 0
        && weight.linked * 100 > weight.all * LINKED
        && node.descendants().filter(|inner| inner.name() == Some("a")).nth(LINKS).is_some()
}

fn ancestors<'a>(node: &Node<'a>) -> impl Iterator<Item = Node<'a>> + use<'a> {
    std::iter::successors(node.parent(), Node::parent)
}
