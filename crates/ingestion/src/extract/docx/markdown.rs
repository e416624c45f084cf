//! The blocks of a document written down as Markdown.

/// A block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct Block {
    pub(in crate::extract) kind: Kind,
    /// Its text, without the mark of its kind.
    pub(in crate::extract) text: String,
}

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) enum Kind {
    /// A heading; level 1 is the outermost.
    Heading(usize),
    Paragraph,
    /// An item of a list: its level from 0, and its label (`-`, `1.`).
    Item(usize, String),
    /// A row of a table, between `|`.
    Row,
}

/// The text of the blocks: items and rows that follow each other line under line, everything else
/// apart by an empty line.
pub(in crate::extract) fn render(blocks: &[Block]) -> String {
    let mut text = String::new();
    let mut last: Option<&Kind> = None;
    for block in blocks.iter().filter(|block| !block.text.is_empty()) {
        match (last, &block.kind) {
            (None, _) => {}
            (Some(Kind::Item(..)), Kind::Item(..)) | (Some(Kind::Row), Kind::Row) => {
                text.push('\n')
            }
            _ => text.push_str("\n\n"),
        }
        match &block.kind {
            Kind::Heading(level) => {
                text.push_str(&"#".repeat(*level));
                text.push(' ');
                text.push_str(&one_line(&block.text));
            }
            Kind::Item(level, label) => {
                let indent = "  ".repeat(*level);
                text.push_str(&format!("{indent}{label} "));
                text.push_str(&block.text.replace('\n', &format!("\n{indent}  ")));
            }
            Kind::Paragraph | Kind::Row => text.push_str(&block.text),
        }
        last = Some(&block.kind);
    }
    text
}

/// A block's text without a mark that would need a line of its own, for a cell or a heading.
pub(in crate::extract) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
