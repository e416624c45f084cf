//! What an answer holds: a page, a text, a PDF, or something that is not read.

/// What a crawl reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A web page, with the encoding that its header names.
    Html {
        /// The `charset` parameter.
        charset: Option<String>,
    },
    /// Plain text or Markdown.
    Text,
    /// A PDF.
    Pdf,
}

/// Whether the body of an answer may be something that is read, by its `Content-Type`.
pub(super) fn may_be_readable(content_type: Option<&str>) -> bool {
    match content_type.map(essence).as_deref() {
        None | Some("") => true,
        Some(essence) => declared(essence).is_some(),
    }
}

/// What kind of content an answer holds, by its bytes first and its header second; none where it is
/// none that is read. Blocks for the time that looking through the bytes takes.
pub(super) fn kind(content_type: Option<&str>, bytes: &[u8]) -> Option<Kind> {
    let start = bytes.get(..1_024).unwrap_or(bytes);
    if start.starts_with(b"%PDF-") {
        return Some(Kind::Pdf);
    }
    let essence = content_type.map(essence).filter(|essence| !essence.is_empty());
    match essence.as_deref().map_or(Some(Declared::Unknown), declared)? {
        Declared::Html => Some(Kind::Html { charset: content_type.and_then(charset) }),
        Declared::Text => Some(Kind::Text),
        Declared::Pdf | Declared::Unknown => sniffed(start, bytes, content_type),
    }
}

/// What the header alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Declared {
    Html,
    Text,
    Pdf,
    /// It says nothing.
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

/// The kind of bytes whose header says nothing, or says that they are a PDF and they do not begin as
/// one.
fn sniffed(start: &[u8], bytes: &[u8], content_type: Option<&str>) -> Option<Kind> {
    if start.windows(5).any(|window| window == b"%PDF-") {
        return Some(Kind::Pdf);
    }
    let text = String::from_utf8_lossy(start).trim_start_matches('\u{feff}').to_ascii_lowercase();
    let text = text.trim_start();
    if ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| text.starts_with(tag)) {
        return Some(Kind::Html { charset: content_type.and_then(charset) });
    }
    crate::extract::detect_upload_type(bytes)
        .is_some_and(|kind| kind == cicerone_domain::UploadType::Text)
        .then_some(Kind::Text)
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

    #[test]
    fn the_header_tells_pages_from_texts() {
        let page = b"<!doctype html><p>a";
        assert_eq!(kind(Some("text/html"), page), html(None));
        assert_eq!(kind(Some("Text/HTML; Charset=\"Shift_JIS\""), page), html(Some("Shift_JIS")));
        assert_eq!(kind(Some("application/xhtml+xml; charset=utf-8"), page), html(Some("utf-8")));
        assert_eq!(kind(Some("text/plain"), page), Some(Kind::Text));
        assert_eq!(kind(Some("text/markdown; charset=utf-8"), b"# a"), Some(Kind::Text));
    }

    #[test]
    fn the_content_tells_what_the_header_does_not() {
        assert_eq!(kind(None, b"\n <!DOCTYPE html>"), html(None));
        assert_eq!(kind(Some("application/octet-stream"), b"\xef\xbb\xbf<html>"), html(None));
        assert_eq!(kind(None, b"words"), Some(Kind::Text));
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
