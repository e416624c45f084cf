//! The texts of diagrams ("SmartArt") and charts, which are in separate parts.

use std::collections::HashMap;

use super::element::Element;
use super::markdown::{Block, Kind, one_line};
use super::package::{Package, Relationship};
use crate::extract::Unreadable;

/// The most drawings of a document that are read.
const DRAWINGS: usize = 500;
/// The most points of a series that are read.
const POINTS: usize = 10_000;

/// The blocks of each drawing, and the addresses of links, by the id that the document refers to them with.
#[derive(Debug, Default)]
pub(in crate::extract) struct Drawings {
    drawn: HashMap<String, Vec<Block>>,
    addresses: HashMap<String, String>,
}

impl Drawings {
    /// Those of a part.
    pub(in crate::extract) fn of(
        package: &mut Package<'_>,
        part: &str,
        relationships: &[Relationship],
    ) -> Result<Self, Unreadable> {
        let mut drawings = Self::default();
        let kinds = |link: &&Relationship| matches!(link.kind.as_str(), "diagramData" | "chart");
        for link in relationships.iter().filter(kinds).take(DRAWINGS) {
            let Some(xml) = package.part(&link.target)? else { continue };
            let tree = Element::parse(&xml)?;
            let blocks = if link.kind == "chart" { chart(&tree) } else { diagram(&tree) };
            drawings.drawn.insert(link.id.clone(), blocks);
        }
        for link in package.addresses(part)?.into_iter().filter(|link| link.kind == "hyperlink") {
            drawings.addresses.insert(link.id, link.target);
        }
        Ok(drawings)
    }

    /// The blocks of the drawing of an element (`relIds` of a diagram, `chart` of a chart).
    pub(in crate::extract) fn shown(&self, element: &Element<'_>) -> Vec<Block> {
        let id = element.attribute("dm").or_else(|| element.attribute("id")).unwrap_or_default();
        self.drawn.get(id.as_ref()).cloned().unwrap_or_default()
    }

    /// Where a link leads.
    pub(in crate::extract) fn address(&self, link: &Element<'_>) -> Option<&str> {
        self.addresses.get(link.attribute("id")?.as_ref()).map(String::as_str)
    }
}

/// The texts of a diagram, one for each item.
fn diagram(tree: &Element<'_>) -> Vec<Block> {
    let mut points = Vec::new();
    tree.find_all("pt", &mut points);
    let texts = points.into_iter().filter_map(|point| point.child("t")).map(shown_text);
    let items = texts.filter(|text| !text.is_empty());
    items.map(|text| Block { kind: Kind::Item(0, "-".to_owned()), text }).collect()
}

/// A chart as its title and a table: a row for each category, with the value of each series.
fn chart(tree: &Element<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut titles = Vec::new();
    tree.find_all("title", &mut titles);
    for title in titles.iter().map(|title| shown_text(title)).filter(|title| !title.is_empty()) {
        blocks.push(Block { kind: Kind::Paragraph, text: title });
    }
    let mut series = Vec::new();
    tree.find_all("ser", &mut series);
    let names: Vec<String> =
        series.iter().map(|one| one.child("tx").map(values)).map(joined).collect();
    let categories = series.iter().find_map(|one| one.child("cat").or_else(|| one.child("xVal")));
    let categories = categories.map(values).unwrap_or_default();
    let columns: Vec<Vec<String>> = series
        .iter()
        .map(|one| one.child("val").or_else(|| one.child("yVal")).map(values).unwrap_or_default())
        .collect();
    let row = |cells: Vec<&str>| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        Block { kind: Kind::Row, text: format!("| {} |", cells.join(" | ")) }
    };
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    if rows > 0 {
        blocks.push(row(std::iter::once("").chain(names.iter().map(String::as_str)).collect()));
    }
    for index in 0..rows {
        let at = |column: &Vec<String>| column.get(index).cloned().unwrap_or_default();
        let cells: Vec<String> =
            std::iter::once(at(&categories)).chain(columns.iter().map(at)).collect();
        blocks.push(row(cells.iter().map(String::as_str).collect()));
    }
    blocks
}

fn joined(values: Option<Vec<String>>) -> String {
    values.unwrap_or_default().join(" ")
}

/// The values that a chart keeps of the cells that it shows, each at its index.
fn values(element: &Element<'_>) -> Vec<String> {
    let mut points = Vec::new();
    element.find_all("pt", &mut points);
    let mut values: Vec<String> = Vec::new();
    for point in points {
        let index =
            point.attribute("idx").and_then(|index| index.parse().ok()).unwrap_or(values.len());
        let Some(value) = point.child("v").filter(|_| index < POINTS) else { continue };
        if values.len() <= index {
            values.resize(index + 1, String::new());
        }
        if let Some(slot) = values.get_mut(index) {
            *slot = one_line(&value.text().collect::<String>());
        }
    }
    values
}

/// The text of all `t` below an element, with paragraphs separated by a blank.
fn shown_text(element: &Element<'_>) -> String {
    let mut paragraphs = Vec::new();
    element.find_all("p", &mut paragraphs);
    let mut lines = Vec::new();
    for paragraph in paragraphs {
        let mut texts = Vec::new();
        paragraph.find_all("t", &mut texts);
        lines.push(texts.into_iter().flat_map(Element::text).collect::<String>());
    }
    one_line(&lines.join(" "))
}
