//! Text recognition (OCR) by a separate program, which the service runs outside the process that reads the document.

/// Recognises the text of pictures.
pub(crate) trait Ocr {
    /// The text of a picture: a file of an upload type, or a PGM file.
    fn text_of(&mut self, picture: &[u8]) -> Recognized;
}

/// The outcome of recognising a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "sandbox", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "sandbox", serde(rename_all = "snake_case"))]
pub(crate) enum Recognized {
    /// Its text, with a form feed after each of its pages.
    Text(String),
    /// It was not recognised, with the reason as part of a sentence.
    Failed(String),
}
