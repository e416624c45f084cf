//! A file of any type, read in this process.

use cicerone_domain::UploadType;
use url::Url;

use super::ocr::Ocr;
use super::workbook::{self, Kind};
use super::{Reading, Unreadable, book, csv, docx, html, mail, open_text, rich, slides, text};

/// The address of a saved page, which is unknown (RFC 6694).
const NOWHERE: &str = "about:blank";

/// Reads a file, which is of this type, in this process.
///
/// Call it only in a process that may be killed: on malicious files, the underlying libraries loop, abort or exhaust
/// memory. The sandbox's `Readers` call it in processes of their own.
///
/// # Errors
///
/// If the file is protected, damaged, without text, or exceeds the limits.
pub fn read(kind: UploadType, bytes: &[u8]) -> Result<Reading, Unreadable> {
    read_with(kind, bytes, None)
}

/// Reads a file. Text in pictures is recognised if OCR is available.
pub(crate) fn read_with(
    kind: UploadType,
    bytes: &[u8],
    ocr: Option<&mut dyn Ocr>,
) -> Result<Reading, Unreadable> {
    match kind {
        UploadType::Text => text::read(bytes, None),
        UploadType::Html => {
            let nowhere =
                Url::parse(NOWHERE).map_err(|error| Unreadable::new(error.to_string()))?;
            html::read(bytes, None, &nowhere).map(|page| page.reading)
        }
        UploadType::Csv => csv::read(bytes, None),
        UploadType::Docx => docx::read(bytes),
        UploadType::Xlsx => workbook::read(bytes, Kind::Xlsx),
        UploadType::Ods => workbook::read(bytes, Kind::Ods),
        UploadType::Xls => workbook::read(bytes, Kind::Xls),
        UploadType::Pptx => slides::read(bytes),
        UploadType::Odt => open_text::read(bytes),
        UploadType::Epub => book::read(bytes),
        UploadType::Rtf => rich::read(bytes),
        UploadType::Eml => mail::read(bytes),
        #[cfg(feature = "pdf")]
        UploadType::Pdf => super::pdf::read_with(bytes, ocr),
        #[cfg(feature = "pdf")]
        UploadType::Png | UploadType::Jpeg | UploadType::Tiff | UploadType::Webp => {
            super::pdf::read_picture(bytes, ocr)
        }
        #[cfg(not(feature = "pdf"))]
        UploadType::Pdf
        | UploadType::Png
        | UploadType::Jpeg
        | UploadType::Tiff
        | UploadType::Webp => {
            let _ = ocr;
            Err(no_pdf())
        }
    }
}

/// The program was built without PDF support.
#[cfg(not(feature = "pdf"))]
fn no_pdf() -> Unreadable {
    Unreadable::new("PDF files and pictures cannot be read by this program")
}
