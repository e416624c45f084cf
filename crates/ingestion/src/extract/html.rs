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

/// Whether a text begins as a whole page does: with its document type, or with one of the elements
/// that hold a page, after nothing but declarations and comments. A text with some elements in it,
/// as Markdown may have, is none.
pub(crate) fn is_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(end) = aside(rest) {
        rest = rest.get(end..).unwrap_or_default().trim_start();
    }
    ["<!doctype html", "<html", "<head", "<body"].iter().any(|opening| {
        let (start, after) = rest.split_at_checked(opening.len()).unwrap_or_default();
        start.eq_ignore_ascii_case(opening)
            && after.starts_with(|next: char| next == '>' || next.is_ascii_whitespace())
    })
}

/// Where a comment or a processing instruction at the beginning of `text` ends.
fn aside(text: &str) -> Option<usize> {
    [("<!--", "-->"), ("<?", ">")].iter().find_map(|(opening, closing)| {
        let inner = text.strip_prefix(opening)?;
        Some(opening.len() + inner.find(closing)? + closing.len())
    })
}

#[cfg(test)]
mod tests;
