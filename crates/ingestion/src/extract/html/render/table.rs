//! Tables: rows of text if they contain data; a table that only lays a page out is ignored.

use select::node::Node;

use super::flat;
use super::inline::description;
use crate::extract::html::selection::Selection;
use crate::extract::rows;

/// Elements that cells of data do not hold, but parts of a page do.
const OF_LAYOUT: [&str; 11] =
    ["article", "dl", "h1", "h2", "h3", "h4", "ol", "pre", "section", "table", "ul"];

/// The most rows and columns that a cell covers.
const ROWS: usize = 1_000;
const COLUMNS: usize = 63;
/// Beyond so many cells none is repeated in the rows that it covers.
const CELLS: usize = 100_000;
/// At most so many rows are repeated as the header of a long table.
const HEADERS: usize = 3;
/// So many pictures of a cell are described.
const PICTURES: usize = 4;

/// The rows of a table, each `| cell | cell |`. `None` if it only lays a page out.
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

/// The cells of a table, each in its column.
#[derive(Default)]
struct Grid {
    caption: Option<String>,
    /// The rows in which any cell has text.
    rows: Vec<Vec<String>>,
    /// So many of them, from the first, are headers.
    headers: usize,
    /// For each column, how many further rows its cell covers, and the cell's text.
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
                    // No cell reaches into the next part (HTML 4.9.12).
                    self.hanging.clear();
                }
                Some(_) | None => {}
            }
        }
    }

    /// A cell over several rows stands in each of them, so that each says all that it says. One over several columns
    /// is followed by empty cells.
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

    /// The cells of rows above that cover the next columns.
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

/// The text of a cell; without any, the descriptions of its pictures.
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

/// How many rows or columns a cell covers.
fn span(cell: &Node<'_>, key: &str, most: usize) -> usize {
    let stated = cell.attr(key).and_then(|count| count.trim().parse().ok());
    stated.unwrap_or(1_usize).clamp(1, most)
}
