//! What elements are to a reader: shown or not, within a line or on lines of their own.

use select::document::Document;
use select::node::Node;

/// Elements whose content is not text for readers.
const UNREAD: [&str; 27] = [
    "audio", "base", "button", "canvas", "datalist", "dialog", "embed", "head", "iframe", "img",
    "input", "link", "map", "meta", "noframes", "noscript", "object", "picture", "progress",
    "script", "select", "source", "style", "svg", "template", "textarea", "video",
];

/// Inline elements.
const INLINE: [&str; 33] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
];

/// Elements that say by their name that they are not what a page is about.
const BESIDE: [&str; 4] = ["nav", "aside", "footer", "menu"];

/// Words of the classes and ids that say so.
const BESIDE_WORDS: [&str; 33] = [
    "ad",
    "ads",
    "advert",
    "advertisement",
    "author",
    "breadcrumb",
    "breadcrumbs",
    "byline",
    "comment",
    "comments",
    "cookie",
    "disqus",
    "footer",
    "login",
    "masthead",
    "menu",
    "meta",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "pager",
    "pagination",
    "popup",
    "promo",
    "recommended",
    "related",
    "share",
    "sharing",
    "sidebar",
    "social",
    "sponsored",
    "subscribe",
];

/// Roles that say the same (WAI-ARIA 1.2, landmarks).
const BESIDE_ROLES: [&str; 6] =
    ["navigation", "banner", "contentinfo", "complementary", "search", "dialog"];

/// The top nodes of a document.
pub(super) fn roots(document: &Document) -> impl Iterator<Item = Node<'_>> {
    let tops = document.nodes.iter().filter(|node| node.parent.is_none());
    tops.filter_map(|node| document.nth(node.index))
}

/// All nodes of a document that are elements, in order.
pub(super) fn elements(document: &Document) -> impl Iterator<Item = Node<'_>> {
    let nodes = (0..document.nodes.len()).filter_map(|index| document.nth(index));
    nodes.filter(|node| node.name().is_some())
}

/// Whether an element's content is never text to read, or is hidden from readers.
pub(super) fn is_unread(node: &Node<'_>, name: &str) -> bool {
    UNREAD.binary_search(&name).is_ok() || is_hidden(node)
}

/// Whether an element is inline.
pub(super) fn is_inline(name: &str) -> bool {
    INLINE.binary_search(&name).is_ok()
}

/// Whether an element is beside the content: navigation, asides, page footers.
pub(super) fn is_beside(node: &Node<'_>, name: &str) -> bool {
    BESIDE.contains(&name) || node.attr("role").is_some_and(|role| BESIDE_ROLES.contains(&role))
}

/// Whether one of an element's classes, or its id, says that it is beside the content.
pub(super) fn is_beside_by_name(node: &Node<'_>) -> bool {
    ["class", "id"].into_iter().filter_map(|key| node.attr(key)).any(|names| {
        let mut words = names.split(|char: char| !char.is_ascii_alphabetic());
        words.any(|word| BESIDE_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
    })
}

/// Whether one of an element's classes, or its id, is one of these names.
pub(super) fn has_name(node: &Node<'_>, names: &[&str]) -> bool {
    let is_known = |name: &str| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    node.attr("class").is_some_and(|classes| classes.split_ascii_whitespace().any(is_known))
        || node.attr("id").is_some_and(is_known)
}

fn is_hidden(node: &Node<'_>) -> bool {
    if node.attr("hidden").is_some() {
        return true;
    }
    let Some(style) = node.attr("style") else { return false };
    style.split(';').any(|declaration| {
        declaration.split_once(':').is_some_and(|(property, value)| {
            let value = value.trim();
            match property.trim() {
                property if property.eq_ignore_ascii_case("display") => {
                    value.eq_ignore_ascii_case("none")
                }
                property if property.eq_ignore_ascii_case("visibility") => {
                    value.eq_ignore_ascii_case("hidden")
                }
                _ => false,
            }
        })
    })
}

/// The text of a node and its descendants as it is in the source, including nested preformatted text.
pub(super) fn push_raw_text(node: &Node<'_>, out: &mut String) {
    if let Some(text) = node.as_text() {
        out.push_str(text);
        return;
    }
    match node.name() {
        Some("br") => out.push('\n'),
        Some(name) if is_unread(node, name) => {}
        Some(_) | None => node.children().for_each(|child| push_raw_text(&child, out)),
    }
}

#[cfg(test)]
mod tests {
    use super::{INLINE, UNREAD};

    #[test]
    fn the_tables_are_sorted_for_the_search_in_them() {
        assert!(UNREAD.is_sorted() && INLINE.is_sorted());
    }
}
