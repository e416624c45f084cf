//! The amount of readable text below each element of a page.

use std::cell::OnceCell;

use select::document::Document;
use select::node::Node;

use super::dom::{elements, is_beside, is_unread, roots};
use super::names::{Headings, Purpose, purpose};

/// An element with this percentage of a page's text is content, even if its name says otherwise.
const MOST: usize = 70;

/// An element with more letters and digits outside links is more than a control like a bar of share buttons.
const CONTROL: usize = 300;

/// A control has a link or the like among its first nodes. The limit avoids visiting all nodes below nested elements.
const FIRST: usize = 1_000;

/// The minimum number of letters and digits of a marked body.
const BODY: usize = 400;

/// Letters and digits below an element.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Weight {
    pub(super) all: usize,
    /// Those within links.
    pub(super) linked: usize,
}

impl Weight {
    /// Those outside links.
    pub(super) fn plain(self) -> usize {
        self.all.saturating_sub(self.linked)
    }
}

/// The weight of each node of a page, without navigation and the like.
#[derive(Debug)]
pub(super) struct Weights<'d> {
    document: &'d Document,
    of: Vec<Weight>,
    /// The minimum weight of an element that is content, even if its name says otherwise.
    most: usize,
    /// For each node, whether it contains text that the page marks as its body. Empty if the page marks none.
    holds_body: Vec<bool>,
    headings: Headings,
    /// The purpose of each node, once it was asked for.
    purposes: Vec<OnceCell<Option<Purpose>>>,
}

impl<'d> Weights<'d> {
    pub(super) fn of(document: &'d Document) -> Self {
        // At first, names are ignored, which gives the total amount of text.
        let of = vec![Weight::default(); document.nodes.len()];
        let mut weights = Self {
            document,
            of,
            most: 0,
            holds_body: Vec::new(),
            headings: Headings::of(document),
            purposes: vec![OnceCell::new(); document.nodes.len()],
        };
        weights.weigh_page(document);
        weights.most = (weights.page(document) * MOST / 100).max(1);
        weights.find_bodies(document);
        weights.weigh_page(document);
        weights
    }

    pub(super) fn at(&self, node: &Node<'_>) -> Weight {
        self.of.get(node.index()).copied().unwrap_or_default()
    }

    /// The text of the whole page outside links.
    pub(super) fn page(&self, document: &Document) -> usize {
        roots(document).map(|root| self.at(&root).plain()).sum()
    }

    /// Whether an element's names mark it as not part of the content, and its text does not contradict them. Such an
    /// element has no weight from then on.
    pub(super) fn is_beside_by_name(&self, node: &Node<'_>) -> bool {
        let plain = self.at(node).plain();
        (plain < self.most || self.is_apart_from_body(node))
            && match self.purpose(node) {
                Some(Purpose::Control) => plain <= CONTROL,
                Some(Purpose::Choice) => plain <= CONTROL && has_choice(node),
                Some(Purpose::Reference) => has_choice(node),
                Some(Purpose::Beside) => true,
                None => false,
            }
    }

    fn purpose(&self, node: &Node<'_>) -> Option<Purpose> {
        let find = || purpose(self.document, node, &self.headings);
        self.purposes.get(node.index()).map_or_else(find, |known| *known.get_or_init(find))
    }

    fn find_bodies(&mut self, document: &Document) {
        let is_body = |node: &Node<'_>| is_body(node) && self.at(node).plain() >= BODY;
        let bodies: Vec<Node<'_>> = elements(document).filter(is_body).collect();
        if bodies.is_empty() {
            return;
        }
        self.holds_body = vec![false; document.nodes.len()];
        for body in bodies {
            for node in std::iter::successors(Some(body), Node::parent) {
                match self.holds_body.get_mut(node.index()) {
                    Some(holds) if !*holds => *holds = true,
                    // Ancestors are already marked.
                    Some(_) | None => break,
                }
            }
        }
    }

    /// Whether the page marks its body, and the element neither contains it nor is inside it: the comments of a
    /// newspaper are longer than the article.
    fn is_apart_from_body(&self, node: &Node<'_>) -> bool {
        !self.holds_body.is_empty()
            && !std::iter::successors(Some(*node), Node::parent).any(|above| is_body(&above))
            && !self.holds_body.get(node.index()).copied().unwrap_or(false)
    }

    fn weigh_page(&mut self, document: &Document) {
        for root in roots(document) {
            self.weigh(&root, false);
        }
    }

    fn weigh(&mut self, node: &Node<'_>, is_linked: bool) -> Weight {
        let mut weight = Weight::default();
        if let Some(text) = node.as_text() {
            weight.all = weight_of(text);
            weight.linked = if is_linked { weight.all } else { 0 };
        } else {
            let name = node.name().unwrap_or_default();
            if is_unread(node, name) || is_beside(node, name) {
                return weight;
            }
            if !self.is_beside_by_name(node) {
                for child in node.children() {
                    let below = self.weigh(&child, is_linked || name == "a");
                    weight.all += below.all;
                    weight.linked += below.linked;
                }
            }
        }
        if let Some(slot) = self.of.get_mut(node.index()) {
            *slot = weight;
        }
        weight
    }
}

/// Whether something in an element can be clicked, or chosen from a list.
fn has_choice(node: &Node<'_>) -> bool {
    node.descendants().take(FIRST).any(|inner| {
        matches!(
            inner.name(),
            Some("a" | "button" | "form" | "input" | "nav" | "ol" | "select" | "ul")
        )
    })
}

/// Whether the page marks an element as the body of its article.
fn is_body(node: &Node<'_>) -> bool {
    node.attr("itemprop").is_some_and(|names| names.contains("articleBody"))
}

/// Letters and digits of a text.
pub(super) fn weight_of(text: &str) -> usize {
    text.chars().filter(|char| char.is_alphanumeric()).count()
}
