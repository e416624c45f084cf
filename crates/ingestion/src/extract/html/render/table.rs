//! Tables: rows of text if they contain data; a table that only lays a page out is ignored.

use select::node::Node;

use super::flat;
use crate::extract::html::selection::Selection;

/// Elements that cells of data do not hold, but parts of a page do.
const OF_LAYOUT: [&str; 11] =
    ["article", "dl", "h1", "h2", "h3", "h4", "ol", "pre", "section", "table", "ul"];

/// The rows of a table, each `| cell | cell |`. `None` if it only lays a page out.
pub(super) fn rows(table: &Node<'_>, selection: &Selection) -> Option<String> {
    let is_presentation = table.attr("role").is_some_and(|role| role == "presentation");
    if is_presentation || table.descendants().any(|node| is_of_layout(&node)) {
        return None;
    }
    let mut caption = None;
    let mut rows: Vec<Vec<String>> = Vec::new();
    collect(table, selection, &mut rows, &mut caption);
    rows.retain(|cells| cells.iter().any(|cell| !cell.is_empty()));
    if !rows.iter().any(|cells| cells.len() > 1) {
        return None;
    }
    let lines = rows.iter().map(|cells| format!("| {} |", cells.join(" | ")));
    let lines: Vec<String> =
        caption.map(|caption| caption + "\n").into_iter().chain(lines).collect();
    Some(lines.join("\n"))
}

fn is_of_layout(node: &Node<'_>) -> bool {
    node.name().is_some_and(|name| OF_LAYOUT.contains(&name))
}

fn collect(
    node: &Node<'_>,
    selection: &Selection,
    rows: &mut Vec<Vec<String>>,
    caption: &mut Option<String>,
) {
    for child in node.children() {
        match child.name() {
            Some("caption") => {
                *caption = Some(flat(&child, selection)).filter(|text| !text.is_empty());
            }
            Some("tr") => {
                let is_cell = |node: &Node<'_>| matches!(node.name(), Some("td" | "th"));
                let cells = child.children().filter(is_cell);
                rows.push(cells.map(|cell| flat(&cell, selection).replace('|', "\\|")).collect());
            }
            Some("thead" | "tbody" | "tfoot") => collect(&child, selection, rows, caption),
            Some(_) | None => {}
        }
    }
}
