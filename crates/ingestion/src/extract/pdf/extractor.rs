//! The second reader: `pdf-extract`, with its bugs worked around.

use pdf_extract::{
    Dictionary, Document, Error, Object, decode_text_string, output_doc, output_doc_page,
};

use super::draft::{Draft, DraftPage, Refusal, guarded};
use super::glyphs::Pages;
use super::widths;

/// The maximum number of pages that are read one by one, each of which walks the page tree again.
const PAGES_ONE_BY_ONE: usize = 32;

/// The draft of a file, with the requested pages (from 0); the others are empty. Files that hide layers are refused, because
/// their text would be read as if it was seen.
pub(super) fn read(bytes: &[u8], wanted: impl Fn(usize) -> bool) -> Result<Draft, Refusal> {
    let mut document = guarded(|| Document::load_mem(bytes))?.map_err(refusal)?;
    if document.is_encrypted() {
        guarded(|| document.decrypt(""))?.map_err(refusal)?;
    }
    if guarded(|| hides_layers(&document))? {
        return Err(Refusal::Damaged("it has hidden layers, and cannot be parsed".to_owned()));
    }
    guarded(|| widths::repair(&mut document))?;
    let numbers: Vec<u32> = guarded(|| document.get_pages())?.into_keys().collect();
    let mut collected = Pages::default();
    if (0..numbers.len()).filter(|page| wanted(*page)).count() > PAGES_ONE_BY_ONE {
        // Stops at the first page that cannot be read.
        let _stopped = guarded(|| output_doc(&document, &mut collected));
    }
    let text = |number| match collected.finished.get(&number) {
        Some(text) if !text.trim().is_empty() => text.clone(),
        Some(_) => by_content(&document, number),
        None => page(&document, number),
    };
    let pages = numbers.into_iter().enumerate().map(|(page, number)| DraftPage {
        text: if wanted(page) { text(number) } else { String::new() },
        ..DraftPage::default()
    });
    let pages = pages.collect();
    let title = guarded(|| title(&document)).ok().flatten();
    Ok(Draft { pages, title, is_cut: false })
}

/// Whether a layer is switched off when the file is opened (ISO 32000-2, 8.11.4).
fn hides_layers(document: &Document) -> bool {
    let inner = |dictionary: &Dictionary, key: &[u8]| {
        let found = dictionary.get(key).and_then(|found| document.dereference(found));
        found.map(|(_, found)| found.clone()).ok()
    };
    let hides = |configuration: &Object| {
        let configuration = configuration.as_dict().ok()?;
        let base = inner(configuration, b"BaseState");
        let is_off = base.is_some_and(|base| base.as_name().is_ok_and(|name| name == b"OFF"));
        let off = inner(configuration, b"OFF");
        Some(is_off || off.is_some_and(|off| off.as_array().is_ok_and(|off| !off.is_empty())))
    };
    let properties = document.catalog().ok().and_then(|catalog| inner(catalog, b"OCProperties"));
    let configuration = properties.and_then(|all| inner(all.as_dict().ok()?, b"D"));
    configuration.as_ref().and_then(hides).unwrap_or(false)
}

/// The text of `pdf-extract` without repairs.
pub(super) fn as_it_comes(bytes: &[u8]) -> Option<String> {
    guarded(|| pdf_extract::extract_text_from_mem(bytes)).ok()?.ok()
}

/// A page's text from its glyphs and their positions; if that fails or finds nothing, from its content.
fn page(document: &Document, number: u32) -> String {
    let mut pages = Pages::default();
    let outcome = guarded(|| output_doc_page(document, &mut pages, number));
    match pages.finished.remove(&number) {
        Some(text) if outcome.is_ok() && !text.trim().is_empty() => text,
        _ => by_content(document, number),
    }
}

/// A page's text as the underlying parser finds it in the page's content.
fn by_content(document: &Document, number: u32) -> String {
    guarded(|| document.extract_text(&[number])).ok().and_then(Result::ok).unwrap_or_default()
}

/// The title in the document's information dictionary.
fn title(document: &Document) -> Option<String> {
    let (_, information) = document.dereference(document.trailer.get(b"Info").ok()?).ok()?;
    let (_, title) = document.dereference(information.as_dict().ok()?.get(b"Title").ok()?).ok()?;
    decode_text_string(title).ok()
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::InvalidPassword | Error::Decryption(_) => Refusal::Protected,
        error => Refusal::Damaged(error.to_string()),
    }
}
