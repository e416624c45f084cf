//! Tables: rows of text if they contain data; layout tables are ignored.

use select::node::Node;

use super::flat;
use super::inline::description;
use crate::extract::html::selection::Selection;
use crate::extract::rows;

/// Elements that occur in parts of a page, but not in cells with data.
const OF_LAYOUT: [&str; 11] =
    ["article", "dl", "h1", "h2", "h3", "h4", "ol", "pre", "section", "table", "ul"];

/// The maximum number of rows and columns that a cell spans.
const ROWS: usize = 1_000;
const COLUMNS: usize = 63;
/// In tables with more cells than this, no cell is repeated in the rows that it spans.
const CELLS: usize = 100_000;
/// The maximum number of rows that are repeated as the header of a long table.
const HEADERS: usize = 3;
/// The maximum number of pictures of a cell that are described.
const PICTURES: usize = 4;

/// The rows of a table, each `| cell | cell |`. `None` if it is a layout table.
pub(super) fn rows(table: &Node<'_>, selection: &Selection) -> Option<String> {
    let is_presentation = table.attr("role").is_some_and(|role| role == "presentation");
    if is_presentation || table.descendants().any(|node| is_of_layout(&node)) {
        return None;
    }
    let mut grid = Grid::default();
    grid.collect(table, selection);
    let Grid { caption, rows, headers, .. } = grid;
    if !rows.iter().any(|cells| cells.len() > 1) {
        return None;
    }
    let lines = rows.iter().map(|cells| format!("| {} |", cells.join(" | ")));
    let table = rows::table(&lines.collect::<Vec<_>>(), headers.min(HEADERS));
    Some(caption.map(|caption| caption + "\n\n").unwrap_or_default() + &table)
}

fn is_of_layout(node: &Node<'_>) -> bool {
    node.name().is_some_and(|name| OF_LAYOUT.contains(&name))
}

/// The cells of a table, in their columns.
#[derive(Default)]
struct Grid {
    caption: Option<String>,
    /// The rows in which any cell has text.
    rows: Vec<Vec<String>>,
    /// The number of header rows, from the first.
    headers: usize,
    /// For each column, the number of further rows that its cell spans, and the cell's text.
    hanging: Vec<(usize, String)>,
    cells: usize,
}

impl Grid {
    fn collect(&mut self, node: &Node<'_>, selection: &Selection) {
        for child in node.children() {
            match child.name() {
                Some("caption") => {
                    self.caption = Some(flat(&child, selection)).filter(|text| !text.is_empty());
                }
                Some("tr") => self.row(&child, selection),
                Some("thead" | "tbody" | "tfoot") => {
                    self.collect(&child, selection);
                    // No cell spans into the next row group (HTML 4.9.12).
                    self.hanging.clear();
                }
                Some(_) | None => {}
            }
        }
    }

    /// A cell that spans several rows is repeated in each of them, so that each row is complete. A cell that spans
    /// several columns is followed by empty cells.
    fn row(&mut self, row: &Node<'_>, selection: &Selection) {
        let mut texts = Vec::new();
        let is_cell = |node: &Node<'_>| matches!(node.name(), Some("td" | "th"));
        let is_header = row.parent().is_some_and(|parent| parent.name() == Some("thead"))
            || row.children().filter(is_cell).all(|cell| cell.name() == Some("th"));
        for cell in row.children().filter(is_cell) {
            self.hang(&mut texts);
            let text = text(&cell, selection);
            let down = span(&cell, "rowspan", ROWS);
            let hanging = if down > 1 { text.clone() } else { String::new() };
            self.push(&mut texts, text, down, hanging);
            for _ in 1..span(&cell, "colspan", COLUMNS) {
                self.push(&mut texts, String::new(), down, String::new());
            }
        }
        self.hang(&mut texts);
        if texts.iter().any(|text| !text.is_empty()) {
            self.headers += usize::from(is_header && self.headers == self.rows.len());
            self.rows.push(texts);
        }
    }

    /// The cells of previous rows that span into the next columns.
    fn hang(&mut self, texts: &mut Vec<String>) {
        while let Some((further, text)) = self.hanging.get_mut(texts.len()) {
            if *further == 0 || self.cells >= CELLS {
                return;
            }
            *further -= 1;
            self.cells += 1;
            texts.push(text.clone());
        }
    }

    fn push(&mut self, texts: &mut Vec<String>, text: String, down: usize, hanging: String) {
        if self.hanging.len() <= texts.len() {
            self.hanging.resize(texts.len() + 1, (0, String::new()));
        }
        if let Some(slot) = self.hanging.get_mut(texts.len()) {
            *slot = (down - 1, hanging);
        }
        self.cells += 1;
        texts.push(text);
    }
}

/// The text of a cell, or the descriptions of its pictures if it has no text.
fn text(cell: &Node<'_>, selection: &Selection) -> String {
    let text = flat(cell, selection);
    if !text.is_empty() {
        return text.replace('|', "\\|");
    }
    let pictures = cell.descendants().filter(|node| node.name() == Some("img"));
    let shown: Vec<&str> =
        pictures.filter_map(|picture| description(&picture)).take(PICTURES).collect();
    shown.join(", ").split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// The number of rows or columns that a cell spans.
fn span(cell: &Node<'_>, key: &str, most: usize) -> usize {
    let stated = cell.attr(key).and_then(|count| count.trim().parse().ok());
    stated.unwrap_or(1_usize).clamp(1, most)
}
