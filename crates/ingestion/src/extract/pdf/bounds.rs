//! What a file can make large has a bound.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use hayro_syntax::Filter;
use hayro_syntax::object::Stream;

/// A stream that decodes to more is not read. The text that a document may hold has 10 MiB.
const STREAM_BYTES: usize = 64 * 1024 * 1024;
/// The content of a page is read up to this size.
pub(super) const CONTENT_BYTES: usize = 64 * 1024 * 1024;
/// Nothing, compressed and encrypted, takes at most this many bytes.
const EMPTY_BYTES: usize = 48;
/// Deflate makes at most this many bytes of one; the other compressions make fewer.
const DEFLATE_RATIO: usize = 1_032;
/// Operators that are read of a document.
const OPERATORS: u32 = 20_000_000;
/// Glyphs that are read of a document.
const GLYPHS: u32 = 4_000_000;
/// Glyphs that are read of a page.
const PAGE_GLYPHS: u32 = 500_000;
/// Forms that are drawn by a document.
const FORMS: u32 = 50_000;
/// Bytes of content that the forms of a document may have, each counted as often as it is drawn.
const FORM_BYTES: usize = 512 * 1024 * 1024;
/// How deep forms may lie in each other.
pub(super) const FORM_DEPTH: usize = 16;
/// How deep graphics states may lie in each other.
pub(super) const STATES: usize = 1_024;
/// Pages that are read.
pub(super) const PAGES: usize = 20_000;

/// What is left of a document's bounds. It counts work, not time, so that the same file is always read alike.
#[derive(Debug)]
pub(super) struct Budget {
    operators: u32,
    glyphs: u32,
    page_glyphs: u32,
    forms: u32,
    form_bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            operators: OPERATORS,
            glyphs: GLYPHS,
            page_glyphs: PAGE_GLYPHS,
            forms: FORMS,
            form_bytes: FORM_BYTES,
        }
    }
}

impl Budget {
    pub(super) fn begin_page(&mut self) {
        self.page_glyphs = PAGE_GLYPHS;
    }

    /// Whether one more operator may be read.
    pub(super) fn operator(&mut self) -> bool {
        take(&mut self.operators)
    }

    /// Whether one more glyph may be read.
    pub(super) fn glyph(&mut self) -> bool {
        take(&mut self.page_glyphs) && take(&mut self.glyphs)
    }

    /// Whether one more form may be drawn.
    pub(super) fn form(&mut self) -> bool {
        take(&mut self.forms)
    }

    /// Whether a form of that many bytes may be drawn.
    pub(super) fn form_bytes(&mut self, bytes: usize) -> bool {
        let left = self.form_bytes.checked_sub(bytes);
        self.form_bytes = left.unwrap_or(0);
        left.is_some()
    }
}

fn take(left: &mut u32) -> bool {
    let Some(less) = left.checked_sub(1) else { return false };
    *left = less;
    true
}

/// A stream without its filters. `None` if it cannot be decoded, or is too large.
pub(super) fn decoded<'a>(stream: &Stream<'a>) -> Option<Cow<'a, [u8]>> {
    if is_too_large(stream) {
        return None;
    }
    // Of what is damaged from its first byte, the library makes nothing. An empty text takes a few bytes compressed.
    let decoded = stream.decoded_data().ok()?;
    (!decoded.is_empty() || stream.raw_data().len() <= EMPTY_BYTES).then_some(decoded)
}

/// Whether a stream may decode to more than is read.
pub(super) fn is_too_large(stream: &Stream<'_>) -> bool {
    let filters = stream.filters();
    let compressions = filters.iter().filter(|filter| is_compression(**filter)).count();
    let raw = stream.raw_data();
    match compressions {
        0 => raw.len() > STREAM_BYTES,
        _ if raw.len().saturating_mul(DEFLATE_RATIO) <= STREAM_BYTES && compressions == 1 => false,
        1 if filters.first() == Some(&Filter::FlateDecode) => inflates_to_more(&raw, STREAM_BYTES),
        // Of the others it is not known before: nobody compresses so much by them.
        1 => raw.len() > STREAM_BYTES / 16,
        _ => raw.len() > STREAM_BYTES / 256,
    }
}

fn is_compression(filter: Filter) -> bool {
    matches!(filter, Filter::FlateDecode | Filter::LzwDecode | Filter::RunLengthDecode)
}

/// Whether deflated data holds more bytes than that.
fn inflates_to_more(data: &[u8], limit: usize) -> bool {
    let mut inflater = Decompress::new(true);
    let mut window = vec![0; 64 * 1024];
    loop {
        let at = usize::try_from(inflater.total_in()).unwrap_or(usize::MAX);
        let before = (inflater.total_in(), inflater.total_out());
        let rest = data.get(at..).unwrap_or_default();
        match inflater.decompress(rest, &mut window, FlushDecompress::None) {
            Ok(Status::Ok) if (inflater.total_in(), inflater.total_out()) != before => {}
            _ => return false,
        }
        if usize::try_from(inflater.total_out()).unwrap_or(usize::MAX) > limit {
            return true;
        }
    }
}
