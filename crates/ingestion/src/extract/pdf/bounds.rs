//! Limits for everything that a file can make large.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use hayro_syntax::Filter;
use hayro_syntax::object::Stream;

/// A stream that decodes to more is not read. The text of a document is limited to 10 MiB.
const STREAM_BYTES: usize = 64 * 1024 * 1024;
/// The content of a page is read up to this size.
pub(super) const CONTENT_BYTES: usize = 64 * 1024 * 1024;
/// Empty data takes at most this many bytes, compressed and encrypted.
const EMPTY_BYTES: usize = 48;
/// Deflate expands one byte to at most this many; the other compressions expand less.
const DEFLATE_RATIO: usize = 1_032;
/// The maximum number of operators that are read in a document.
const OPERATORS: u32 = 20_000_000;
/// The maximum number of glyphs that are read in a document.
const GLYPHS: u32 = 4_000_000;
/// The maximum number of glyphs that are read in a page.
const PAGE_GLYPHS: u32 = 500_000;
/// The maximum number of forms that are drawn in a document.
const FORMS: u32 = 50_000;
/// The maximum number of content bytes of the forms of a document, each counted as often as it is drawn.
const FORM_BYTES: usize = 512 * 1024 * 1024;
/// The maximum number of content bytes of all pages, which may share their content.
const ALL_CONTENT_BYTES: usize = 512 * 1024 * 1024;
/// The maximum number of annotations that are read in a document, whose pages may share them.
const ANNOTATIONS: u32 = 300_000;
/// The maximum number of bytes of the values of form fields, which may share their value.
const VALUE_BYTES: usize = 64 * 1024 * 1024;
/// The maximum nesting depth of forms.
pub(super) const FORM_DEPTH: usize = 16;
/// The maximum nesting depth of graphics states.
pub(super) const STATES: usize = 1_024;
/// Pages that are read.
pub(super) const PAGES: usize = 20_000;

/// The remaining limits of a document. They count work, not time, so that the same file is always read in the same way.
#[derive(Debug)]
pub(super) struct Budget {
    operators: u32,
    glyphs: u32,
    page_glyphs: u32,
    forms: u32,
    form_bytes: usize,
    content_bytes: usize,
    annotations: u32,
    value_bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            operators: OPERATORS,
            glyphs: GLYPHS,
            page_glyphs: PAGE_GLYPHS,
            forms: FORMS,
            form_bytes: FORM_BYTES,
            content_bytes: ALL_CONTENT_BYTES,
            annotations: ANNOTATIONS,
            value_bytes: VALUE_BYTES,
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

    /// Whether any form may be drawn whose bytes are not known yet.
    pub(super) fn has_form_bytes(&self) -> bool {
        self.form_bytes > 0
    }

    /// Whether a form with this number of bytes may be drawn.
    pub(super) fn form_bytes(&mut self, bytes: usize) -> bool {
        take_bytes(&mut self.form_bytes, bytes)
    }

    /// Whether any content of a page may be decoded.
    pub(super) fn has_content_bytes(&self) -> bool {
        self.content_bytes > 0
    }

    /// Whether this many bytes of the content of a page may be read.
    pub(super) fn content_bytes(&mut self, bytes: usize) -> bool {
        take_bytes(&mut self.content_bytes, bytes)
    }

    /// Whether one more annotation may be read.
    pub(super) fn annotation(&mut self) -> bool {
        take(&mut self.annotations)
    }

    /// Whether any value of a form field may be decoded.
    pub(super) fn has_value_bytes(&self) -> bool {
        self.value_bytes > 0
    }

    /// Whether a value of this many bytes may be read.
    pub(super) fn value_bytes(&mut self, bytes: usize) -> bool {
        take_bytes(&mut self.value_bytes, bytes)
    }
}

fn take_bytes(left: &mut usize, bytes: usize) -> bool {
    let less = left.checked_sub(bytes);
    *left = less.unwrap_or(0);
    less.is_some()
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
    // The library returns nothing for data that is damaged from the first byte. An empty text takes a few bytes when
    // compressed.
    let decoded = stream.decoded_data().ok()?;
    (!decoded.is_empty() || stream.raw_data().len() <= EMPTY_BYTES).then_some(decoded)
}

/// Whether a stream may decode to more than the limit.
pub(super) fn is_too_large(stream: &Stream<'_>) -> bool {
    let filters = stream.filters();
    let compressions = filters.iter().filter(|filter| is_compression(**filter)).count();
    let raw = stream.raw_data();
    match compressions {
        0 => raw.len() > STREAM_BYTES,
        _ if raw.len().saturating_mul(DEFLATE_RATIO) <= STREAM_BYTES && compressions == 1 => false,
        1 if filters.first() == Some(&Filter::FlateDecode) => inflates_to_more(&raw, STREAM_BYTES),
        // For the others, this is not known in advance, but they do not compress that much.
        1 => raw.len() > STREAM_BYTES / 16,
        _ => raw.len() > STREAM_BYTES / 256,
    }
}

fn is_compression(filter: Filter) -> bool {
    matches!(filter, Filter::FlateDecode | Filter::LzwDecode | Filter::RunLengthDecode)
}

/// Whether deflated data decodes to more bytes than `most`.
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

#[cfg(test)]
mod tests {
    use super::Budget;

    /// What does not fit uses up the rest, so that it is not decoded again for each page or form that shares it.
    #[test]
    fn what_exceeds_a_limit_ends_it() {
        let mut budget = Budget::default();
        assert!(budget.has_form_bytes() && budget.form_bytes(1));
        assert!(!budget.form_bytes(usize::MAX) && !budget.has_form_bytes());
        assert!(budget.has_content_bytes() && budget.content_bytes(1));
        assert!(!budget.content_bytes(usize::MAX) && !budget.has_content_bytes());
        assert!(budget.has_value_bytes() && budget.value_bytes(1));
        assert!(!budget.value_bytes(usize::MAX) && !budget.has_value_bytes());
        budget.annotations = 1;
        assert!(budget.annotation() && !budget.annotation());
    }
}
