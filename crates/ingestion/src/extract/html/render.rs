//! Writes the selected texts of a page as Markdown, with the structure that they have in the page.

mod inline;
mod table;

use cicerone_domain::limits;
use select::document::Document;
use select::node::Node;

use crate::extract::links;

use super::dom::{is_inline, is_unread, push_raw_text, roots};
use super::selection::Selection;

/// Writes the selection of a page.
pub(super) fn markdown(document: &Document, selection: &Selection) -> String {
    let mut writer = Writer::new(selection, false);
    roots(document).for_each(|root| writer.node(&root));
    writer.finish()
}

/// The finished blocks of text, and the current line.
struct Writer<'a> {
    selection: &'a Selection,
    out: String,
    line: String,
    /// Whether this is inside a list item, in which a nested list follows the text without an empty line.
    is_item: bool,
}

impl<'a> Writer<'a> {
    fn new(selection: &'a Selection, is_item: bool) -> Self {
        Self { selection, out: String::new(), line: String::new(), is_item }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.out
    }

    fn node(&mut self, node: &Node<'_>) {
        if node.name() == Some("br") {
            self.break_line();
        } else if node.name() == Some("img") {
            push_picture(&mut self.line, node);
        } else if let Some(blank) = node.as_text().filter(|text| text.trim().is_empty()) {
            // It is not selected, but it separates the texts around it.
            push_collapsed(&mut self.line, blank);
        } else if !self.selection.holds(node) {
            // Neither it nor any of its descendants is selected.
            match gap(node) {
                Some('\n') => self.break_line(),
                Some(_) => push_collapsed(&mut self.line, " "),
                None => {}
            }
        } else if let Some(text) = node.as_text() {
            push_collapsed(&mut self.line, text);
        } else if let Some(name) = node.name() {
            self.element(node, name);
        } else {
            self.children(node);
        }
    }

    fn break_line(&mut self) {
        self.line.truncate(self.line.trim_end_matches(' ').len());
        self.line.push('\n');
    }

    fn children(&mut self, node: &Node<'_>) {
        node.children().for_each(|child| self.node(&child));
    }

    fn element(&mut self, node: &Node<'_>, name: &str) {
        if is_unread(node, name) {
            return;
        }
        match name {
            "code" | "kbd" | "samp" | "tt" => {
                push_code(&mut self.line, &flat(node, self.selection))
            }
            "sup" | "sub" => {
                self.line.push_str(inline::script_mark(node, name, &self.line));
                self.children(node);
            }
            "a" => {
                let start = self.line.len();
                self.children(node);
                push_address(&mut self.line, node, start);
            }
            name if is_inline(name) => self.children(node),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(node, name),
            "pre" | "listing" => self.code(node),
            "ul" | "ol" | "menu" => self.list(node, name == "ol"),
            "dl" => self.definitions(node),
            "table" => match table::rows(node, self.selection) {
                Some(rows) => self.block(&rows),
                None => self.blocks(node),
            },
            _ => self.blocks(node),
        }
    }

    /// Content on lines of its own.
    fn blocks(&mut self, node: &Node<'_>) {
        self.end_line();
        self.children(node);
        self.end_line();
    }

    fn heading(&mut self, node: &Node<'_>, name: &str) {
        let title = flat(node, self.selection);
        if title.is_empty() {
            return;
        }
        let level = name.bytes().last().map_or(1, |digit| usize::from(digit.saturating_sub(b'0')));
        self.block(&format!("{} {title}", "#".repeat(level)));
    }

    /// Preformatted text, between fences that do not occur in it. If it is longer than a passage, it becomes several blocks, so that
    /// no passage has one fence without the other.
    fn code(&mut self, node: &Node<'_>) {
        let mut text = String::new();
        push_raw_text(node, &mut text);
        let text = text.trim_end().trim_start_matches(['\r', '\n']);
        if text.is_empty() {
            return;
        }
        let longest = text.split(|char| char != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(3.max(longest + 1));
        let language = language(node).unwrap_or_default();
        for part in parts_of_code(text) {
            self.block(&format!("{fence}{language}\n{part}\n{fence}"));
        }
    }

    fn list(&mut self, node: &Node<'_>, is_ordered: bool) {
        let mut number: i64 = node.attr("start").and_then(|start| start.parse().ok()).unwrap_or(1);
        let mut items = Vec::new();
        let mut bytes = 0;
        for child in node.children() {
            if bytes > limits::DOCUMENT_TEXT_BYTES {
                break;
            }
            let text = self.apart(&child, true);
            if text.is_empty() {
                continue;
            }
            let marker = if is_ordered { format!("{number}. ") } else { "- ".to_owned() };
            if child.name() == Some("li") {
                number = number.saturating_add(1);
                items.push(indented(&marker, &text));
            } else {
                // A list directly inside a list belongs to the previous item.
                let indent =
                    if items.is_empty() { String::new() } else { " ".repeat(marker.len()) };
                items.push(indented(&indent, &text));
            }
            bytes += items.last().map_or(0, String::len);
        }
        self.end_line();
        if !items.is_empty() {
            self.push(&items.join("\n"), if self.is_item { "\n" } else { "\n\n" });
        }
    }

    /// Terms, each followed by its definition after a colon: `term: definition`.
    fn definitions(&mut self, node: &Node<'_>) {
        self.end_line();
        let mut terms = String::new();
        for child in node.children() {
            match child.name() {
                Some("dt") => {
                    let term = self.apart(&child, false);
                    if !terms.is_empty() && !term.is_empty() {
                        terms.push_str(if term.contains('\n') { "\n\n" } else { ", " });
                    }
                    terms.push_str(&term);
                }
                Some("dd") => {
                    let text = self.apart(&child, false);
                    if !text.is_empty() {
                        self.block(&defined(&std::mem::take(&mut terms), &text));
                    }
                }
                // Groups of terms may be wrapped.
                Some("div") => {
                    self.term(&mut terms);
                    self.definitions(&child);
                }
                Some(_) | None => self.node(&child),
            }
        }
        self.term(&mut terms);
        self.end_line();
    }

    /// Writes terms without a definition.
    fn term(&mut self, terms: &mut String) {
        if !terms.is_empty() {
            self.block(&std::mem::take(terms));
        }
    }

    /// The content of an element, written separately.
    fn apart(&self, node: &Node<'_>, is_item: bool) -> String {
        let mut writer = Writer::new(self.selection, is_item);
        writer.node(node);
        writer.finish()
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = line.trim();
        if !text.is_empty() {
            // A paragraph that begins like a heading or a table is escaped.
            let escape =
                if text.starts_with(['#', '|']) || text.starts_with("```") { "\\" } else { "" };
            self.push(&format!("{escape}{text}"), "\n\n");
        }
    }

    fn block(&mut self, text: &str) {
        self.end_line();
        self.push(text, "\n\n");
    }

    /// Text beyond the limit of a document, which is refused for it, is not copied out of each list around it.
    fn push(&mut self, text: &str, separator: &str) {
        if self.out.len() > limits::DOCUMENT_TEXT_BYTES {
            return;
        }
        if !self.out.is_empty() {
            self.out.push_str(separator);
        }
        self.out.push_str(text);
    }
}

/// Terms and their definition, which stay in one block unless the definition begins with a list, a table or code.
fn defined(terms: &str, text: &str) -> String {
    let begins_block = text.starts_with(['|', '#', '`', '-']) || text.starts_with("1. ");
    match terms.chars().next_back() {
        None => text.to_owned(),
        Some(':' | '?' | '!' | '？' | '：') if !begins_block => format!("{terms} {text}"),
        Some(_) if !begins_block => format!("{terms}: {text}"),
        Some(':' | '?' | '!' | '？' | '：') => format!("{terms}\n\n{text}"),
        Some(_) => format!("{terms}:\n\n{text}"),
    }
}

/// Appends a picture's description, if it adds to the text around it.
fn push_picture(line: &mut String, picture: &Node<'_>) {
    if let Some(text) = inline::description(picture).filter(|text| inline::adds(picture, text)) {
        if !line.is_empty() && !line.ends_with(char::is_whitespace) {
            line.push(' ');
        }
        push_collapsed(line, text);
        line.push(' ');
    }
}

/// Appends the address of a link whose text begins at `start`, if it is useful to a reader.
fn push_address(line: &mut String, link: &Node<'_>, start: usize) {
    let text = line.get(start..).unwrap_or_default();
    let href = link.attr("href").filter(|_| !text.trim().is_empty());
    if let Some(address) = href.and_then(|href| links::target_to_show(href, text)) {
        let is_apart = line.ends_with(char::is_whitespace);
        line.push_str(if is_apart { "(" } else { " (" });
        line.push_str(&address);
        line.push(')');
    }
}

/// The selected text of an element in one line.
fn flat(node: &Node<'_>, selection: &Selection) -> String {
    let mut line = String::new();
    push_flat(node, selection, &mut line);
    line.truncate(line.trim_end().len());
    line
}

fn push_flat(node: &Node<'_>, selection: &Selection, line: &mut String) {
    if node.name() == Some("br") {
        push_collapsed(line, " ");
    }
    if node.name() == Some("img") {
        push_picture(line, node);
    }
    if let Some(blank) = node.as_text().filter(|text| text.trim().is_empty()) {
        push_collapsed(line, blank);
    }
    if !selection.holds(node) {
        if gap(node).is_some() {
            push_collapsed(line, " ");
        }
        return;
    }
    if let Some(text) = node.as_text() {
        push_collapsed(line, text);
        return;
    }
    let name = node.name().unwrap_or_default();
    if is_unread(node, name) {
        return;
    }
    if !is_inline(name) {
        push_collapsed(line, " ");
    }
    if matches!(name, "sup" | "sub") {
        line.push_str(inline::script_mark(node, name, line));
    }
    if name == "a" && is_mark_of_heading(node) {
        return;
    }
    let start = line.len();
    node.children().for_each(|child| push_flat(&child, selection, line));
    if name == "a" {
        push_address(line, node, start);
    }
    if !is_inline(name) {
        push_collapsed(line, " ");
    }
}

/// The line break or the blank with which an inline element without selected text separates the texts around it.
fn gap(node: &Node<'_>) -> Option<char> {
    let name = node.name()?;
    if !is_inline(name) || is_unread(node, name) {
        return None;
    }
    let gaps = node.children().filter_map(|child| match child.as_text() {
        Some(text) => (!text.is_empty() && text.trim().is_empty()).then_some(' '),
        None if child.name() == Some("br") => Some('\n'),
        None => gap(&child),
    });
    gaps.min()
}

/// Whether a link is the symbol with which readers copy the address of a heading.
fn is_mark_of_heading(link: &Node<'_>) -> bool {
    let text = link.text();
    link.attr("href").is_some_and(|href| href.contains('#'))
        && matches!(text.trim(), "¶" | "#" | "§" | "🔗" | "\u{f0c1}")
}

/// Appends a text with its white space collapsed as in a browser, without soft hyphens and other break opportunities.
fn push_collapsed(line: &mut String, text: &str) {
    for char in text.chars() {
        if matches!(char, '\u{ad}' | '\u{200b}' | '\u{feff}') {
            // Not shown.
        } else if !char.is_whitespace() {
            line.push(char);
        } else if !line.is_empty() && !line.ends_with([' ', '\n']) {
            line.push(' ');
        }
    }
}

/// Appends code within a line, between backticks.
fn push_code(line: &mut String, code: &str) {
    if code.is_empty() {
        return;
    }
    let mark = if code.contains('`') { "``" } else { "`" };
    line.push_str(mark);
    line.push_str(code);
    line.push_str(mark);
}

/// The language of code, according to its classes.
fn language<'a>(node: &Node<'a>) -> Option<&'a str> {
    let inner = node.children().find(|child| child.name() == Some("code"));
    [Some(*node), inner].into_iter().flatten().find_map(|element| {
        let classes = element.attr("class")?.split_ascii_whitespace();
        let mut languages = classes.filter_map(|class| class.strip_prefix("language-"));
        languages.next().filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    })
}

/// A text after a marker, with its other lines indented to match.
fn indented(marker: &str, text: &str) -> String {
    let indent = " ".repeat(marker.len());
    let mut item = String::with_capacity(marker.len() + text.len());
    for (line, number) in text.lines().zip(0..) {
        if number > 0 {
            item.push('\n');
        }
        if !line.is_empty() {
            item.push_str(if number == 0 { marker } else { &indent });
            item.push_str(line);
        }
    }
    item
}
/// Code of more characters may be cut into several passages.
const WHOLE_CODE: usize = 1_980;
/// Each part of longer code has at most this many characters, unless one line has more.
const PART_OF_CODE: usize = 1_500;

/// The code itself, or parts of it that begin with a line and have more than spaces.
fn parts_of_code(code: &str) -> Vec<&str> {
    if code.chars().nth(WHOLE_CODE).is_none() {
        return vec![code];
    }
    let mut parts = Vec::new();
    let (mut start, mut end, mut chars) = (0, 0, 0);
    for line in code.split_inclusive('\n') {
        let of_line = line.chars().count();
        if chars > 0 && chars + of_line > PART_OF_CODE {
            parts.extend(code.get(start..end));
            (start, chars) = (end, 0);
        }
        end += line.len();
        chars += of_line;
    }
    parts.extend(code.get(start..));
    let lines = parts.into_iter().map(|part| part.trim_matches(['\r', '\n']).trim_end());
    lines.filter(|part| !part.is_empty()).collect()
}
