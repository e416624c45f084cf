//! Decodes the bytes of a text file.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use super::Unreadable;

/// The minimum ratio of correctly decoded non-ASCII characters to damaged ones.
const WHOLE_A_DAMAGED: usize = 4;
/// A text has at most one control character per this number of characters; otherwise it is binary.
const CHARS_A_CONTROL: usize = 100;

/// The text that `bytes` contain: UTF-8, UTF-16 after its byte order mark, otherwise the legacy encoding that their
/// statistics suggest. The byte order mark is not part of the text. A few damaged characters become U+FFFD.
///
/// # Errors
///
/// If they are not text.
///
/// # Examples
///
/// ```
/// use cicerone_ingestion::decode;
///
/// assert_eq!(decode("Привет".as_bytes())?, "Привет");
/// assert!(decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").is_err());
/// # Ok::<(), cicerone_ingestion::Unreadable>(())
/// ```
pub fn decode(bytes: &[u8]) -> Result<String, Unreadable> {
    decoded(bytes).map(Cow::into_owned)
}

/// Like [`decode`], without a copy if the bytes are the text already.
pub(super) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, Unreadable> {
    let (encoding, mark) = match Encoding::for_bom(bytes) {
        Some(found) => found,
        None if is_mostly_utf8(bytes) => (encoding_rs::UTF_8, 0),
        None => (legacy(bytes)?, 0),
    };
    let body = bytes.get(mark..).unwrap_or_default();
    let (text, malformed) = encoding.decode_without_bom_handling(body);
    if malformed && !is_mostly_whole(&text) {
        let name = encoding.name();
        return Err(Unreadable::new(format!(
            "the file is not valid {name} text; save it as UTF-8 and upload it again"
        )));
    }
    if is_binary(&text) {
        return Err(binary());
    }
    Ok(text)
}

/// Whether the bytes are UTF-8, except for a few damaged places.
pub(super) fn is_mostly_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() || is_mostly_whole(&String::from_utf8_lossy(bytes))
}

/// Whether a decoded text has far more non-ASCII characters than damaged places: a wrong encoding hardly ever decodes
/// them.
pub(super) fn is_mostly_whole(text: &str) -> bool {
    let damaged = text.matches(char::REPLACEMENT_CHARACTER).count();
    let beyond = text.chars().filter(|char| !char.is_ascii()).count() - damaged;
    damaged * WHOLE_A_DAMAGED <= beyond
}

/// The encoding that the bytes are most likely in.
fn legacy(bytes: &[u8]) -> Result<&'static Encoding, Unreadable> {
    if bytes.contains(&0) {
        return Err(binary());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    Ok(detector.guess(None, Utf8Detection::Deny))
}

fn binary() -> Unreadable {
    Unreadable::new("the file is not text: it contains binary data")
}

/// Whether a decoded text contains NUL, or too many control characters for a text.
fn is_binary(text: &str) -> bool {
    let mut controls = 0_usize;
    let mut chars = 0_usize;
    for char in text.chars() {
        if char == '\0' {
            return true;
        }
        chars += 1;
        // A form feed ends a page, and ESC starts colours in terminal logs.
        if char.is_control()
            && !matches!(char, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}')
        {
            controls += 1;
        }
    }
    controls * CHARS_A_CONTROL > chars
}
