//! Pages that once took minutes, because something was looked for again and again.

use select::document::Document;

use super::{prose, text};
use crate::extract::html::lead;
use crate::extract::html::region;
use crate::extract::html::selection::Selection;
use crate::extract::html::teasers;
use crate::extract::html::weights::Weights;

#[test]
fn a_fence_is_longer_than_the_longest_run_of_its_marks() {
    let marks = "`".repeat(300_000);
    let fence = format!("{marks}`");
    let page = format!("<main><p>{}</p><pre>{marks}</pre></main>", prose("harbour"));
    assert!(text(&page).ends_with(&format!("{fence}\n{marks}\n{fence}")));
}

/// A list was copied out of each list around it, with more blanks in front of each line, to be refused in the end.
#[test]
fn a_text_beyond_the_limit_is_not_made_longer() {
    let page = format!("{}{}", "<ul><li>".repeat(200), "<li>a".repeat(50_000));
    let document = Document::from(page.as_str());
    let markdown = super::super::render::markdown(&document, &Selection::whole(&document));
    let most = cicerone_domain::limits::DOCUMENT_TEXT_BYTES;
    assert!((most..2 * most).contains(&markdown.len()), "{}", markdown.len());
}

/// The table was searched for signs of a layout for each of its texts.
#[test]
fn the_time_is_linear_in_the_texts_of_a_table() {
    let page = format!("<table>{}<tr><td><p>end</table>", "<tr><td>a<td>b".repeat(40_000));
    let document = Document::from(page.as_str());
    let is_text = |index: &usize| document.nth(*index).is_some_and(|node| node.as_text().is_some());
    let texts: Vec<usize> = (0..document.nodes.len()).filter(is_text).collect();
    let selection = Selection::of_texts(&document, &texts);
    assert_eq!(selection.weight(), 80_003);
}

/// The heading of each element was searched for whenever its purpose was asked for.
#[test]
fn the_time_is_linear_in_the_lines_before_a_text() {
    let lines = format!("<p>{}</p>", "w".repeat(70)).repeat(5_000);
    let page = format!(
        "<h1>T</h1>{}{lines}<h2>nav</h2>{}<article>{}</article>",
        "<div id=nav>".repeat(300),
        "</div>".repeat(300),
        prose("harbour").repeat(1_000),
    );
    let document = Document::from(page.as_str());
    let weights = Weights::of(&document);
    let region = region::stated(&document, &weights).unwrap();
    let mut selection = Selection::of_region(&document, &region, &weights);
    let before = selection.weight();
    lead::add(&document, &region, &weights, lead::Of::Article, &mut selection);
    assert_eq!(selection.weight(), before);
}

/// The text of a link was read for each heading beside it.
#[test]
fn the_time_is_linear_in_the_headings_beside_a_link() {
    let page = format!(
        "<main><p><a href=/x>{}</a></p><p>{}</p>{}</main>",
        "wordy ".repeat(50_000),
        prose("harbour").repeat(500),
        "<h2>t</h2>".repeat(20_000),
    );
    let document = Document::from(page.as_str());
    let kept = teasers::without(&document, Selection::whole(&document));
    assert!(kept.weight() > 100_000, "{}", kept.weight());
}
