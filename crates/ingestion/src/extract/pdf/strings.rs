//! Text strings outside of content streams.

/// A text string (ISO 32000-2, 7.9.2.2): UTF-16 or UTF-8 after a byte order mark, otherwise a superset of Latin-1.
pub(super) fn text_string(bytes: &[u8]) -> String {
    // The decoder looks at the byte order mark.
    let (text, _, _) = encoding_rs::WINDOWS_1252.decode(bytes);
    text.into_owned()
}
