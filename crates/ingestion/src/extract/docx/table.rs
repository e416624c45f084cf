//! Tables as rows of text.

use super::element::Element;
use super::inline::is_placeholder;
use super::markdown::{Block, Kind, one_line};
use super::paragraph::Story;

/// The maximum number of columns that a cell spans.
const COLUMNS: i64 = 63;

/// The text of a cell that spans several rows is repeated in each of them if it has at most this many bytes.
pub(in crate::extract) const REPEATED: usize = 300;

/// A cell, and the number of further columns that it spans.
struct Cell<'e, 'a> {
    element: &'e Element<'a>,
    further_columns: i64,
    /// It continues the cell above, which has its text.
    continues: bool,
}

impl Story<'_> {
    /// Reads a table: its rows between `|`, or the content of its cells if it has a single column and is only a frame.
    pub(super) fn table(&mut self, table: &Element<'_>, blocks: &mut Vec<Block>) {
        let rows = rows(table);
        if rows.iter().all(|row| cells(row).len() <= 1) {
            for cell in rows.iter().flat_map(|row| cells(row)) {
                let framed = self.blocks(cell.element);
                blocks.extend(framed);
            }
            return;
        }
        let mut above = Vec::new();
        for row in rows {
            let is_header =
                row.child("trPr").is_some_and(|properties| properties.is_on("tblHeader"));
            let kind = if is_header { Kind::Header } else { Kind::Row };
            let (texts, has_own) = self.row(row, &above);
            if has_own {
                let cells: Vec<String> =
                    texts.iter().map(|text| text.replace('|', "\\|")).collect();
                blocks.push(Block { kind, text: format!("| {} |", cells.join(" | ")) });
            }
            above = texts;
        }
    }

    /// The texts of a row, one for each column, and whether any of them is not repeated from the row above. A cell that
    /// spans several columns is followed by empty ones.
    fn row(&mut self, row: &Element<'_>, above: &[String]) -> (Vec<String>, bool) {
        let before = row.child("trPr").and_then(|properties| properties.number("gridBefore"));
        let mut texts = empty(before.unwrap_or(0));
        let mut has_own = false;
        for cell in cells(row) {
            // Read in any case, because its lists affect the counters.
            let blocks = self.blocks(cell.element);
            let text = match cell.continues {
                true => above.get(texts.len()).filter(|text| text.len() <= REPEATED).cloned(),
                false => Some(flat(&blocks)),
            };
            has_own |= !cell.continues && text.as_ref().is_some_and(|text| !text.is_empty());
            texts.push(text.unwrap_or_default());
            texts.extend(empty(cell.further_columns));
        }
        (texts, has_own)
    }
}

fn empty(columns: i64) -> Vec<String> {
    (0..columns.min(COLUMNS)).map(|_| String::new()).collect()
}

/// The content of a cell on one line; rows of a table within it are separated by semicolons.
fn flat(blocks: &[Block]) -> String {
    let mut text = String::new();
    let mut after_row = false;
    for block in blocks {
        let line = one_line(&block.text);
        let is_row = block.kind.is_row();
        if !text.is_empty() {
            text.push_str(if after_row && is_row { "; " } else { " " });
        }
        match &block.kind {
            Kind::Row | Kind::Header => {
                let cells = line.trim_matches(|char| matches!(char, '|' | ' ')).split(" | ");
                let cells: Vec<&str> =
                    cells.map(str::trim).filter(|cell| !cell.is_empty()).collect();
                text.push_str(&cells.join(", "));
            }
            Kind::Item(_, label) => text.push_str(&format!("{label} {line}")),
            Kind::Heading(_) | Kind::Paragraph => text.push_str(&line),
        }
        after_row = is_row;
    }
    text
}

/// The rows that are not deleted.
fn rows<'e, 'a>(table: &'e Element<'a>) -> Vec<&'e Element<'a>> {
    let is_deleted = |row: &&Element<'_>| {
        row.child("trPr").is_some_and(|properties| properties.child("del").is_some())
    };
    let mut rows = within(table, "tr");
    rows.retain(|row| !is_deleted(row));
    rows
}

fn cells<'e, 'a>(row: &'e Element<'a>) -> Vec<Cell<'e, 'a>> {
    let cell = |element: &'e Element<'a>| {
        let properties = element.child("tcPr");
        let span = properties.and_then(|properties| properties.number("gridSpan")).unwrap_or(1);
        let merge = properties.and_then(|properties| properties.child("vMerge"));
        let continues =
            merge.is_some_and(|merge| merge.attribute("val").as_deref() != Some("restart"));
        Cell { element, further_columns: span.saturating_sub(1), continues }
    };
    within(row, "tc").into_iter().map(cell).collect()
}

/// The elements of that name, including those in content controls and insertions.
fn within<'e, 'a>(container: &'e Element<'a>, name: &str) -> Vec<&'e Element<'a>> {
    let mut found = Vec::new();
    for element in container.elements() {
        match element.name() {
            own if own == name => found.push(element),
            "sdt" if is_placeholder(element) => {}
            "sdt" | "sdtContent" | "customXml" | "ins" | "moveTo" => {
                found.extend(within(element, name))
            }
            _ => {}
        }
    }
    found
}
