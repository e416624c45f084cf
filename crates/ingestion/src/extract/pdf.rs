//! PDF files made into text.
//!
//! `pdf-extract`, with its faults repaired, comes first; `pdf_oxide` reads the pages of which the first makes nothing or
//! nothing good, forms, and scripts that run from right to left. Of each page the better text is taken. (The repaired
//! reader is first since it splits words and drops repetitions better: `cargo trial eval pdf` shows each alone.) Then the
//! text is tidied: lines become paragraphs, hyphens at line ends and what every page repeats at its edge are removed.

mod draft;
mod extractor;
mod glyphs;
mod lines;
mod margins;
mod oxide;
mod quality;
mod widths;

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
    let draft = match extractor::read(bytes) {
        Ok(first) if !first.has_doubtful_pages() => first,
        Ok(first) => match oxide::read(bytes, |page| first.is_doubtful(page)) {
            Ok(second) => first.better_pages(second),
            // The second reader is asked for more, not for a verdict.
            Err(_) => first,
        },
        Err(refusal) => oxide::read(bytes, |_| true).map_err(|second| refusal.or(second))?,
    };
    finish(draft)
}

/// The text of one reader alone, for comparing them. `None` if it reads nothing.
#[doc(hidden)]
pub fn read_alone(reader: PdfReader, bytes: &[u8]) -> Option<String> {
    let draft = match reader {
        PdfReader::Oxide => oxide::read(bytes, |_| true),
        PdfReader::Extractor => extractor::read(bytes),
        PdfReader::ExtractorAsItComes => return extractor::as_it_comes(bytes),
    };
    Some(draft.ok()?.pages.join("\n"))
}

/// A reader of PDF files.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PdfReader {
    /// `pdf_oxide`.
    Oxide,
    /// `pdf-extract` with its faults repaired.
    Extractor,
    /// `pdf-extract` without.
    ExtractorAsItComes,
}

fn finish(draft: Draft) -> Result<Reading, Unreadable> {
    let quality: Quality = draft.pages.iter().map(|page| Quality::of(page)).sum();
    if !quality.has_words() {
        return Err(scanned());
    }
    if quality.is_gibberish() {
        return Err(Unreadable::new(
            "the text of the PDF cannot be read: its fonts do not tell which characters they show; \
             print it to PDF again, or make it searchable (OCR), and upload that",
        ));
    }
    let pages: Vec<Vec<String>> = draft.pages.iter().map(|page| lines::of(page)).collect();
    let pages = margins::without(pages);
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
    Ok(Reading { title, text, pages: starts })
}

fn scanned() -> Unreadable {
    Unreadable::new(
        "the PDF holds no readable text; it looks scanned: make it searchable (OCR) and upload that",
    )
}

#[cfg(test)]
mod tests;
