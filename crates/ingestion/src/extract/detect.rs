//! Detects the type of a file by its content.

use std::borrow::Cow;
use std::io::{Cursor, Read as _};

use cicerone_domain::UploadType;
use encoding_rs::Encoding;
use zip::ZipArchive;

use super::csv;
use super::decode::decoded;
use super::docx::is_protected;

/// How far into a file its `%PDF-` may be: readers accept it within the first 1,024 bytes.
const PDF_HEADER_BYTES: usize = 1_024;
/// How much of `[Content_Types].xml` is read; real ones have a few thousand bytes.
const CONTENT_TYPES_BYTES: u64 = 1_024 * 1_024;
/// The declared types of the main parts of Word documents: documents, templates, and both with macros (ECMA-376, part
/// 1, 11.3.10; [MS-OFFMACRO] 2.2.1).
const DOCX_MAIN_PARTS: [&str; 4] = [
    "wordprocessingml.document.main+xml",
    "wordprocessingml.template.main+xml",
    "ms-word.document.macroEnabled.main+xml",
    "ms-word.template.macroEnabledTemplate.main+xml",
];

/// The same of workbooks.
const XLSX_MAIN_PARTS: [&str; 4] = [
    "spreadsheetml.sheet.main+xml",
    "spreadsheetml.template.main+xml",
    "ms-excel.sheet.macroEnabled.main+xml",
    "ms-excel.template.macroEnabled.main+xml",
];
/// The same of presentations.
const PPTX_MAIN_PARTS: [&str; 6] = [
    "presentationml.presentation.main+xml",
    "presentationml.slideshow.main+xml",
    "presentationml.template.main+xml",
    "ms-powerpoint.presentation.macroEnabled.main+xml",
    "ms-powerpoint.slideshow.macroEnabled.main+xml",
    "ms-powerpoint.template.macroEnabled.main+xml",
];
/// A message has at least one of these headers besides its sender.
const MAIL_HEADERS: [&str; 6] =
    ["date", "delivered-to", "message-id", "mime-version", "received", "return-path"];
/// The declared types of books and OpenDocument files.
const STATED_TYPES: [(&str, UploadType); 5] = [
    ("application/epub+zip", UploadType::Epub),
    ("application/vnd.oasis.opendocument.text", UploadType::Odt),
    ("application/vnd.oasis.opendocument.text-template", UploadType::Odt),
    ("application/vnd.oasis.opendocument.spreadsheet", UploadType::Ods),
    ("application/vnd.oasis.opendocument.spreadsheet-template", UploadType::Ods),
];
/// How much of a message is searched for its headers.
const MAIL_BYTES: usize = 64 * 1_024;
/// How much of a text is examined to decide whether it is a table.
const TABLE_CHARS: usize = 20_000;

/// The type of a file by its content; the name does not matter. `None` if the type is not supported.
///
/// A DOCX is a ZIP archive that declares a WordprocessingML document. One that is protected by a password is recognised
/// too, so that reading it fails with a specific error. Text is what [`decode`](fn@super::decode) can read, except for
/// formats that merely look like text (PostScript); it is HTML if it begins like a whole page, and CSV if its records
/// have the same fields.
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
        return of_archive(bytes);
    }
    if bytes.starts_with(b"%PDF-") {
        return Some(UploadType::Pdf);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(UploadType::Rtf);
    }
    if bytes.starts_with(b"%!PS") {
        return None;
    }
    if is_protected(bytes) {
        return Some(UploadType::Docx);
    }
    if is_old_workbook(bytes) {
        return Some(UploadType::Xls);
    }
    let is_text = std::str::from_utf8(bytes).is_ok() || Encoding::for_bom(bytes).is_some();
    let has_header = start.windows(5).any(|window| window == b"%PDF-");
    if has_header && (!is_text || has_trailer(bytes)) {
        return Some(UploadType::Pdf);
    }
    if is_mail(bytes) {
        return Some(UploadType::Eml);
    }
    let text = decoded(bytes).ok()?;
    Some(match () {
        () if is_html(&text) => UploadType::Html,
        () if csv::is_table(start_of(&text)) => UploadType::Csv,
        () => UploadType::Text,
    })
}

/// Whether a file ends like a PDF, which a text about PDFs is unlikely to do.
fn has_trailer(bytes: &[u8]) -> bool {
    let end = bytes.get(bytes.len().saturating_sub(PDF_HEADER_BYTES)..).unwrap_or(bytes);
    end.windows(9).any(|window| window == b"startxref")
}

/// The declared type of a ZIP archive: OpenDocument files in a part without compression (OpenDocument 1.3, part 2,
/// 3.3), Office Open XML files in the list of their parts' types.
fn of_archive(bytes: &[u8]) -> Option<UploadType> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    if let Some(stated) = part(&mut archive, "mimetype") {
        return STATED_TYPES.iter().find(|(name, _)| stated.trim() == *name).map(|(_, kind)| *kind);
    }
    let declared = part(&mut archive, "[Content_Types].xml")?;
    let has = |parts: &[&str]| parts.iter().any(|part| declared.contains(part));
    if has(&DOCX_MAIN_PARTS) {
        Some(UploadType::Docx)
    } else {
        let slides = || has(&PPTX_MAIN_PARTS).then_some(UploadType::Pptx);
        has(&XLSX_MAIN_PARTS).then_some(UploadType::Xlsx).or_else(slides)
    }
}

/// The beginning of a part of an archive. Names ignore case, as in the standard. A part that cannot be decompressed is
/// empty.
fn part(archive: &mut ZipArchive<Cursor<&[u8]>>, name: &str) -> Option<String> {
    let mut text = Vec::new();
    let has_name = |at: &usize| {
        let stored = archive.name_for_index(*at).and_then(Result::ok);
        stored
            .is_some_and(|stored| stored.trim_start_matches(['/', '\\']).eq_ignore_ascii_case(name))
    };
    let at = (0..archive.len()).find(has_name)?;
    archive.by_index(at).ok()?.take(CONTENT_TYPES_BYTES).read_to_end(&mut text).ok()?;
    decoded(&text).ok().map(Cow::into_owned)
}

/// Whether a file is a workbook of Excel before 2007: a compound file with a stream of that name ([MS-XLS] 2.1.2).
fn is_old_workbook(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
        && ["Workbook\0", "Book\0"].iter().any(|name| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            bytes.windows(name.len()).any(|window| window == name)
        })
}

/// Whether a file begins with the headers of a message (RFC 5322): lines of names and values, among them the sender and
/// one that only programs write.
fn is_mail(bytes: &[u8]) -> bool {
    let start = bytes.get(..MAIL_BYTES).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start);
    let (mut has_sender, mut has_other) = (false, false);
    for (number, line) in start.lines().enumerate() {
        if line.is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) && number > 0 {
            continue;
        }
        let Some((name, _)) = line.split_once(':') else { return false };
        let is_name = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return false;
        }
        has_sender |= name.eq_ignore_ascii_case("from");
        has_other |= MAIL_HEADERS.iter().any(|known| name.eq_ignore_ascii_case(known));
    }
    has_sender && has_other
}

/// The beginning of a text, enough to decide whether it is a table.
fn start_of(text: &str) -> &str {
    let end = text.char_indices().nth(TABLE_CHARS).map_or(text.len(), |(end, _)| end);
    let start = text.get(..end).unwrap_or_default();
    // The last record may be cut.
    if end < text.len() { start.rsplit_once('\n').map_or(start, |(whole, _)| whole) } else { start }
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
