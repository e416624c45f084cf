//! Inline content that means more than its letters: superscripts, subscripts, links, pictures.

use select::node::Node;

use crate::extract::script::Script;

/// The minimum number of words of a picture's description next to other text.
const DESCRIPTION_WORDS: usize = 3;

/// The text to insert before a superscript or subscript after `line`: 10 with the superscript 6 is not 106.
pub(super) fn script_mark(node: &Node<'_>, name: &str, line: &str) -> &'static str {
    let is_link = node.descendants().any(|inner| inner.name() == Some("a"))
        || std::iter::successors(node.parent(), Node::parent)
            .take(2)
            .any(|above| above.name() == Some("a"));
    let script = if name == "sup" { Script::Super } else { Script::Sub };
    if is_link { "" } else { script.mark(line, &node.text()) }
}

/// The description of a picture, unless it is only a file name or a word for a picture.
pub(super) fn description<'a>(picture: &Node<'a>) -> Option<&'a str> {
    let text = picture.attr("alt")?.trim();
    let is_file = !text.contains(' ') && (text.contains('.') || text.contains('_'));
    (!text.is_empty() && !is_file && text.chars().any(char::is_alphanumeric)).then_some(text)
}

/// Whether a description adds to the text next to it: several words that are not the caption.
pub(super) fn adds(picture: &Node<'_>, description: &str) -> bool {
    let is_captioned = std::iter::successors(picture.parent(), Node::parent)
        .take(4)
        .any(|above| matches!(above.name(), Some("figure" | "a" | "picture")));
    !is_captioned && description.split_whitespace().nth(DESCRIPTION_WORDS - 1).is_some()
}
