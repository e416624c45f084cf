//! What a page shows of other pages is left out, and what only looks like it is kept.

use super::{prose, text};

/// A page with a text and what follows it.
fn page(between: &str, after: &str) -> String {
    let (pier, light) = (prose("pier").repeat(3), prose("light"));
    text(&format!(
        "<body><main><h1>The pier</h1><p>{pier}</p>{between}<h2>The light</h2><p>{light}</p>{after}</main>"
    ))
}

#[test]
fn lists_and_teasers_of_other_pages_after_the_text_are_left_out() {
    let text = page(
        "",
        "<h3>More on this</h3><ul><li>1 April 2026 <a href=/a>A storm is near the coast</a><li><a href=/b>Boats</a></ul>
         <h3>You may also like</h3>
         <div><h4><a href=/c>New rules for all guests</a></h4><p>From spring on, all is new.</p></div>
         <div><h4><a href=/d>The keeper retires</a></h4><p>After forty years.</p></div>
         <h3>Topics</h3><p><a href=/t>Harbours</a> <a href=/u>Towers</a></p><p><a href=/>Back to the list</a></p>
         <h3>Comments</h3><p>Print</p>",
    );
    assert!(text.ends_with(prose("light").trim()), "{text}");
}

#[test]
fn references_to_other_pages_within_the_text_are_left_out() {
    let text = page(
        "<p>Read on: <a href=/a>Why the old pier was built of oak</a></p>
         <p><a href=/b>Ten piers that everyone should have seen</a></p>
         <h3><a href=/c>SEE: The storm of the year in pictures</a></h3>
         <div>See also:</div><ul><li><a href=/d>Oak</a><li><a href=/e>Piers</a></ul>",
        "",
    );
    for left_out in ["Read on", "Ten piers", "SEE:", "See also", "Oak"] {
        assert!(!text.contains(left_out), "{left_out}: {text}");
    }
    assert!(text.contains("## The light"), "{text}");
}

#[test]
fn a_heading_in_a_box_with_nothing_but_links_goes_with_them() {
    let links =
        "<ul><li><a href=/a>May I move the old pier?</a><li><a href=/b>Is the pier safe?</a></ul>";
    let boxed = page(&format!("<div><h4>Read these too</h4>{links}</div><p>It is of oak.</p>"), "");
    assert!(!boxed.contains("Read these") && boxed.contains("It is of oak."), "{boxed}");
    let with_text = page(&format!("<div><h4>Read these</h4><p>Of oak.</p>{links}</div>"), "");
    assert!(with_text.contains("#### Read these\n\nOf oak."), "{with_text}");
}

#[test]
fn a_label_with_nothing_below_it_ends_no_text() {
    let text = page("", "<h4>You may like:</h4><p>Resources:</p>");
    assert!(text.ends_with(prose("light").trim()), "{text}");
}

#[test]
fn addresses_files_places_in_the_page_and_lists_of_the_text_are_kept() {
    let text = page(
        "<p><a href='https://maps.example/x'>Quay 1, 12345 Port Ada</a></p>
         <p><a href=/price-list.pdf>The price list for all berths</a></p>
         <p><a href='mailto:ada@h.example'>ada@h.example</a></p>
         <p><a href='#light'>The light and its history are below</a></p>
         <p>We rent out boats, sails and more, each for a day, a week or for a whole year if you wish so:</p>
         <ul><li><a href=/one>One sail</a><li><a href=/two>Two sails</a></ul>
         <table><tr><th>Boat<th>Price<tr><td><a href=/ada>The good ship Ada, our largest</a><td>5</table>",
        "<h2>Contact</h2><p>Ada Keeper</p><p>Telephone 555 123</p><h2>Hours</h2><ul><li>Monday<li>Friday</ul>",
    );
    for kept in [
        "Quay 1, 12345 Port Ada",
        "The price list for all berths (/price-list.pdf)",
        "ada@h.example",
        "The light and its history",
        "One sail",
        "| The good ship Ada, our largest | 5 |",
        "## Contact\n\nAda Keeper\n\nTelephone 555 123",
        "- Friday",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn questions_with_short_answers_keep_both() {
    let text = page(
        "<h3><a href='#dogs'>Are dogs allowed?</a></h3><p>Yes.</p><h3><a href='#cats'>And cats?</a></h3><p>No.</p>",
        "<h3>May I swim here?</h3><p>No.</p>",
    );
    for kept in
        ["### Are dogs allowed?\n\nYes.", "### And cats?\n\nNo.", "### May I swim here?\n\nNo."]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn headings_that_lead_on_are_kept_within_the_text() {
    let (oak, iron) = (prose("oak"), prose("iron"));
    let text = page(
        "<h2><a href=/oak>Our piers of oak, built by hand</a></h2><p>All of them.</p>
         <h2><a href=/iron>Our piers of iron, built to last</a></h2><p>Some of them.</p>",
        &format!(
            "<h2><a href=/rent>Boats that you can rent from us</a></h2><p>{oak}</p>
             <h2><a href=/buy>Boats that you can buy from us</a></h2><p>{iron}</p>"
        ),
    );
    for kept in ["by hand\n\nAll of them.", "to last\n\nSome", "rent from us", "buy from us"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_page_of_contents_and_a_manual_keep_their_links() {
    let links: String = (0..30).map(|n| format!("<li><a href=/{n}>Chapter {n}</a>")).collect();
    let contents =
        text(&format!("<main><h1>Contents</h1><p>All chapters.</p><ul>{links}</ul></main>"));
    assert!(contents.contains("Chapter 29"), "{contents}");
    let manual = page(
        "<pre>berth --list</pre>",
        "<h2>See also</h2><p><a href=/quay>The command quay</a></p>",
    );
    assert!(manual.ends_with("## See also\n\nThe command quay"), "{manual}");
}

#[test]
fn a_header_or_an_aside_around_the_whole_page_is_no_reason_to_lose_it() {
    let pier = prose("pier");
    for (open, close) in [("<header role=banner>", "</header>"), ("<aside>", "</aside>")] {
        let html = format!("<body>{open}<p>Menu</p><main><h1>Pier</h1><p>{pier}</p></main>{close}");
        assert!(text(&html).contains(pier.trim()), "{open}");
    }
}
