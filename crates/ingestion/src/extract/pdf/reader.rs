//! The first reader: the glyphs of each page and their positions, with `hayro-font` and `hayro-syntax`.

use hayro_font::kurbo::{Affine, Rect};
use hayro_syntax::object::{Array, Dict, Stream};
use hayro_syntax::page::Page;
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use super::bounds::{self, Budget};
use super::content::{Interpreter, Shown, Tools};
use super::draft::{Draft, DraftPage, Refusal, Unread, guarded};
use super::fonts::Fonts;
use super::layers::Layers;
use super::rows::Row;
use super::state::State;
use super::strings::text_string;
use super::{annotations, direction, links, page, rows, runs};

/// The maximum number of streams in the content of a page.
const STREAMS: usize = 10_000;
/// A page with more than this fraction of unknown glyphs is not read completely.
const UNKNOWN_SHARE: f64 = 0.02;
/// A page without text is probably a scan if pictures cover at least this fraction of it.
const PICTURE_SHARE: f64 = 0.5;

/// The draft of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, Refusal> {
    let pdf = guarded(|| Pdf::new(bytes.to_vec()))?.map_err(refusal)?;
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
    let layers = guarded(|| Layers::of(&catalog)).unwrap_or_default();
    let (mut fonts, mut budget) = (Fonts::new(), Budget::default());
    let mut tools = Tools { fonts: &mut fonts, budget: &mut budget, layers: &layers };
    let pages = guarded(|| pdf.pages().len())?;
    let mut collected = Vec::with_capacity(pages.min(bounds::PAGES));
    for page in pdf.pages().iter().take(bounds::PAGES) {
        collected.push(collect(page, &mut tools));
    }
    let body = page::Body::of(collected.iter().flat_map(|page| &page.rows));
    let pages = collected.into_iter().map(|page| DraftPage {
        text: page::text(page.rows, &body),
        unread: page.unread,
        has_content: page.has_content,
        is_picture: page.is_picture,
        ocr: None,
    });
    let title = pdf.metadata().title.as_deref().map(text_string);
    Ok(Draft { pages: pages.collect(), title, is_cut: pdf.pages().len() > bounds::PAGES })
}

/// What is collected from a page.
struct Collected {
    rows: Vec<Row>,
    unread: Option<Unread>,
    has_content: bool,
    is_picture: bool,
}

fn collect<'a>(page: &Page<'a>, tools: &mut Tools<'a, '_>) -> Collected {
    tools.budget.begin_page();
    let mut shown = Shown::default();
    let visible = visible(page);
    let mut found = Vec::new();
    let mut is_broken = false;
    // Content that was read before the library panics is kept.
    let outcome = guarded(|| {
        if !tools.budget.has_content_bytes() {
            shown.is_cut = true;
            return;
        }
        let (content, is_whole) = content(page);
        is_broken = !is_whole;
        if !tools.budget.content_bytes(content.len()) {
            shown.is_cut = true;
            return;
        }
        let mut interpreter = Interpreter::new(tools, &mut shown, visible);
        interpreter.read(&content, page.resources(), State::new(Affine::IDENTITY), 0);
    });
    let annotated = guarded(|| found = annotations::read(page, tools, &mut shown, visible));
    let unread = if outcome.is_err() || annotated.is_err() || is_broken || shown.is_broken {
        Some(Unread::Damaged)
    } else if shown.is_cut {
        Some(Unread::TooLarge)
    } else {
        let glyphs = shown.glyphs.len() + shown.outside.len();
        (shown.unknown as f64 > UNKNOWN_SHARE * glyphs as f64).then_some(Unread::Fonts)
    };
    // Text outside the page is kept if there is no other text.
    let glyphs = if shown.glyphs.is_empty() { shown.outside } else { shown.glyphs };
    let has_content = !glyphs.is_empty() || shown.bytes > 0 || unread.is_some();
    let glyphs = links::with_targets(direction::settled(glyphs), &found);
    let is_picture = shown.picture_share >= PICTURE_SHARE;
    Collected { rows: rows::of(runs::of(&glyphs)), unread, has_content, is_picture }
}

/// The visible area of a page.
pub(super) fn visible(page: &Page<'_>) -> Option<Rect> {
    let seen = page.intersected_crop_box();
    let is_sound = seen.width() > 1.0 && seen.height() > 1.0;
    is_sound.then(|| Rect::new(seen.x0, seen.y0, seen.x1, seen.y1))
}

/// The content of a page, and whether all of it could be decoded.
pub(super) fn content(page: &Page<'_>) -> (Vec<u8>, bool) {
    let (mut content, mut is_whole, mut is_full) = (Vec::new(), true, false);
    let mut add = |stream: &Stream<'_>| {
        // Behind a stream that does not fit, none is decoded.
        let decoded = if is_full { None } else { bounds::decoded(stream) };
        is_full |= decoded
            .as_ref()
            .is_some_and(|decoded| content.len() + decoded.len() > bounds::CONTENT_BYTES);
        match decoded.filter(|_| !is_full) {
            Some(decoded) => {
                content.extend_from_slice(&decoded);
                // Streams are separated as if by a blank.
                content.push(b' ');
            }
            None => is_whole = false,
        }
    };
    if let Some(stream) = page.raw().get::<Stream<'_>>(b"Contents") {
        add(&stream);
    } else if let Some(streams) = page.raw().get::<Array<'_>>(b"Contents") {
        streams.iter::<Stream<'_>>().take(STREAMS).for_each(|stream| add(&stream));
    }
    (content, is_whole)
}

fn refusal(error: LoadPdfError) -> Refusal {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => Refusal::Protected,
        LoadPdfError::Decryption(error) => {
            Refusal::Damaged(format!("its encryption cannot be read ({error:?})"))
        }
        LoadPdfError::Invalid => Refusal::Damaged("it cannot be parsed".to_owned()),
    }
}
