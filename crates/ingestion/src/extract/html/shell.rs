//! Pages that show their text only by running scripts.

use select::document::Document;
use select::node::Node;
use select::predicate::Name;

use super::dom::{elements, push_raw_text};
use super::weights::weight_of;

/// A page with more letters and digits than this has its own text.
const SHELL_CHARS: usize = 200;
/// Ids of the elements that applications render into.
const ROOTS: [&str; 9] = [
    "___gatsby",
    "__next",
    "__nuxt",
    "app",
    "app-root",
    "application",
    "main-app",
    "react-root",
    "root",
];

/// Whether a page whose readable text is `text` is the shell of an application.
pub(super) fn needs_javascript(document: &Document, text: &str) -> bool {
    weight_of(text) <= SHELL_CHARS
        && document.find(Name("script")).next().is_some()
        && (has_empty_root(document) || asks_for_scripts(document))
}

fn has_empty_root(document: &Document) -> bool {
    elements(document).any(|node| {
        let is_root = node.attr("id").is_some_and(|id| ROOTS.contains(&id))
            || node.name() == Some("app-root");
        is_root && is_empty(&node)
    })
}

fn is_empty(root: &Node<'_>) -> bool {
    let mut text = String::new();
    push_raw_text(root, &mut text);
    weight_of(&text) <= SHELL_CHARS / 4
}

/// Whether the page tells readers that it requires scripts.
fn asks_for_scripts(document: &Document) -> bool {
    let mut notices = document.find(Name("noscript"));
    notices.any(|notice| notice.text().to_ascii_lowercase().contains("javascript"))
}
