//! The first reader: `pdf-extract`, with its faults repaired.

use pdf_extract::{Document, Error, decode_text_string, output_doc, output_doc_page};

use super::draft::{Draft, Refusal, guarded};
use super::glyphs::Pages;
use super::widths;

/// The draft of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, Refusal> {
    let mut document = guarded(|| Document::load_mem(bytes))?.map_err(refusal)?;
    if document.is_encrypted() {
        guarded(|| document.decrypt(""))?.map_err(refusal)?;
    }
    guarded(|| widths::repair(&mut document))?;
    let numbers = guarded(|| document.get_pages())?.into_keys();
    let mut collected = Pages::default();
    // Stops at the first page that cannot be read. It and the following ones are read page by page, each of which
    // walks through the tree of pages once more.
    let _stopped = guarded(|| output_doc(&document, &mut collected));
    let text = |number| match collected.finished.get(&number) {
        Some(text) if !text.trim().is_empty() => text.clone(),
        Some(_) => by_content(&document, number),
        None => page(&document, number),
    };
    let pages = numbers.map(text).collect();
    let title = guarded(|| title(&document)).ok().flatten();
    Ok(Draft { pages, title, has_form: has_form(&document) })
}

/// The text of `pdf-extract` without repairs.
pub(super) fn as_it_comes(bytes: &[u8]) -> Option<String> {
    guarded(|| pdf_extract::extract_text_from_mem(bytes)).ok()?.ok()
}

/// A page's text by its glyphs and their places; if that fails or finds nothing, by its content.
fn page(document: &Document, number: u32) -> String {
    let mut pages = Pages::default();
    let outcome = guarded(|| output_doc_page(document, &mut pages, number));
    match pages.finished.remove(&number) {
        Some(text) if outcome.is_ok() && !text.trim().is_empty() => text,
        _ => by_content(document, number),
    }
}

/// A page's text as the parser beneath finds it in the page's content.
fn by_content(document: &Document, number: u32) -> String {
    guarded(|| document.extract_text(&[number])).ok().and_then(Result::ok).unwrap_or_default()
}

/// The title in the document's information dictionary.
fn title(document: &Document) -> Option<String> {
    let (_, information) = document.dereference(document.trailer.get(b"Info").ok()?).ok()?;
    let (_, title) = document.dereference(information.as_dict().ok()?.get(b"Title").ok()?).ok()?;
    decode_text_string(title).ok()
}

fn has_form(document: &Document) -> bool {
    document.catalog().is_ok_and(|catalog| catalog.has(b"AcroForm"))
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::InvalidPassword | Error::Decryption(_) => Refusal::Protected,
        error => Refusal::Damaged(error.to_string()),
    }
}
