//! Extracts text from DOCX files (ECMA-376, WordprocessingML).
//!
//! Included are paragraphs, headings, lists with their numbers, tables, text boxes once, notes after the paragraph that
//! refers to them, tracked insertions, the results of fields, and each header and footer once. Comments, deletions,
//! field codes, hidden text and placeholders are omitted.

pub(super) mod drawings;
pub(super) mod element;
mod field;
mod inline;
pub(super) mod markdown;
mod notes;
mod numbering;
mod numerals;
pub(super) mod package;
mod paragraph;
mod sections;
mod styles;
mod symbol;
pub(super) mod table;

use std::collections::HashSet;

use super::{Reading, Unreadable, title};
use drawings::Drawings;
use element::Element;
use markdown::Block;
use notes::Notes;
use numbering::Numbering;
pub(super) use package::is_protected;
use package::{Package, Relationship};
use paragraph::Story;
use styles::Styles;

/// The text of a DOCX file.
///
/// Decompression and nesting are limited. For untrusted files, prefer a process that may be killed.
///
/// # Errors
///
/// If the file is protected, damaged, without text, or too large when decompressed.
pub fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    let mut package = Package::open(bytes)?;
    let main = package.main_part()?;
    let relationships = package.relationships(&main)?;
    let mut side = |kind: &str| match relationships.iter().find(|link| link.kind == kind) {
        Some(link) => package.part(&link.target).map(Option::unwrap_or_default),
        None => Ok(String::new()),
    };
    let (styles, numbering) = (side("styles")?, side("numbering")?);
    let (footnotes, endnotes) = (side("footnotes")?, side("endnotes")?);
    let styles = Styles::of(&Element::parse(&styles)?);
    let mut numbering = Numbering::of(&Element::parse(&numbering)?);
    let (footnotes, endnotes) = (Element::parse(&footnotes)?, Element::parse(&endnotes)?);
    let notes = Notes::of(&footnotes, &endnotes);

    let Some(document) = package.part(&main)? else { return Err(package::no_document()) };
    let document = Element::parse(&document)?;
    let mut margins = Margins { unseen: sections::unseen(&document), ..Margins::default() };
    let headers = margins.blocks(&mut package, &relationships, "header")?;
    let footers = margins.blocks(&mut package, &relationships, "footer")?;
    let drawings = Drawings::of(&mut package, &main, &relationships)?;
    let mut story = Story::new(&styles, &mut numbering, &notes, &drawings);
    let body = story.read(&document);

    let blocks: Vec<Block> = headers.into_iter().chain(body).chain(footers).collect();
    let text = markdown::render(&blocks);
    if text.trim().is_empty() {
        return Err(Unreadable::new("the document contains no text"));
    }
    let stated = package.title()?.and_then(|text| title::of_metadata(&text));
    Ok(Reading { title: stated.or(story.title), text, ..Reading::default() })
}

/// Headers and footers: each paragraph once, even if several sections repeat it.
#[derive(Default)]
struct Margins {
    /// The relationships of those that no page shows.
    unseen: HashSet<String>,
    seen: HashSet<String>,
}

impl Margins {
    fn blocks(
        &mut self,
        package: &mut Package<'_>,
        relationships: &[Relationship],
        kind: &str,
    ) -> Result<Vec<Block>, Unreadable> {
        let mut found = Vec::new();
        let links = relationships.iter().filter(|link| link.kind == kind);
        for link in links.filter(|link| !self.unseen.contains(&link.id)) {
            let Some(part) = package.part(&link.target)? else { continue };
            let part = Element::parse(&part)?;
            let (styles, notes) = (Styles::default(), Notes::default());
            let drawings = Drawings::of(package, &link.target, &[])?;
            let mut numbering = Numbering::default();
            let blocks = Story::margin(&styles, &mut numbering, &notes, &drawings).read(&part);
            found.extend(blocks.into_iter().filter(|block| self.seen.insert(block.text.clone())));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
