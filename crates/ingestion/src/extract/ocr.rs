//! Text of pictures, recognised (OCR) by a program of its own, which the service runs outside of the process that reads
//! the document.

/// Recognises the text of pictures.
pub(crate) trait Ocr {
    /// The text of a picture: a whole file of a type that is uploaded, or a PGM file.
    fn text_of(&mut self, picture: &[u8]) -> Recognized;
}

/// What became of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "sandbox", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "sandbox", serde(rename_all = "snake_case"))]
pub(crate) enum Recognized {
    /// Its text, with a form feed after each of its pages.
    Text(String),
    /// It was not recognised, and why, as a part of a sentence.
    Failed(String),
}
