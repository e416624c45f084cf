//! How much there is to read below each element of a page.

use select::document::Document;
use select::node::Node;

use super::dom::{is_beside, is_unread, roots};
use super::names::{Purpose, purpose};

/// What holds so many hundredths of a page's text is its content, whatever it is called.
const MOST: usize = 70;

/// What holds more letters and digits outside links is no mere control, such as a bar of buttons to share a page.
const CONTROL: usize = 300;

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
pub(super) struct Weights {
    of: Vec<Weight>,
    /// The least weight that is content whatever it is called.
    most: usize,
}

impl Weights {
    pub(super) fn of(document: &Document) -> Self {
        // At first nothing goes by its name, which tells how much there is.
        let mut weights = Self { of: vec![Weight::default(); document.nodes.len()], most: 0 };
        weights.weigh_page(document);
        weights.most = (weights.page(document) * MOST / 100).max(1);
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

    /// Whether an element's names say that it is beside the content, and what it holds does not disprove them. What
    /// was found to be beside weighs nothing any more.
    pub(super) fn is_beside_by_name(&self, node: &Node<'_>) -> bool {
        let plain = self.at(node).plain();
        plain < self.most
            && match purpose(node) {
                Some(Purpose::Control) => plain <= CONTROL,
                Some(Purpose::Beside) => true,
                None => false,
            }
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

/// Letters and digits of a text.
pub(super) fn weight_of(text: &str) -> usize {
    text.chars().filter(|char| char.is_alphanumeric()).count()
}
