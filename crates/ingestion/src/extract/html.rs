//! Web pages: their main content as Markdown, and what they say to a crawler.

mod about;
mod content;
mod depth;
mod dom;
mod encoding;
mod lean;
mod region;
mod render;
mod selection;
mod shell;
mod weights;

use select::document::Document;
use url::Url;

use super::{PageReading, Reading, Unreadable};

/// How deeply elements may be nested: parsing costs the square of it, and a stack.
const DEPTH: usize = 512;

/// Reads a web page.
///
/// `charset` is what the `Content-Type` header said of its encoding, `url` is where it was found.
/// A page without text is read well: its text is empty. Fails with [`Unreadable`] where its elements
/// are nested without end.
pub fn read(bytes: &[u8], charset: Option<&str>, url: &Url) -> Result<PageReading, Unreadable> {
    let source = encoding::decode(bytes, charset, url);
    if depth::exceeds(&source, DEPTH) {
        return Err(Unreadable::new(format!(
            "the page cannot be read: its elements are nested more than {DEPTH} deep"
        )));
    }
    let document = Document::from(source.as_ref());
    let chosen = content::of(&document);
    let text = render::markdown(&document, &chosen);
    let about = about::of(&document, url);
    Ok(PageReading {
        needs_javascript: shell::needs_javascript(&document, &text),
        reading: Reading { title: about.title, text, pages: Vec::new() },
        links: about.links,
        canonical: about.canonical,
        is_noindex: about.is_noindex,
        is_nofollow: about.is_nofollow,
    })
}

#[cfg(test)]
mod tests;
