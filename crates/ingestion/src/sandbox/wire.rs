//! The protocol between parent and child: frames over standard input and output.
//!
//! A frame is its length (4 bytes, big endian) followed by that many bytes. A request is two frames, the header as JSON
//! and the document; an answer is a frame of JSON and, if the document was read, a frame with its text in UTF-8. Before
//! it answers, the child may send pictures, one after the other, and waits for the text of each. Both sides limit what
//! they accept.

use std::io::{self, Read, Write};

use cicerone_domain::content::cut_at_word;
use cicerone_domain::limits;
use cicerone_domain::text::without_nul;
use serde::{Deserialize, Serialize};

use super::outline::{Outline, has_bounded_links};
use crate::extract::{PageReading, Prepared};

/// The longest header: an address is the longest part of it.
pub(super) const HEADER_BYTES: u32 = 256 * 1024;
/// The longest document.
pub(super) const DOCUMENT_BYTES: u32 = 64 * 1024 * 1024;
/// The longest JSON frame of an answer: headings, links and 20,000 stretches at their limits are shorter.
pub(super) const ANSWER_BYTES: u32 = 16 * 1024 * 1024;
/// The longest picture whose text is recognised: drawings of pages are smaller.
pub(super) const PICTURE_BYTES: u32 = 16 * 1024 * 1024;
/// The longest frame of JSON with the text of a picture.
pub(super) const RECOGNIZED_BYTES: u32 = 8 * 1024 * 1024;
/// The longest encoding label that is passed on; all valid ones are shorter.
pub(super) const CHARSET_CHARS: usize = 64;

/// The frame before a document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header<R> {
    /// Bytes of address space.
    pub(super) memory: u64,
    /// Seconds of processor time.
    pub(super) seconds: u64,
    /// The longest text, in bytes.
    pub(super) output: u32,
    /// The number of pictures that may be sent back for recognition.
    pub(super) pictures: u32,
    /// What is to be read.
    pub(super) request: R,
}

/// What a document is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// A web page.
    Page {
        /// Where it was found.
        url: String,
        /// The encoding that its server named.
        charset: Option<String>,
    },
    /// A PDF file.
    Pdf,
    /// A DOCX file.
    Docx,
    /// A text file.
    Text {
        /// The encoding that its server named.
        charset: Option<String>,
    },
    /// A table as text.
    Csv {
        /// The encoding that its server named.
        charset: Option<String>,
    },
    /// Workbooks.
    Xlsx,
    /// Those of OpenDocument.
    Ods,
    /// Those of Excel before 2007.
    Xls,
    /// Office Open XML presentation.
    Pptx,
    /// OpenDocument text.
    Odt,
    /// An electronic book.
    Epub,
    /// Rich Text Format.
    Rtf,
    /// A message (RFC 5322), with what is attached to it.
    Eml,
    Picture,
}

impl Request {
    /// Whether it is usually read in milliseconds; the others may take their whole time.
    pub(super) const fn is_quick(&self) -> bool {
        match self {
            Self::Page { .. } | Self::Text { .. } | Self::Csv { .. } => true,
            Self::Pdf
            | Self::Docx
            | Self::Xlsx
            | Self::Ods
            | Self::Xls
            | Self::Pptx
            | Self::Odt
            | Self::Epub
            | Self::Rtf
            | Self::Eml
            | Self::Picture => false,
        }
    }

    /// The name of what is read, for the metrics.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Page { .. } => "html",
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Text { .. } => "text",
            Self::Csv { .. } => "csv",
            Self::Xlsx => "xlsx",
            Self::Ods => "ods",
            Self::Xls => "xls",
            Self::Pptx => "pptx",
            Self::Odt => "odt",
            Self::Epub => "epub",
            Self::Rtf => "rtf",
            Self::Eml => "eml",
            Self::Picture => "picture",
        }
    }
}

/// The result of reading a document: the first frame of an answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// A web page was read. Its text follows.
    Page(PageReading<Outline>),
    /// A file was read. Its text follows.
    File(Outline),
    /// It cannot be read, with the reason.
    Unreadable(String),
    /// Reading it panicked.
    Panicked,
    /// It is being read, and a picture follows. The reply is a frame with its text, as a JSON
    /// [`Recognized`](crate::extract::ocr::Recognized).
    Picture,
}

impl Answer {
    /// Whether the text follows in a frame of its own.
    pub(super) const fn has_text(&self) -> bool {
        match self {
            Self::Page(_) | Self::File(_) => true,
            Self::Unreadable(_) | Self::Panicked | Self::Picture => false,
        }
    }

    /// The answer combined with its text, checked; `None` if they do not match.
    pub(super) fn with(self, text: String) -> Option<Reply> {
        Some(match self {
            Self::Page(page) => {
                let page = page.try_map(|outline| outline.with(text).ok_or(())).ok()?;
                has_bounded_links(&page).then_some(Reply::Page(page))?
            }
            Self::File(outline) => Reply::File(outline.with(text)?),
            Self::Unreadable(reason) => {
                let reason = without_nul(cut_at_word(&reason, limits::REASON_CHARS).into_owned());
                Reply::Unreadable(reason)
            }
            Self::Panicked => Reply::Panicked,
            Self::Picture => return None,
        })
    }
}

/// The result of reading a document, as the server uses it.
#[derive(Debug)]
pub(super) enum Reply {
    /// A web page was read.
    Page(PageReading<Prepared>),
    /// A file was read.
    File(Prepared),
    /// It cannot be read, with the reason.
    Unreadable(String),
    /// Reading it panicked.
    Panicked,
}

/// Reads a frame of at most `limit` bytes. `None` if the other side has closed the stream.
pub(super) fn read_frame(input: &mut impl Read, limit: u32) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let mut filled = 0;
    while let Some(rest) = length.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match input.read(rest) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_be_bytes(length);
    if length > limit {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut frame = Vec::new();
    let read = input.take(u64::from(length)).read_to_end(&mut frame)?;
    if u64::try_from(read).ok() != Some(u64::from(length)) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(frame))
}

/// Writes a frame.
pub(super) fn write_frame(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    output.write_all(&length.to_be_bytes())?;
    output.write_all(bytes)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use cicerone_domain::limits;

    use super::{Answer, Reply, read_frame, write_frame};

    #[test]
    fn a_reason_that_quotes_the_document_is_cut_and_has_no_nul() {
        let answer = Answer::Unreadable(format!("bad cell type \0{}", "x".repeat(1_000_000)));
        let Some(Reply::Unreadable(reason)) = answer.with(String::new()) else { panic!("read") };
        assert!(reason.starts_with("bad cell type") && !reason.contains('\0'), "{reason}");
        assert!(reason.chars().count() <= limits::REASON_CHARS);
    }

    #[test]
    fn frames_come_back_and_an_end_between_them_is_none() {
        let mut wire = Vec::new();
        write_frame(&mut wire, b"one").unwrap();
        write_frame(&mut wire, b"").unwrap();
        let mut input = wire.as_slice();
        assert_eq!(read_frame(&mut input, 3).unwrap().as_deref(), Some(b"one".as_slice()));
        assert_eq!(read_frame(&mut input, 3).unwrap().as_deref(), Some(b"".as_slice()));
        assert!(read_frame(&mut input, 3).unwrap().is_none());
    }

    #[test]
    fn frames_that_are_too_long_or_cut_are_errors() {
        assert!(read_frame(&mut b"\0\0\0\x04four".as_slice(), 3).is_err());
        assert!(read_frame(&mut b"\0\0\0\x04fou".as_slice(), 4).is_err());
        assert!(read_frame(&mut b"\0\0".as_slice(), 4).is_err());
    }
}
