//! How elements appear to a reader: visible or not, inline or as blocks.

use select::document::Document;
use select::node::Node;

/// Elements whose content is not text for readers.
const UNREAD: [&str; 29] = [
    "audio", "base", "canvas", "datalist", "dialog", "embed", "head", "iframe", "img", "input",
    "link", "map", "meta", "noframes", "noscript", "object", "progress", "rp", "rt", "rtc",
    "script", "select", "source", "style", "svg", "template", "textarea", "track", "video",
];

/// Inline elements.
const INLINE: [&str; 38] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "picture", "q", "rb", "ruby", "s",
    "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// How many levels above a button its heading may be.
const BUTTON_ANCESTORS: usize = 3;
/// A part that a button opens has more words than these.
const ANSWER_WORDS: usize = 3;
/// Words in the classes of parts that are hidden until they are opened.
const OPENED: [&str; 3] = ["accordion", "collapse", "faq"];

/// Elements that begin and end lines of code.
const LINES: [&str; 10] =
    ["blockquote", "div", "figcaption", "figure", "li", "ol", "p", "section", "tr", "ul"];
/// Classes of the line numbers beside code.
const LINE_NUMBERS: [&str; 9] = [
    "gutter",
    "hljs-ln-numbers",
    "lineno",
    "linenodiv",
    "linenos",
    "linenumber",
    "ln",
    "lnt",
    "rouge-gutter",
];

/// Elements whose names mark them as not part of the main content.
const BESIDE: [&str; 4] = ["nav", "aside", "footer", "menu"];

/// Words in the classes of asides that are notes within the content: of Sphinx, Docutils, Starlight, Notion and others.
const NOTES: [&str; 11] = [
    "admonition",
    "callout",
    "caution",
    "danger",
    "footnote",
    "footnotes",
    "hint",
    "note",
    "tip",
    "topic",
    "warning",
];

/// Roles with the same meaning (WAI-ARIA 1.2, landmarks).
const BESIDE_ROLES: [&str; 6] =
    ["navigation", "banner", "contentinfo", "complementary", "search", "dialog"];

/// The main text of a page begins within this many nodes of the element around it. The limit avoids visiting all nodes
/// below each of many nested elements.
const FIRST: usize = 5_000;

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
    UNREAD.binary_search(&name).is_ok()
        || (name == "button" && !is_question(node))
        || (is_hidden(node) && !is_opened_by_a_click(node))
        || is_line_number(node)
}

/// Whether an element has the numbers of lines of code: one of them, or those of all lines in a column beside the code.
fn is_line_number(node: &Node<'_>) -> bool {
    let is_named = node.attr("class").is_some_and(|classes| {
        classes.split_ascii_whitespace().any(|class| LINE_NUMBERS.contains(&class))
    });
    let is_code = |node: Node<'_>| node.name() == Some("pre");
    let is_number =
        |text: &str| text.chars().all(|char| char.is_ascii_digit() || char.is_whitespace());
    is_named
        && (std::iter::successors(Some(*node), Node::parent).any(is_code)
            || node.descendants().take(FIRST).any(is_code))
        && node.descendants().take(FIRST).all(|inner| inner.as_text().is_none_or(is_number))
}

/// Whether a button is the visible title of a part that it opens, as in accordions, and not a command: it is inside a
/// heading or a term, or it names the part that it opens and text follows.
fn is_question(button: &Node<'_>) -> bool {
    let is_headed = std::iter::successors(button.parent(), Node::parent)
        .take(BUTTON_ANCESTORS)
        .any(|above| matches!(above.name(), Some("h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "dt")));
    let opens = ["aria-controls", "aria-expanded", "data-bs-target", "data-target"];
    let is_followed = || {
        let mut next = std::iter::successors(button.next(), Node::next);
        let next = next.find(|node| node.name().is_some());
        next.is_some_and(|next| {
            !matches!(next.name(), Some("ul" | "ol" | "nav" | "button" | "form"))
                && next.text().split_whitespace().nth(ANSWER_WORDS).is_some()
        })
    };
    is_headed || (opens.iter().any(|key| button.attr(key).is_some()) && is_followed())
}

/// Whether a hidden element can be opened by a reader (WAI-ARIA patterns for accordions and tabs).
fn is_opened_by_a_click(node: &Node<'_>) -> bool {
    let role = node.attr("role");
    node.attr("hidden") == Some("until-found")
        || role == Some("tabpanel")
        || (role == Some("region") && node.attr("aria-labelledby").is_some())
        || node.attr("class").is_some_and(|classes| {
            let mut words = classes.split(|char: char| !char.is_ascii_alphabetic());
            words.any(|word| OPENED.iter().any(|known| word.eq_ignore_ascii_case(known)))
        })
}

/// Whether an element is inline.
pub(super) fn is_inline(name: &str) -> bool {
    INLINE.binary_search(&name).is_ok()
}

/// Whether an element is beside the content: navigation, asides, page footers.
///
/// Templates with an unclosed header or a misused aside put the whole page into it.
pub(super) fn is_beside(node: &Node<'_>, name: &str) -> bool {
    let is_beside = BESIDE.contains(&name)
        || node.attr("role").is_some_and(|role| BESIDE_ROLES.contains(&role));
    is_beside
        && !(name == "aside" && is_note(node))
        && !node.descendants().take(FIRST).any(|inner| is_main(&inner))
}

/// Whether an aside is a note that belongs to the text around it, according to its role or its classes; without these,
/// if it is inside that text and has no links and no fields.
pub(super) fn is_note(aside: &Node<'_>) -> bool {
    if let Some(role) = aside.attr("role") {
        return role == "note" || role.starts_with("doc-");
    }
    if let Some(classes) = aside.attr("class") {
        let mut words = classes.split(|char: char| !char.is_ascii_alphabetic());
        return words.any(|word| NOTES.iter().any(|known| word.eq_ignore_ascii_case(known)));
    }
    let is_text = |node: Node<'_>| matches!(node.name(), Some("article" | "main"));
    let is_control =
        |node: Node<'_>| matches!(node.name(), Some("a" | "form" | "input" | "iframe"));
    std::iter::successors(aside.parent(), Node::parent).any(is_text)
        && !aside.descendants().take(FIRST).any(is_control)
}

/// Whether an element is marked as the main text of the page. A page has only one.
fn is_main(node: &Node<'_>) -> bool {
    node.name() == Some("main")
        || node.attr("role") == Some("main")
        || node.attr("itemprop").is_some_and(|names| names.contains("articleBody"))
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

/// The text of a node and its descendants as it is in the source, including nested preformatted text. Blocks, which some
/// generators write around each line, are on lines of their own.
pub(super) fn push_raw_text(node: &Node<'_>, out: &mut String) {
    if let Some(text) = node.as_text() {
        out.push_str(text);
        return;
    }
    match node.name() {
        Some("br") => out.push('\n'),
        Some(name) if is_unread(node, name) => {}
        Some(name) if LINES.contains(&name) => {
            end_raw_line(out);
            node.children().for_each(|child| push_raw_text(&child, out));
            end_raw_line(out);
        }
        Some(_) | None => node.children().for_each(|child| push_raw_text(&child, out)),
    }
}

fn end_raw_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
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
