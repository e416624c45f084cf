//! What a file is, by its content.

use std::io::{Cursor, Read as _};

use cicerone_domain::UploadType;
use encoding_rs::Encoding;
use zip::ZipArchive;

use super::decode::decoded;
use super::docx::is_protected;

/// How far into a file its `%PDF-` may stand: readers accept it within the first 1,024 bytes.
const PDF_HEADER_BYTES: usize = 1_024;
/// How much of `[Content_Types].xml` is read; real ones have a few thousand bytes.
const CONTENT_TYPES_BYTES: u64 = 1_024 * 1_024;
/// What the main parts of Word documents are declared as: documents, templates, and both with macros (ECMA-376, part 1,
/// 11.3.10; [MS-OFFMACRO] 2.2.1).
const DOCX_MAIN_PARTS: [&str; 4] = [
    "wordprocessingml.document.main+xml",
    "wordprocessingml.template.main+xml",
    "ms-word.document.macroEnabled.main+xml",
    "ms-word.template.macroEnabledTemplate.main+xml",
];

/// The type of a file by its content, whatever its name. `None` if it is of no type that is read.
///
/// A DOCX is a ZIP archive that declares a WordprocessingML document. One that is protected by a password is recognised
/// too, so that the error of reading it can say so. Text is what
/// [`decode`](fn@super::decode) can read, except for formats that merely look like text
/// (RTF, PostScript); it is HTML if it begins like a whole page.
///
/// # Examples
///
/// ```
/// use cicerone_ingestion::detect_upload_type;
/// use cicerone_ingestion::domain::UploadType;
///
/// assert_eq!(detect_upload_type(b"%PDF-1.7"), Some(UploadType::Pdf));
/// assert_eq!(detect_upload_type(b"<!doctype html><p>Hello"), Some(UploadType::Html));
/// assert_eq!(detect_upload_type(b"\x89PNG\r\n\x1a\n\0\0"), None);
/// ```
pub fn detect_upload_type(bytes: &[u8]) -> Option<UploadType> {
    let start = bytes.get(..PDF_HEADER_BYTES).unwrap_or(bytes);
    if bytes.starts_with(b"PK\x03\x04") {
        return is_docx(bytes).then_some(UploadType::Docx);
    }
    if bytes.starts_with(b"%PDF-") {
        return Some(UploadType::Pdf);
    }
    if bytes.starts_with(b"{\\rtf") || bytes.starts_with(b"%!PS") {
        return None;
    }
    if is_protected(bytes) {
        return Some(UploadType::Docx);
    }
    let is_text = std::str::from_utf8(bytes).is_ok() || Encoding::for_bom(bytes).is_some();
    let has_header = start.windows(5).any(|window| window == b"%PDF-");
    if has_header && (!is_text || has_trailer(bytes)) {
        return Some(UploadType::Pdf);
    }
    let text = decoded(bytes).ok()?;
    Some(if is_html(&text) { UploadType::Html } else { UploadType::Text })
}

/// Whether a file ends as a PDF does, which a text about them hardly will.
fn has_trailer(bytes: &[u8]) -> bool {
    let end = bytes.get(bytes.len().saturating_sub(PDF_HEADER_BYTES)..).unwrap_or(bytes);
    end.windows(9).any(|window| window == b"startxref")
}

/// Whether a ZIP archive declares a Word document.
fn is_docx(bytes: &[u8]) -> bool {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return false };
    let Ok(part) = archive.by_name("[Content_Types].xml") else { return false };
    let mut declared = Vec::new();
    // An archive that cannot be decompressed is not a document.
    let read = part.take(CONTENT_TYPES_BYTES).read_to_end(&mut declared);
    read.is_ok()
        && decoded(&declared)
            .is_ok_and(|text| DOCX_MAIN_PARTS.iter().any(|part| text.contains(part)))
}

/// Whether a text begins like a whole page: with its document type or one of the elements that enclose a page, after
/// declarations and comments at most. A text that merely contains elements, as Markdown may, is not a page.
pub(crate) fn is_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(end) = aside(rest) {
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|opening| {
        let (start, after) = rest.split_at_checked(opening.len()).unwrap_or_default();
        start.eq_ignore_ascii_case(opening)
            && after.starts_with(|next: char| next == '>' || next.is_ascii_whitespace())
    })
}

/// Where a comment or a processing instruction at the beginning of `text` ends.
fn aside(text: &str) -> Option<usize> {
    [("<!--", "-->"), ("<?", ">")].iter().find_map(|(opening, closing)| {
        let inner = text.strip_prefix(opening)?;
        Some(opening.len() + inner.find(closing)? + closing.len())
    })
}
