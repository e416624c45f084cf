//! Text between the title of a page and its marked content.

use super::{prose, text};

const SUMMARY: &str = "The pier of the old harbour was closed for a year. From spring on, ships may moor at it again.";

/// A page with something between its title and its text.
fn page(between: &str) -> String {
    text(&format!(
        "<body><div class=top><h1>The pier</h1>{between}</div><div class=entry-content><p>{}</p></div>",
        prose("pier").repeat(3)
    ))
}

#[test]
fn a_summary_and_a_caption_before_the_text_are_kept() {
    let caption = "The pier in the spring of 1854, when the first of the large ships moored at it.";
    let text = page(&format!(
        "<p>1 April 2026</p><div class=teaser-text><p>{SUMMARY}</p></div>
         <figure><img src=a><figcaption>{caption}</figcaption></figure>"
    ));
    assert!(text.starts_with(&format!("{SUMMARY}\n\n{caption}\n\nThe pier is")), "{text}");
    let heading = page(&format!("<h2 class=deck>{SUMMARY}</h2>"));
    assert!(heading.starts_with(&format!("## {SUMMARY}")), "{heading}");
}

#[test]
fn links_names_and_texts_of_their_own_before_the_text_are_left_out() {
    for left_out in [
        format!("<p><a href=/a>{SUMMARY}</a></p>"),
        format!("<aside><p>{SUMMARY}</p></aside>"),
        format!("<nav><p>{SUMMARY}</p></nav>"),
        format!("<p hidden>{SUMMARY}</p>"),
        format!("<form><p>{SUMMARY}</p></form>"),
        format!("<div class=newsletter><p>{SUMMARY}</p></div>"),
        format!("<p>{SUMMARY}</p>").repeat(20),
        "<p>By Ada Keeper, 1 April 2026</p>".to_owned(),
    ] {
        let text = page(&left_out);
        assert!(text.starts_with("The pier is"), "{left_out}: {text}");
    }
}

#[test]
fn what_stands_before_the_title_is_left_out() {
    let html = format!(
        "<body><div><p>{SUMMARY}</p></div><h1>The pier</h1><div class=entry-content><p>{}</p></div>",
        prose("pier").repeat(3)
    );
    assert!(text(&html).starts_with("The pier is"), "{}", text(&html));
}

#[test]
fn the_name_of_a_command_before_its_manual_is_kept() {
    let manual = |name: &str| {
        text(&format!(
            "<body><div id=header><h1>harbour-moor(1)</h1><p>Last updated 2026-11-02 by Ada</p>{name}</div>
             <div id=content><h2>SYNOPSIS</h2><pre>harbour-moor [--fast] SHIP</pre><p>{}</p></div>",
            prose("pier").repeat(3)
        ))
    };
    let text = manual("<h2>NAME</h2><p>harbour-moor - Moor a ship</p>");
    assert!(text.starts_with("harbour-moor - Moor a ship\n\n## SYNOPSIS"), "{text}");
    let text = manual("");
    assert!(text.starts_with("## SYNOPSIS"), "{text}");
}
