//! Writes the blocks of a document as Markdown.

use crate::extract::rows;

/// The maximum number of rows that are repeated as the header of a long table.
const HEADERS: usize = 3;

/// A block of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct Block {
    pub(in crate::extract) kind: Kind,
    /// Its text, without the marker of its kind.
    pub(in crate::extract) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) enum Kind {
    /// A heading; level 1 is the outermost.
    Heading(usize),
    Paragraph,
    /// An item of a list: its level from 0, and its label (`-`, `1.`).
    Item(usize, String),
    /// A row of a table, between `|`.
    Row,
    /// The same, in the header that the table declares.
    Header,
}

impl Kind {
    pub(in crate::extract) const fn is_row(&self) -> bool {
        matches!(self, Self::Row | Self::Header)
    }
}

/// The text of the blocks: items and rows that follow each other line under line, everything else separated by an empty
/// line.
pub(in crate::extract) fn render(blocks: &[Block]) -> String {
    let mut text = String::new();
    let mut last: Option<&Kind> = None;
    let filled: Vec<&Block> = blocks.iter().filter(|block| !block.text.is_empty()).collect();
    let is_same_table = |one: &&Block, next: &&Block| one.kind.is_row() && next.kind.is_row();
    for run in filled.chunk_by(is_same_table) {
        let Some(block) = run.first() else { continue };
        match (last, &block.kind) {
            (None, _) => {}
            (Some(Kind::Item(..)), Kind::Item(..)) => text.push('\n'),
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
            Kind::Paragraph => text.push_str(&block.text),
            Kind::Row | Kind::Header => {
                let rows: Vec<&str> = run.iter().map(|row| row.text.as_str()).collect();
                let headers = run.iter().take_while(|row| row.kind == Kind::Header).count();
                text.push_str(&rows::table(&rows, headers.min(HEADERS)));
            }
        }
        last = Some(&block.kind);
    }
    text
}

/// A block's text, for a cell or a heading, without markers that require a separate line.
pub(in crate::extract) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
