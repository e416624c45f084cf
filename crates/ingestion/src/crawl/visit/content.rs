//! Determines what a response contains: a page, a text, a PDF, or something that is not read.

use cicerone_domain::UploadType;

use crate::extract::{detect_upload_type, is_html};

/// How far into a body control characters are counted.
const BINARY_BYTES: usize = 64 * 1_024;
/// A body with more than one control character per this number of bytes is binary.
const BYTES_A_CONTROL: usize = 50;

/// What a crawl reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A web page, with the encoding that its header names.
    Html {
        /// The `charset` parameter.
        charset: Option<String>,
    },
    /// Plain text or Markdown, with the encoding that its header names.
    Text {
        /// The `charset` parameter.
        charset: Option<String>,
    },
    Pdf,
}

/// Whether the body of a response may be of a kind that is read, by its `Content-Type`.
pub(super) fn may_be_readable(content_type: Option<&str>) -> bool {
    match content_type.map(essence).as_deref() {
        None | Some("") => true,
        Some(essence) => declared(essence).is_some(),
    }
}

/// The kind of a response's content, by its bytes first and its header second. `None` if it is of no kind that is read.
/// Blocks while it looks through the bytes.
pub(super) fn kind(content_type: Option<&str>, bytes: &[u8]) -> Option<Kind> {
    let start = bytes.get(..1_024).unwrap_or(bytes);
    if start.starts_with(b"%PDF-") {
        return Some(Kind::Pdf);
    }
    let essence = content_type.map(essence).filter(|essence| !essence.is_empty());
    match essence.as_deref().map_or(Some(Declared::Unknown), declared)? {
        Declared::Html | Declared::Text if is_binary(bytes, content_type) => None,
        Declared::Html => Some(Kind::Html { charset: content_type.and_then(charset) }),
        Declared::Text => Some(Kind::Text { charset: content_type.and_then(charset) }),
        Declared::Pdf | Declared::Unknown => sniffed(start, bytes, content_type),
    }
}

/// Whether content that is declared as a page or a text is neither: it has too many control characters and is not in a
/// 16-bit encoding.
fn is_binary(bytes: &[u8], content_type: Option<&str>) -> bool {
    let is_wide = |label: String| {
        let encoding = encoding_rs::Encoding::for_label(label.trim().as_bytes());
        encoding.is_some_and(|e| e == encoding_rs::UTF_16LE || e == encoding_rs::UTF_16BE)
    };
    let start = bytes.get(..BINARY_BYTES).unwrap_or(bytes);
    let is_control = |byte: &&u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    let controls = start.iter().filter(is_control).count();
    controls * BYTES_A_CONTROL > start.len()
        && encoding_rs::Encoding::for_bom(bytes).is_none()
        && !content_type.and_then(charset).is_some_and(is_wide)
}

/// The kind that the header declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Html,
    Text,
    Pdf,
    /// The header declares nothing useful.
    Unknown,
}

fn declared(essence: &str) -> Option<Declared> {
    match essence {
        "text/html" | "application/xhtml+xml" => Some(Declared::Html),
        "text/plain" | "text/markdown" | "text/x-markdown" => Some(Declared::Text),
        "application/pdf" | "application/x-pdf" => Some(Declared::Pdf),
        "application/octet-stream" | "binary/octet-stream" | "application/unknown" => {
            Some(Declared::Unknown)
        }
        _ => None,
    }
}

/// The kind of bytes without a useful header, or with the header of a PDF although they do not begin like one.
fn sniffed(start: &[u8], bytes: &[u8], content_type: Option<&str>) -> Option<Kind> {
    if start.windows(5).any(|window| window == b"%PDF-") {
        return Some(Kind::Pdf);
    }
    let html = Some(Kind::Html { charset: content_type.and_then(charset) });
    // This is a page, even if the rest is damaged.
    if is_html(&String::from_utf8_lossy(start)) {
        return html;
    }
    match detect_upload_type(bytes)? {
        UploadType::Html => html,
        UploadType::Text | UploadType::Csv => Some(Kind::Text { charset: None }),
        UploadType::Pdf
        | UploadType::Docx
        | UploadType::Xlsx
        | UploadType::Ods
        | UploadType::Xls
        | UploadType::Pptx
        | UploadType::Odt
        | UploadType::Epub
        | UploadType::Rtf
        | UploadType::Eml
        | UploadType::Png
        | UploadType::Jpeg
        | UploadType::Tiff
        | UploadType::Webp => None,
    }
}

/// The type without its parameters.
pub(super) fn essence(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn charset(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, kind, may_be_readable};

    fn html(charset: Option<&str>) -> Option<Kind> {
        Some(Kind::Html { charset: charset.map(str::to_owned) })
    }

    fn text(charset: Option<&str>) -> Option<Kind> {
        Some(Kind::Text { charset: charset.map(str::to_owned) })
    }

    #[test]
    fn what_is_binary_is_no_page_whatever_the_header_says() {
        let wide: Vec<u8> = "<p>words".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(kind(Some("text/html; charset=utf-16le"), &wide), html(Some("utf-16le")));
        for binary in [
            &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..],
            b"\x1f\x8b\x08\0\0\0\0\0\x02\x03",
            b"PK\x03\x04\x14\0",
        ] {
            assert_eq!(kind(Some("text/html"), binary), None);
            assert_eq!(kind(Some("text/plain; charset=utf-8"), binary), None);
        }
    }

    #[test]
    fn the_header_tells_pages_from_texts() {
        let page = b"<!doctype html><p>a";
        assert_eq!(kind(Some("text/html"), page), html(None));
        assert_eq!(kind(Some("Text/HTML; Charset=\"Shift_JIS\""), page), html(Some("Shift_JIS")));
        assert_eq!(kind(Some("application/xhtml+xml; charset=utf-8"), page), html(Some("utf-8")));
        assert_eq!(kind(Some("text/plain"), page), text(None));
        assert_eq!(kind(Some("text/markdown; charset=utf-8"), b"# a"), text(Some("utf-8")));
    }

    #[test]
    fn the_content_tells_what_the_header_does_not() {
        assert_eq!(kind(None, b"\n <!DOCTYPE html>"), html(None));
        assert_eq!(kind(Some("application/octet-stream"), b"\xef\xbb\xbf<html>"), html(None));
        assert_eq!(kind(None, b"<html><p>a\0\x01\x02"), html(None));
        assert_eq!(kind(None, b"words"), text(None));
        assert_eq!(kind(None, b"\x00\x01\x02"), None);
        assert_eq!(kind(Some("text/html"), b"%PDF-1.7"), Some(Kind::Pdf));
        assert_eq!(kind(Some("application/pdf"), b"\n%PDF-1.7"), Some(Kind::Pdf));
        assert_eq!(kind(Some("application/pdf"), b"<html>please log in"), html(None));
    }

    #[test]
    fn other_types_are_not_even_transferred() {
        for wanted in [None, Some(""), Some("text/html;x"), Some("application/octet-stream")] {
            assert!(may_be_readable(wanted), "{wanted:?}");
        }
        for other in ["image/png", "application/json", "text/css", "video/mp4", "application/zip"] {
            assert!(!may_be_readable(Some(other)), "{other}");
            assert_eq!(kind(Some(other), b"words"), None);
        }
    }
}
