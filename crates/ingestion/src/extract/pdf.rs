//! Extracts the text of PDF files.
//!
//! [`reader`] first collects the glyphs of each page with their positions. Words, lines, cells, columns, tables,
//! headings and the reading direction follow from positions alone, in modules that do not depend on PDF ([`runs`],
//! [`rows`], [`columns`], [`tables`], [`headings`]). If the first reader finds no text on a page, or only bad text,
//! `pdf-extract` reads it too, with its bugs worked around, and the better text is used. Then the text is cleaned up:
//! lines become paragraphs, and hyphens at line ends and lines that every page repeats at its edge are removed.

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
mod ocr;
mod overprint;
mod page;
mod picture;
mod quality;
mod reader;
mod recovery;
mod rows;
mod runs;
mod scan;
mod shows;
mod stacks;
mod state;
mod strings;
mod tables;
mod widths;

use cicerone_domain::content::{Parts, WarningReason, Warnings};

use super::ocr::Ocr;
use super::{Reading, Unreadable, title};
use draft::Draft;
use ocr::Ended;
use quality::Quality;

/// The text of a PDF file.
///
/// Call it only in a process that may be killed: on malicious files, both readers abort, loop or exhaust memory.
///
/// # Errors
///
/// If the file is protected or damaged, has no text (a scan), or has fonts that do not state which characters they
/// show.
pub fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    read_with(bytes, None)
}

/// The text of a PDF file. Pages that show pictures and no text are recognised if OCR is available.
pub(crate) fn read_with(bytes: &[u8], ocr: Option<&mut dyn Ocr>) -> Result<Reading, Unreadable> {
    let mut draft = match reader::read(bytes) {
        Ok(first) if !first.has_doubtful_pages() => first,
        Ok(first) => match extractor::read(bytes, |page| first.is_doubtful(page)) {
            Ok(second) => first.better_pages(second),
            // The second reader only adds text; its errors are ignored.
            Err(_) => first,
        },
        Err(refusal) => extractor::read(bytes, |_| true).map_err(|second| refusal.or(second))?,
    };
    if let Some(ocr) = ocr {
        ocr::fill(&mut draft, bytes, ocr);
    }
    finish(draft)
}

/// The recognised text of a picture.
///
/// # Errors
///
/// If OCR is not available, fails, or finds no text.
#[cfg(feature = "office")]
pub(crate) fn read_picture(bytes: &[u8], ocr: Option<&mut dyn Ocr>) -> Result<Reading, Unreadable> {
    let Some(ocr) = ocr else {
        return Err(Unreadable::new(
            "it is a picture, and this server reads none (its setting `ocr.command` is not set): make a \
             searchable PDF of it, and upload that",
        ));
    };
    let draft = ocr::draft_of(bytes, ocr)?;
    let has_pages = draft.pages.len() > 1;
    let reading = finish(draft)?;
    if has_pages {
        return Ok(reading);
    }
    let mut warnings = Warnings::default();
    warnings.add(WarningReason::Ocr);
    Ok(Reading { pages: Vec::new(), warnings, ..reading })
}

/// The text of one reader alone, for comparison. `None` if it finds no text.
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
    /// `pdf-extract` with its bugs worked around.
    Extractor,
    /// `pdf-extract` without.
    ExtractorAsItComes,
}

fn finish(draft: Draft) -> Result<Reading, Unreadable> {
    let quality: Quality = draft.pages.iter().map(|page| Quality::of(&page.text)).sum();
    if !quality.has_words() {
        return Err(scanned(&draft));
    }
    if quality.is_gibberish() {
        return Err(Unreadable::new(
            "the text of the PDF cannot be read: its fonts do not tell which characters they show; \
             print it to PDF again, or make it searchable (OCR), and upload that",
        ));
    }
    let warnings = warnings(&draft);
    let refusal = scanned(&draft);
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
    // A scan whose only text is page numbers.
    if text.trim().is_empty() {
        return Err(refusal);
    }
    let title = draft.title.and_then(|stated| title::of_metadata(&stated));
    Ok(Reading { title, text, pages: starts, tables: None, warnings })
}

/// What is missing in the text.
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

/// There is no text.
fn scanned(draft: &Draft) -> Unreadable {
    let failure = draft.pages.iter().find_map(|page| match &page.ocr {
        Some(Ended::Failed(reason)) => Some(reason),
        Some(Ended::Read) | None => None,
    });
    Unreadable::new(match failure {
        Some(reason) => format!(
            "the PDF contains no readable text; it looks scanned, and recognising its pictures (OCR) failed: {reason}"
        ),
        None => "the PDF contains no readable text; it looks scanned: make it searchable (OCR) and upload that, or \
                 upload it to a server with the setting `ocr.command`"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests;
