//! Presentations (PPTX; ECMA-376, PresentationML): each slide with its title, text, tables, charts and notes.

use std::collections::HashMap;

use super::docx::drawings::Drawings;
use super::docx::element::Element;
use super::docx::markdown::{Block, Kind, one_line, render};
use super::docx::package::{Package, Relationship};
use super::{Reading, Unreadable, title};
use cicerone_domain::content::{Parts, WarningReason, Warnings};

/// The most slides that are read.
const SLIDES: usize = 2_000;
/// Placeholders with the same text on every slide.
const FURNITURE: [&str; 4] = ["dt", "ftr", "hdr", "sldNum"];
/// The deepest level of an item.
const LEVELS: usize = 8;

/// Reads a presentation. Each slide is a page; hidden slides are omitted.
///
/// # Errors
///
/// If the file is protected, damaged, without text, or too large when decompressed.
pub(crate) fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    let mut package = Package::open(bytes)?;
    let main = package.main_part()?;
    let parts = package.relationships(&main)?;
    let Some(presentation) = package.part(&main)? else {
        return Err(Unreadable::new("the file holds no presentation"));
    };
    let presentation = Element::parse(&presentation)?;
    let mut listed = Vec::new();
    presentation.find_all("sldId", &mut listed);
    // By their ids, because each slide looks one up.
    let mut links: HashMap<&str, &Relationship> = HashMap::new();
    for part in &parts {
        links.entry(&part.id).or_insert(part);
    }
    let mut text = String::new();
    let mut pages = Vec::new();
    let mut warnings = Warnings::default();
    if listed.len() > SLIDES {
        let most = u32::try_from(SLIDES).unwrap_or(u32::MAX);
        warnings.add(WarningReason::Beyond { parts: Parts::Slides, most });
    }
    for slide in listed.into_iter().take(SLIDES) {
        let id = slide.reference().unwrap_or_default();
        let Some(link) = links.get(&*id) else { continue };
        let blocks = slide_blocks(&mut package, &link.target)?;
        let rendered = render(&blocks);
        if !text.is_empty() && !rendered.is_empty() {
            text.push_str("\n\n");
        }
        pages.push(text.len());
        text.push_str(&rendered);
    }
    if text.trim().is_empty() {
        return Err(Unreadable::new("the presentation contains no text"));
    }
    let title = package.title()?.and_then(|stated| title::of_metadata(&stated));
    Ok(Reading { title, text, pages, warnings, ..Reading::default() })
}

/// The content of a slide, followed by its speaker notes.
fn slide_blocks(package: &mut Package<'_>, part: &str) -> Result<Vec<Block>, Unreadable> {
    let Some(xml) = package.part(part)? else { return Ok(Vec::new()) };
    let slide = Element::parse(&xml)?;
    let links = package.relationships(part)?;
    let mut blocks = Vec::new();
    for root in slide.elements() {
        if root.attribute("show").as_deref() == Some("0") {
            return Ok(blocks);
        }
        let drawings = Drawings::of(package, part, &links)?;
        shapes(root, &drawings, &mut blocks);
    }
    // The title comes first, wherever it is in the file.
    blocks.sort_by_key(|block| !matches!(block.kind, Kind::Heading(_)));
    if let Some(link) = links.iter().find(|link| link.kind == "notesSlide")
        && let Some(notes) = package.part(&link.target)?
    {
        let notes = Element::parse(&notes)?;
        let mut said = Vec::new();
        for root in notes.elements() {
            shapes(root, &Drawings::default(), &mut said);
        }
        if let Some(first) = said.first_mut() {
            first.text = format!("Notes: {}", first.text);
            first.kind = Kind::Paragraph;
        }
        blocks.extend(said);
    }
    Ok(blocks)
}

fn shapes(container: &Element<'_>, drawings: &Drawings, blocks: &mut Vec<Block>) {
    for element in container.elements() {
        match element.name() {
            "sp" => shape(element, blocks),
            "tbl" => table(element, blocks),
            "chart" | "relIds" => blocks.extend(drawings.shown(element)),
            "pic" => picture(element, blocks),
            // Of several versions, the newest is shown.
            "Fallback" => {}
            _ => shapes(element, drawings, blocks),
        }
    }
}

fn shape(shape: &Element<'_>, blocks: &mut Vec<Block>) {
    let mut placeholders = Vec::new();
    if let Some(properties) = shape.child("nvSpPr") {
        properties.find_all("ph", &mut placeholders);
    }
    let kind =
        placeholders.first().map(|place| place.attribute("type").unwrap_or_default().into_owned());
    if kind.as_deref().is_some_and(|kind| FURNITURE.contains(&kind)) {
        return;
    }
    let Some(body) = shape.child("txBody") else { return };
    let paragraphs: Vec<(usize, String)> = body
        .elements()
        .filter(|element| element.name() == "p")
        .map(|paragraph| (level(paragraph), text(paragraph)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    if matches!(kind.as_deref(), Some("title" | "ctrTitle")) {
        let title: Vec<&str> = paragraphs.iter().map(|(_, text)| text.as_str()).collect();
        if !title.is_empty() {
            blocks.push(Block { kind: Kind::Heading(2), text: one_line(&title.join(" ")) });
        }
        return;
    }
    // The body of a slide is a list, unless it is one paragraph.
    let is_list = kind.is_some() && paragraphs.len() > 1;
    for (level, text) in paragraphs {
        let kind =
            if is_list { Kind::Item(level.min(LEVELS), "-".to_owned()) } else { Kind::Paragraph };
        blocks.push(Block { kind, text });
    }
}

fn level(paragraph: &Element<'_>) -> usize {
    let properties = paragraph.child("pPr");
    properties.and_then(|own| own.attribute("lvl")?.parse().ok()).unwrap_or(0)
}

/// The text of a paragraph: its runs, fields and breaks.
fn text(paragraph: &Element<'_>) -> String {
    let mut line = String::new();
    for part in paragraph.elements() {
        match part.name() {
            "br" => line.push('\n'),
            _ => {
                let mut texts = Vec::new();
                part.find_all("t", &mut texts);
                texts.into_iter().flat_map(Element::text).for_each(|text| line.push_str(text));
            }
        }
    }
    line.trim().to_owned()
}

fn table(table: &Element<'_>, blocks: &mut Vec<Block>) {
    for row in table.elements().filter(|element| element.name() == "tr") {
        let cells = row.elements().filter(|element| element.name() == "tc").map(|cell| {
            let mut paragraphs = Vec::new();
            cell.find_all("p", &mut paragraphs);
            let lines: Vec<String> = paragraphs.into_iter().map(text).collect();
            one_line(&lines.join(" ")).replace('|', "\\|")
        });
        let cells: Vec<String> = cells.collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            blocks.push(Block { kind: Kind::Row, text: format!("| {} |", cells.join(" | ")) });
        }
    }
}

/// The description of a picture, if somebody wrote one.
fn picture(picture: &Element<'_>, blocks: &mut Vec<Block>) {
    let properties = picture.child("nvPicPr").and_then(|own| own.child("cNvPr"));
    let Some(description) = properties.and_then(|own| own.attribute("descr")) else { return };
    let text = one_line(&description);
    // Programs put file names there.
    if text.contains(' ') {
        blocks.push(Block { kind: Kind::Paragraph, text });
    }
}
