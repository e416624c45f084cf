//! The second reader: `pdf_oxide`.

use pdf_oxide::object::Object;
use pdf_oxide::{Error, PdfDocument};

use super::draft::{Draft, Refusal, guarded};

/// The draft of a file, of the pages (from 0) that are wanted; the others stay empty.
pub(super) fn read(bytes: &[u8], wanted: impl Fn(usize) -> bool) -> Result<Draft, Refusal> {
    let document = guarded(|| PdfDocument::from_bytes(bytes.to_vec()))?.map_err(damaged)?;
    if document.is_encrypted() && !guarded(|| document.is_authenticated())? {
        return Err(Refusal::Protected);
    }
    let count = guarded(|| document.page_count())?.map_err(damaged)?;
    // A page that cannot be read is an empty one: the others are worth having.
    let page = |number| match wanted(number) {
        true => guarded(|| document.extract_text(number)).ok()?.ok(),
        false => None,
    };
    let pages = (0..count).map(|number| page(number).unwrap_or_default()).collect();
    let title = guarded(|| title(&document)).ok().flatten();
    Ok(Draft { pages, title, has_form: false })
}

/// The title in the document's information dictionary.
fn title(document: &PdfDocument) -> Option<String> {
    let information = document.resolve_object(document.trailer().as_dict()?.get("Info")?).ok()?;
    match document.resolve_object(information.as_dict()?.get("Title")?).ok()? {
        Object::String(bytes) => Some(text_string(&bytes)),
        _ => None,
    }
}

/// A text string (ISO 32000-2, 7.9.2.2): UTF-16 or UTF-8 after a byte order mark, otherwise a superset of Latin-1.
fn text_string(bytes: &[u8]) -> String {
    let (text, _, _) = encoding_rs::WINDOWS_1252.decode(bytes);
    text.into_owned()
}

fn damaged(error: Error) -> Refusal {
    Refusal::Damaged(error.to_string())
}
