//! PDF files made into text.
//!
//! Glyphs with their places come first: [`reader`] collects them from each page. Words, lines, cells, columns, tables,
//! headings and the direction of reading are decided from places alone, in modules that know no PDF ([`runs`], [`rows`],
//! [`columns`], [`tables`], [`headings`]). Pages of which the first reader makes nothing, or nothing good, are read by
//! `pdf-extract` too, with its faults repaired, and the better text is taken. Then the text is tidied: lines become
//! paragraphs, hyphens at line ends and what every page repeats at its edge are removed.

mod annotations;
mod bounds;
mod columns;
mod content;
mod direction;
mod draft;
mod extractor;
mod fonts;
mod furniture;
mod glyph;
mod glyphs;
mod headings;
mod layers;
mod lines;
mod links;
mod marked;
mod overprint;
mod page;
mod quality;
mod reader;
mod recovery;
mod rows;
mod runs;
mod shows;
mod stacks;
mod state;
mod strings;
mod tables;
mod widths;

use cicerone_domain::content::{Parts, WarningReason, Warnings};

use super::{Reading, Unreadable, title};
use draft::Draft;
use quality::Quality;

/// The text of a PDF file.
///
/// Call it only in a process that may be lost: on files made for it, both readers abort, loop or exhaust memory.
///
/// # Errors
///
/// If the file is protected, damaged, without text (a scan), or if its fonts do not say which characters they show.
pub fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    let draft = match reader::read(bytes) {
        Ok(first) if !first.has_doubtful_pages() => first,
        Ok(first) => match extractor::read(bytes, |page| first.is_doubtful(page)) {
            Ok(second) => first.better_pages(second),
            // The second reader is asked for more, not for a verdict.
            Err(_) => first,
        },
        Err(refusal) => extractor::read(bytes, |_| true).map_err(|second| refusal.or(second))?,
    };
    finish(draft)
}

/// The text of one reader alone, for comparing them. `None` if it reads nothing.
#[doc(hidden)]
pub fn read_alone(reader: PdfReader, bytes: &[u8]) -> Option<String> {
    let draft = match reader {
        PdfReader::Glyphs => reader::read(bytes),
        PdfReader::Extractor => extractor::read(bytes, |_| true),
        PdfReader::ExtractorAsItComes => return extractor::as_it_comes(bytes),
    };
    let pages = draft.ok()?.pages;
    Some(pages.iter().map(|page| page.text.as_str()).collect::<Vec<_>>().join("\n"))
}

/// A reader of PDF files.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PdfReader {
    /// Our own.
    Glyphs,
    /// `pdf-extract` with its faults repaired.
    Extractor,
    /// `pdf-extract` without.
    ExtractorAsItComes,
}

fn finish(draft: Draft) -> Result<Reading, Unreadable> {
    let quality: Quality = draft.pages.iter().map(|page| Quality::of(&page.text)).sum();
    if !quality.has_words() {
        return Err(scanned());
    }
    if quality.is_gibberish() {
        return Err(Unreadable::new(
            "the text of the PDF cannot be read: its fonts do not tell which characters they show; \
             print it to PDF again, or make it searchable (OCR), and upload that",
        ));
    }
    let warnings = warnings(&draft);
    let pages: Vec<Vec<String>> = draft.pages.iter().map(|page| lines::of(&page.text)).collect();
    let pages = furniture::without(pages);
    let hyphenated = lines::hyphenated_words(&pages);
    let mut text = String::new();
    let mut starts = Vec::with_capacity(pages.len());
    for page in &pages {
        let page = lines::paragraphs(page, &hyphenated);
        if !text.is_empty() && !page.is_empty() {
            text.push_str("\n\n");
        }
        starts.push(text.len());
        text.push_str(&page);
    }
    // A scan whose pages only have their numbers as text.
    if text.trim().is_empty() {
        return Err(scanned());
    }
    let title = draft.title.and_then(|stated| title::of_metadata(&stated));
    Ok(Reading { title, text, pages: starts, tables: None, warnings })
}

/// What is not in the text.
fn warnings(draft: &Draft) -> Warnings {
    let mut warnings = Warnings::default();
    for (page, draft) in (1..).zip(&draft.pages) {
        if let Some(reason) = draft.warning() {
            warnings.add_page(reason, page);
        }
    }
    if draft.is_cut {
        let most = u32::try_from(bounds::PAGES).unwrap_or(u32::MAX);
        warnings.add(WarningReason::Beyond { parts: Parts::Pages, most });
    }
    warnings
}

fn scanned() -> Unreadable {
    Unreadable::new(
        "the PDF holds no readable text; it looks scanned: make it searchable (OCR) and upload that",
    )
}

#[cfg(test)]
mod tests;
