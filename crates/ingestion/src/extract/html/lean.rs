//! A reduced copy of a page without invisible parts, with a marker after each text.
//!
//! The library that finds a page's main content walks it many times and returns text. A reduced copy saves most of that
//! time, and the markers show which texts of the page it kept, so that they can be written with the structure that the
//! page gives them.

use select::document::Document;
use select::node::{Data, Node};

use super::dom::{is_inline, is_unread, roots};

/// Encloses the number of a text. Occurrences in the page itself are removed.
const MARK: char = '~';
/// Attributes that distinguish content from its surroundings.
///
/// Ids are not among them: the library interprets their words as names of boilerplate, but the ids of a manual are
/// addresses derived from its headings.
const TELLING: [&str; 5] = ["class", "itemprop", "itemtype", "rel", "role"];
/// Elements that consist of a start tag only.
const VOID: [&str; 5] = ["area", "br", "col", "hr", "wbr"];

/// The reduced copy, and the texts by their markers.
#[derive(Debug)]
pub(super) struct Lean {
    pub(super) html: String,
    /// The nodes of the marked texts, in order.
    texts: Vec<usize>,
}

impl Lean {
    /// The reduced copy of a page.
    pub(super) fn of(document: &Document) -> Self {
        let mut lean = Self { html: String::from("<!DOCTYPE html>"), texts: Vec::new() };
        for root in roots(document) {
            lean.node(&root);
        }
        lean
    }

    /// The nodes of the texts whose markers are in `text`.
    pub(super) fn marked_in(&self, text: &str) -> Vec<usize> {
        let numbers = text.split(MARK).filter_map(|part| part.parse::<usize>().ok());
        numbers.filter_map(|number| self.texts.get(number).copied()).collect()
    }

    fn node(&mut self, node: &Node<'_>) {
        match node.data() {
            Data::Comment(_) => {}
            Data::Text(text) => self.text(node.index(), text),
            Data::Element(_, _) => self.element(node, node.name().unwrap_or_default()),
        }
    }

    /// Only the number of letters matters. Non-ASCII text becomes as many letters as it has bytes, because the library
    /// cuts at any byte and panics inside a character.
    fn text(&mut self, index: usize, text: &str) {
        for char in text.chars() {
            match char {
                '&' | '<' | '>' | MARK => self.html.push('-'),
                char if char.is_ascii() => self.html.push(char),
                '，' | '、' => self.html.push_str(",  "),
                '。' => self.html.push_str(".  "),
                char if char.is_whitespace() => self.html.push(' '),
                char => (0..char.len_utf8()).for_each(|_| self.html.push('x')),
            }
        }
        if !text.trim().is_empty() {
            let number = self.texts.len();
            self.html.push_str(&format!("{MARK}{number}{MARK}"));
            self.texts.push(index);
        }
    }

    fn element(&mut self, node: &Node<'_>, name: &str) {
        if is_unread(node, name) {
            return;
        }
        // Inline elements other than links do not help to locate the content.
        if is_inline(name) && name != "a" {
            node.children().for_each(|child| self.node(&child));
            return;
        }
        // The library does not read buttons; the remaining ones are titles of the parts that they open.
        let name = if name == "button" { "div" } else { name };
        self.html.push('<');
        self.html.push_str(name);
        for (key, value) in node.attrs().filter(|(key, _)| TELLING.contains(key)) {
            self.html.push(' ');
            self.html.push_str(key);
            self.html.push_str("=\"");
            for char in value.chars() {
                if char.is_ascii() && !matches!(char, '&' | '"') {
                    self.html.push(char);
                }
            }
            self.html.push('"');
        }
        if name == "a" && node.attr("href").is_some() {
            self.html.push_str(" href=\"/\"");
        }
        self.html.push('>');
        if VOID.contains(&name) {
            return;
        }
        node.children().for_each(|child| self.node(&child));
        self.html.push_str("</");
        self.html.push_str(name);
        self.html.push('>');
    }
}

#[cfg(test)]
mod tests {
    use select::document::Document;

    use super::Lean;

    #[test]
    fn scripts_attributes_and_marks_of_the_page_itself_are_left_out() {
        let page = "<body onload=x class=post>~7~ &lt;b&gt; <b>für</b> word<script>1</script>";
        let document = Document::from(page);
        let lean = Lean::of(&document);
        assert!(lean.html.contains("<body class=\"post\">-7- -b- ~0~fxxr~1~ word~2~</body>"));
        let kept = lean.marked_in("fxxr~1~");
        assert_eq!(document.nth(kept[0]).unwrap().as_text(), Some("für"));
    }
}
