//! The main content of a page, selected from its texts.
//!
//! The page may state its content (`main`, `article`, the names that publishing systems use), and a library finds text
//! that reads like an article. A text is kept if both agree. If they disagree widely, the page's own statement wins, so
//! that no part of a manual is lost; pages with code or terms count as manuals. `docs/reading.md` has the measurements.

use std::panic::catch_unwind;

use rs_trafilatura::page_type::PageType;
use rs_trafilatura::{Options, extract_with_options};
use select::document::Document;
use select::node::Node;

use super::dom::roots;
use super::lead;
use super::lean::Lean;
use super::region;
use super::selection::Selection;
use super::teasers;
use super::weights::Weights;

/// If the library finds less than this percentage of what the page states, the library is wrong.
const STATED_SHARE: usize = 60;
/// The same if the page states nothing, but documents something technical.
const REFERENCE_SHARE: usize = 90;
/// The library must find at least this percentage of the page without navigation and the like.
const FOUND_SHARE: usize = 40;

/// The texts of a page that are its content.
pub(super) fn of(document: &Document) -> Selection {
    let weights = Weights::of(document);
    let region = region::stated(document, &weights);
    let page = || roots(document).find(|root| root.name() == Some("html"));
    let Some(bounds) = region.or_else(page) else { return found(document) };
    let mut whole = Selection::of_region(document, &bounds, &weights);
    let is_reference = is_reference(&bounds);
    if is_reference && let Some(region) = &region {
        lead::add(document, region, &weights, lead::Of::Manual, &mut whole);
        return whole;
    }
    let found = found(document);
    let (mut met, least) = if region.is_some() {
        (whole.met_with(document, &found), STATED_SHARE)
    } else {
        let with_lists = Selection::with_lists(document, &bounds, &weights);
        let least = if is_reference { REFERENCE_SHARE } else { FOUND_SHARE };
        (with_lists.met_with(document, &found), least)
    };
    if met.weight() * 100 < whole.weight() * least {
        met = whole;
    } else {
        met.add_prose(document, &whole, &weights);
    }
    if let Some(region) = &region {
        lead::add(document, region, &weights, lead::Of::Article, &mut met);
    }
    if is_reference { met } else { teasers::without(document, met) }
}

/// Whether it documents something technical: other articles contain no code and no lists of terms.
fn is_reference(region: &Node<'_>) -> bool {
    let is_code = |node: &Node<'_>| {
        matches!(node.name(), Some("pre" | "code" | "kbd" | "samp" | "tt" | "var" | "dl"))
    };
    region.descendants().any(|node| is_code(&node))
}

/// What the library finds.
fn found(document: &Document) -> Selection {
    let lean = Lean::of(document);
    let texts = match catch_unwind(|| extract_with_options(&lean.html, &options())) {
        Ok(Ok(found)) => {
            let html = found.content_html.unwrap_or(found.content_text);
            lean.marked_in(&html)
        }
        // It found nothing or panicked; the fallback handles both.
        Ok(Err(_)) | Err(_) => Vec::new(),
    };
    Selection::of_texts(document, &texts)
}

fn options() -> Options {
    Options {
        // The page type is not guessed, because guessing takes time and is often wrong.
        page_type: Some(PageType::Article),
        // Its own fallbacks restore text that it had omitted for good reason.
        use_fallback_extraction: false,
        max_extracted_len: usize::MAX,
        ..Options::default()
    }
}
