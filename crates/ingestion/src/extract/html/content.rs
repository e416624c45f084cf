//! What a page is about: its main content, chosen from its texts.
//!
//! If a page marks its content (`main`, `article`, the names that publishing systems use), that is used, so that no part
//! of a manual is lost. For other pages a library decides. If it discards too much, everything is content except
//! navigation and the like.

use std::panic::catch_unwind;

use rs_trafilatura::page_type::PageType;
use rs_trafilatura::{Options, extract_with_options};
use select::document::Document;

use super::dom::roots;
use super::lean::Lean;
use super::region;
use super::selection::Selection;
use super::weights::Weights;

/// The library must find at least this percentage of the page without navigation and the like.
const FOUND_SHARE: usize = 40;

/// The texts of a page that are its content.
pub(super) fn of(document: &Document) -> Selection {
    let weights = Weights::of(document);
    match region::stated(document, &weights) {
        Some(region) => Selection::of_region(document, &region, &weights),
        None => found_or_all(document, &weights),
    }
}

/// What the library finds, or everything if it discards too much.
fn found_or_all(document: &Document, weights: &Weights) -> Selection {
    let found = found(document);
    let Some(page) = roots(document).find(|root| root.name() == Some("html")) else {
        return found;
    };
    let all = Selection::of_region(document, &page, weights);
    if found.weight() * 100 < all.weight() * FOUND_SHARE { all } else { found }
}

/// What the library finds.
fn found(document: &Document) -> Selection {
    let lean = Lean::of(document);
    let texts = match catch_unwind(|| extract_with_options(&lean.html, &options())) {
        Ok(Ok(found)) => {
            let html = found.content_html.unwrap_or(found.content_text);
            lean.marked_in(&html)
        }
        // It found nothing, or panicked over it, which the fallback makes up for.
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    Selection::of_texts(document, &texts)
}

fn options() -> Options {
    Options {
        // The type is not guessed: that costs time, and it is often wrong.
        page_type: Some(PageType::Article),
        // Its own fallbacks bring back what it had left out for good reason.
        use_fallback_extraction: false,
        max_extracted_len: usize::MAX,
        ..Options::default()
    }
}
