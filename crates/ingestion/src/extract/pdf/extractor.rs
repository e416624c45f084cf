//! The first reader: `pdf-extract`, with what is wrong in it repaired around it.

use pdf_extract::{Document, Error, decode_text_string, output_doc_page};

use super::draft::{Draft, Refusal, guarded};
use super::glyphs::Page;
use super::widths;

/// The draft of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, Refusal> {
    let mut document = guarded(|| Document::load_mem(bytes))?.map_err(refusal)?;
    if document.is_encrypted() {
        guarded(|| document.decrypt(""))?.map_err(refusal)?;
    }
    guarded(|| widths::repair(&mut document))?;
    let numbers = guarded(|| document.get_pages())?.into_keys();
    let pages = numbers.map(|number| page(&document, number)).collect();
    let title = guarded(|| title(&document)).ok().flatten();
    Ok(Draft { pages, title, has_form: has_form(&document) })
}

/// The text that `pdf-extract` gives by itself.
pub(super) fn as_it_comes(bytes: &[u8]) -> Option<String> {
    guarded(|| pdf_extract::extract_text_from_mem(bytes)).ok()?.ok()
}

/// A page's text: by its glyphs and their places; where that fails or finds none, as the parser
/// beneath finds it in the page's content.
fn page(document: &Document, number: u32) -> String {
    let by_glyphs = guarded(|| {
        let mut page = Page::default();
        output_doc_page(document, &mut page, number).map(|()| page.text)
    });
    match by_glyphs {
        Ok(Ok(text)) if !text.trim().is_empty() => text,
        _ => {
            let by_content = guarded(|| document.extract_text(&[number]));
            by_content.ok().and_then(Result::ok).unwrap_or_default()
        }
    }
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
