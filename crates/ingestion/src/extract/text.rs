//! Text files.

use encoding_rs::{Encoding, UTF_8};

use super::{Reading, Unreadable, decode};

/// Reads a text file: its text, unchanged. `charset` is the encoding that a header named; it is used if the whole text
/// is valid in it and no byte order mark names another one.
///
/// # Errors
///
/// Those of [`decode`].
pub fn read(bytes: &[u8], charset: Option<&str>) -> Result<Reading, Unreadable> {
    let said = charset.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    if let Some(encoding) = said.filter(|encoding| *encoding != UTF_8)
        && Encoding::for_bom(bytes).is_none()
        && let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes)
    {
        return decode(text.as_bytes()).map(Reading::plain);
    }
    decode(bytes).map(Reading::plain)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_text_is_in_the_encoding_that_its_header_names_where_that_fits() {
        let text = "Привет, как дела?";
        let (cyrillic, ..) = encoding_rs::WINDOWS_1251.encode(text);
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, charset) in [(&*cyrillic, "windows-1251"), (&*wide, "UTF-16LE")] {
            assert_eq!(read(bytes, Some(charset)).unwrap().text, text);
        }
        for charset in [None, Some("utf-8"), Some("shift_jis"), Some("nonsense")] {
            assert_eq!(read(text.as_bytes(), charset).unwrap().text, text);
        }
    }
}
