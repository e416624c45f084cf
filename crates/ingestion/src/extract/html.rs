//! Web pages: their main content as Markdown, and what they say to a crawler.

mod about;
mod content;
mod depth;
mod dom;
mod encoding;
mod lead;
mod lean;
mod names;
mod region;
mod render;
mod selection;
mod shell;
mod stated;
mod teasers;
mod weights;

use cicerone_domain::text::is_blank;
use select::document::Document;
use url::Url;

use super::{PageReading, Reading, Unreadable, title};

/// How deeply elements may be nested: parsing costs the square of it, and a stack.
const DEPTH: usize = 512;

/// Reads a web page.
///
/// `charset` is the encoding that the `Content-Type` header named, `url` the address of the page. A page without text is
/// not an error: its text is empty.
///
/// # Errors
///
/// If its elements are nested too deeply.
///
/// # Examples
///
/// ```
/// let html = b"<main><h1>Tides</h1><p>They come twice a day.</p><a href=/pilots>Pilots</a></main>";
/// let page = cicerone_ingestion::read_page(html, None, &"https://harbour.example/".parse()?)?;
/// assert!(page.reading.text.starts_with("# Tides\n\nThey come twice a day."));
/// assert_eq!(page.links, ["https://harbour.example/pilots"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(bytes: &[u8], charset: Option<&str>, url: &Url) -> Result<PageReading, Unreadable> {
    let source = encoding::decode(bytes, charset, url);
    if depth::exceeds(&source, DEPTH) {
        return Err(Unreadable::new(format!(
            "the page cannot be read: its elements are nested more than {DEPTH} deep"
        )));
    }
    let document = Document::from(source.as_ref());
    let chosen = content::of(&document);
    let mut text = render::markdown(&document, &chosen);
    let beyond = stated::beyond(&document, &text);
    if !beyond.is_empty() {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        text.push_str(gap);
        text.push_str(&beyond);
    }
    let about = about::of(&document, url);
    Ok(PageReading {
        needs_javascript: shell::needs_javascript(&document, &text),
        refresh: about
            .refresh
            .filter(|refresh| refresh.seconds == 0 || is_blank(&text))
            .map(|refresh| refresh.address),
        reading: Reading {
            title: about.title.map(|of| title::with_purpose(of, &text)),
            text,
            ..Reading::default()
        },
        links: about.links,
        canonical: about.canonical,
        is_noindex: about.is_noindex,
        is_nofollow: about.is_nofollow,
    })
}

/// All text of a page that was written to be read as a whole: a chapter of a book, a message.
///
/// # Errors
///
/// If its elements are nested too deeply.
#[cfg(feature = "office")]
pub(super) fn read_whole(source: &str) -> Result<String, Unreadable> {
    if depth::exceeds(source, DEPTH) {
        return Err(Unreadable::new(format!(
            "the page cannot be read: its elements are nested more than {DEPTH} deep"
        )));
    }
    let document = Document::from(source);
    Ok(render::markdown(&document, &selection::Selection::whole(&document)))
}

#[cfg(test)]
mod tests;
