mod code;
mod leads;
mod teasers;
mod times;

use url::Url;

use super::read;
use crate::extract::PageReading;

fn page(html: &str) -> PageReading {
    let url = Url::parse("https://guide.example/docs/start?a=1").unwrap();
    read(html.as_bytes(), None, &url).unwrap()
}

fn text(html: &str) -> String {
    page(html).reading.text
}

/// Enough prose that a page is about it.
fn prose(topic: &str) -> String {
    let sentence =
        format!("The {topic} is described here at some length, with all that a reader needs. ");
    sentence.repeat(8)
}

#[test]
fn structure_becomes_markdown() {
    let text = text(
        "<main><h1>Tides</h1><p>Twice\n a <b>day</b>,<br>by the <code>moon</code>.</p>
         <h2>Kinds</h2><ul><li>spring<ul><li>high<li>low</ul><li>neap</ul>
         <ol start=3><li><p>third</p><p>more</p><li>fourth</ol>
         <dl><dt>Ebb<dd>falling water<dt>Flood<dd><p>rising</p><p>water</p></dl>
         <pre class=language-rust><code>fn main() {\n    ebb();\n}</code></pre>
         <p># no heading</p></main>",
    );
    let expected = "# Tides\n\nTwice a day,\nby the `moon`.\n\n## Kinds\n\n\
        - spring\n  - high\n  - low\n- neap\n\n3. third\n\n   more\n4. fourth\n\n\
        Ebb: falling water\n\nFlood: rising\n\nwater\n\n\
        ```rust\nfn main() {\n    ebb();\n}\n```\n\n\\# no heading";
    assert_eq!(text, expected);
}

#[test]
fn tables_of_data_are_rows_and_tables_of_layout_are_not() {
    let data = "<table><caption>Fees</caption><thead><tr><th>Berth<th>Price</thead>\
        <tr><td>short <i>stay</i><td>5 | 6 €<tr><td><td></table>";
    assert_eq!(text(data), "Fees\n\n| Berth | Price |\n| --- | --- |\n| short stay | 5 \\| 6 € |");
    let layout = "<table><tr><td><h2>News</h2><p>One.</p><td><p>Two.</p></table>";
    assert_eq!(text(layout), "## News\n\nOne.\n\nTwo.");
}

#[test]
fn code_that_is_longer_than_a_passage_becomes_several_blocks() {
    let lines: Vec<String> =
        (0..200).map(|line| format!("    touch tide-{line}.txt # and wait")).collect();
    let code = format!("if true; then\n{}\nfi", lines.join("\n"));
    let page =
        format!("<main><h1>Tides</h1><p>The whole script is this one.</p><pre>{code}</pre></main>");
    let text = text(&page);
    let chunks = crate::chunks(&text);
    assert!(chunks.len() > 3, "{text}");
    for chunk in &chunks {
        let part = &text[chunk.range.clone()];
        assert_eq!(part.matches("```").count() % 2, 0, "{part}");
    }
    for line in &lines {
        assert_eq!(text.matches(&format!("{line}\n")).count(), 1, "{line}");
    }
}

#[test]
fn code_with_fences_stands_between_longer_ones() {
    assert_eq!(text("<pre>a\n```\nb</pre>"), "````\na\n```\nb\n````");
}

#[test]
fn what_stands_beside_the_content_is_left_out() {
    let harbour = prose("harbour");
    let html = format!(
        "<body><header><nav><a href=/>Home</a></nav></header><main><h1>Harbour</h1><p>{harbour}</p>
         <div class=share-buttons>Tell a friend</div><aside>An aside</aside></main>
         <div class=cookie-banner>We use cookies</div><p hidden>secret</p>
         <p style='display: none'>also secret</p><script>var x</script><footer>Imprint</footer>"
    );
    assert_eq!(text(&html), format!("# Harbour\n\n{}", harbour.trim()));
}

#[test]
fn notes_within_the_content_are_read() {
    let harbour = prose("harbour");
    for aside in [
        "<aside class='footnote brackets' role=doc-footnote>One note.</aside>",
        "<aside role=note>One note.</aside>",
        "<aside class='starlight-aside starlight-aside--caution'><p>One note.</p></aside>",
        "<aside class=topic>One note.</aside>",
        "<aside><p>One note.</p></aside>",
    ] {
        let html = format!("<main><h1>Harbour</h1><p>{harbour}</p>{aside}</main>");
        assert_eq!(text(&html), format!("# Harbour\n\n{}\n\nOne note.", harbour.trim()), "{aside}");
    }
    let html = format!(
        "<main><p>{harbour}</p><aside role=complementary class=note>Elsewhere</aside></main>"
    );
    assert_eq!(text(&html), harbour.trim());
}

#[test]
fn a_page_without_marks_of_its_content_is_judged_by_the_library() {
    let (pier, light) = (prose("pier"), prose("light"));
    let html = format!(
        "<body><div id=top><a href=/a>One</a> <a href=/b>Two</a></div>
         <div><h2>The pier</h2><p>{pier}</p><p>{light}</p></div><div class=footer>Imprint</div>"
    );
    let text = text(&html);
    assert!(text.contains(pier.trim()) && text.contains(light.trim()), "{text}");
    assert!(!text.contains("Imprint") && !text.contains("One"), "{text}");
}

#[test]
fn a_manual_keeps_its_terms_and_tables() {
    let terms: String = (0..40).map(|n| format!("<dt>--option{n}<dd>sets value {n}")).collect();
    let rows: String = (0..40).map(|n| format!("<tr><td>code{n}<td>meaning {n}")).collect();
    let html = format!("<body><h1>Options</h1><dl>{terms}</dl><table>{rows}</table>");
    let text = text(&html);
    assert!(text.contains("--option39: sets value 39"), "{text}");
    assert!(text.contains("| code39 | meaning 39 |"), "{text}");
}

#[test]
fn a_short_page_is_read_whole() {
    assert_eq!(text("<title>T</title><p>Closed on Mondays.</p>"), "Closed on Mondays.");
}

#[test]
fn a_section_is_not_lost_for_a_word_in_its_id_or_class() {
    let (pages, login, reactions) = (prose("pages"), prose("login"), prose("reactions"));
    let html = format!(
        "<main class=share><h1>Manual</h1><p>{pages}</p>
         <section id=pagination><h2>Pagination</h2><p>Ask for fifty at a time.</p></section>
         <section id=login><h2>Login</h2><p>{login}</p></section>
         <h2 id=comments>Comments</h2><p>{reactions}</p>
         <div id=recommended-storage-settings><p>Keep it dry.</p></div>
         <div class=has-sidebar><p>Wide.</p></div>
         <div id=sidebar>Elsewhere</div><div class='share-buttons'>Tell a friend</div></main>"
    );
    let text = text(&html);
    for kept in ["Ask for fifty", login.trim(), "## Comments", "Keep it dry.", "Wide."] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("Elsewhere") && !text.contains("Tell a friend"), "{text}");
}

#[test]
fn names_are_read_word_by_word_and_advertisements_are_short() {
    let (pier, light) = (prose("pier"), prose("light"));
    let text = text(&format!(
        "<main><h1>Manual</h1><p>{pier}</p><section class=report--ads><h2>Light</h2><p>{light}</p></section>
         <div class=shareButtons>Tell a friend</div><div class=relatedArticles>Elsewhere</div>
         <div class=ads>Buy oil</div><div class=hasSidebar>Wide.</div></main>"
    ));
    assert!(text.contains(light.trim()) && text.contains("Wide."), "{text}");
    for left_out in ["Tell a friend", "Elsewhere", "Buy oil"] {
        assert!(!text.contains(left_out), "{left_out}: {text}");
    }
}

#[test]
fn names_of_controls_do_not_hide_content_without_links() {
    let pier = prose("pier");
    for kept in [
        "<div class=menu-item><h3>Pizza</h3><p>With tomato, 10 euro.</p></div>",
        "<p class=cta>Call 040 5555 today.</p>",
        "<div class=rating>4.5 of 5 stars from 120 reviews.</div>",
        "<table class=tags><tr><th>Tag<th>Meaning<tr><td>red<td>Danger to ships.</table>",
        "<div class='plan recommended'><h3>Pro</h3><p>29 euro a month.</p></div>",
        "<div class=cookie-policy><h2>Cookies</h2><p>We store one for an hour.</p></div>",
    ] {
        let html =
            format!("<main><h1>Pier</h1><p>{pier}</p>{kept}<p>{pier}</p><code>x</code></main>");
        let text = text(&html);
        assert_eq!(text.matches(pier.trim()).count(), 2, "{kept}: {text}");
        let between = text.split(pier.trim()).nth(1).unwrap();
        assert!(!between.trim().is_empty(), "{kept}: {text}");
    }
    let links = "<main><p>x</p><ul class=menu><li><a href=/a>Elsewhere</a></ul><div class=recommended><a href=/b>Elsewhere</a></div></main>";
    assert!(!text(links).contains("Elsewhere"));
}

#[test]
fn a_wrapper_with_the_text_is_content_even_if_it_is_called_share() {
    let (pier, others) = (prose("pier"), prose("visitors").repeat(3));
    let html = format!(
        "<body><article><div class='content share'><h1>Pier</h1><p>{pier}</p></div></article>
         <div class=comments><p>{others}</p></div>"
    );
    assert!(text(&html).contains(pier.trim()));
}

#[test]
fn comments_are_not_the_content_of_a_page_that_states_its_own() {
    let (pier, others) = (prose("pier"), prose("visitors").repeat(3));
    for class in ["comments", "reactions"] {
        let text = text(&format!(
            "<body><main><h1>Pier</h1><div itemprop=articleBody><p>{pier}</p></div>
             <div class={class}><p>{others}</p><p>{others}</p></div></main>"
        ));
        assert!(text.contains(pier.trim()), "{class}: {text}");
        assert!(class != "comments" || !text.contains("visitors"), "{class}: {text}");
    }
}

#[test]
fn the_questions_of_an_accordion_stay_with_their_answers() {
    let harbour = prose("harbour");
    let html = format!(
        "<main><h1>Questions</h1><p>{harbour}</p>
         <div class=accordion><h2 class=accordion-header><button class=accordion-button data-bs-toggle=collapse
         data-bs-target=#one>When is it open?</button></h2><div id=one class='accordion-collapse collapse'
         style='display: none'><div class=accordion-body>From nine to five.</div></div></div>
         <button aria-expanded=false aria-controls=two>Is there parking?</button>
         <div id=two role=region aria-labelledby=b hidden>Yes, behind the customs house.</div>
         <button>Send</button></main>"
    );
    let text = text(&html);
    assert!(text.contains("## When is it open?\n\nFrom nine to five."), "{text}");
    assert!(text.contains("Is there parking?\n\nYes, behind the customs house."), "{text}");
    assert!(!text.contains("Send"), "{text}");
}

#[test]
fn all_panels_of_tabs_are_read() {
    let harbour = prose("harbour");
    let text = text(&format!(
        "<main><h1>Install</h1><p>{harbour}</p><ul role=tablist><li role=tab>npm<li role=tab>yarn</ul>
         <div role=tabpanel><p>Use npm for it.</p></div><div role=tabpanel hidden><p>Use yarn for it.</p></div></main>"
    ));
    assert!(text.contains("Use npm for it.\n\nUse yarn for it."), "{text}");
}

#[test]
fn addresses_that_links_hide_and_pictures_that_say_something_are_told() {
    let html = "<main><p>Write <a href='mailto:pilot@h.example?subject=x'>to the pilots</a> or call
        <a href='tel:+4940123456'>the office</a>. Fill in <a href=/berth.pdf>the application</a>, or apply
        <a href='https://h.example/apply'>here</a>. See <a href=/tides>the tides</a>.
        <img src=x alt='Map of the outer harbour'><img src=y alt=logo.png></p>
        <table><tr><th>Berth<th>Water<tr><td>short<td><img alt=yes></table></main>";
    let expected = "Write to the pilots (pilot@h.example) or call the office (+4940123456). \
        Fill in the application (/berth.pdf), or apply here (https://h.example/apply). See the tides. \
        Map of the outer harbour\n\n| Berth | Water |\n| --- | --- |\n| short | yes |";
    assert_eq!(text(html), expected);
}

#[test]
fn raised_letters_readings_and_marks_of_hyphenation_alter_no_word() {
    let html = "<main><p>10<sup>6</sup> m<sup>2</sup> of H<sub>2</sub>O on the 3<sup>rd</sup><sup><a href=#n>1</a></sup>,
        <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>, har&shy;bour</p></main>";
    assert_eq!(text(html), "10^6 m2 of H2O on the 3rd1, 漢字, harbour");
}

#[test]
fn cells_over_several_rows_and_columns_leave_the_others_in_their_columns() {
    let html = "<table><tr><th>Day<th>From<th>To<tr><td rowspan=2>Monday<td>9<td>12<tr><td>14<td>18
        <tr><td>Sunday<td colspan=2>closed</table>";
    let expected = "| Day | From | To |\n| --- | --- | --- |\n| Monday | 9 | 12 |\n| Monday | 14 | 18 |\n| Sunday | closed |  |";
    assert_eq!(text(html), expected);
}

#[test]
fn answers_that_a_page_tells_machines_only_are_read() {
    let html = r#"<main><h1>Shop</h1><p>We sell ropes.</p></main>
        <script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
          {"@type": "FAQPage", "mainEntity": [
            {"@type": "Question", "name": "Do you ship abroad?",
             "acceptedAnswer": {"@type": "Answer", "text": "<p>Yes, to <b>all</b> of Europe.</p>"}},
            {"@type": "Question", "name": "What do you sell?",
             "acceptedAnswer": {"@type": "Answer", "text": "We sell ropes."}}]},
          {"@type": "Product", "name": "Rope",
           "offers": {"@type": "Offer", "price": "19.90", "priceCurrency": "EUR",
                      "availability": "https://schema.org/InStock"}}]}</script>
        <script type="application/ld+json">{broken</script>"#;
    let expected = "# Shop\n\nWe sell ropes.\n\n## Do you ship abroad?\n\nYes, to all of Europe.\n\n\
        Rope\n- Price: 19.90 EUR\n- Availability: InStock";
    assert_eq!(text(html), expected);
}

#[test]
fn a_page_of_code_is_kept_as_it_is() {
    let pages = prose("pages");
    let html = format!(
        "<main><h1>Pages</h1><p>{pages}</p><p>Short.</p><pre>a  b\n\tc</pre><dl><dt>-v<dt>--verbose<dd>says more</dl></main>"
    );
    let expected = format!(
        "# Pages\n\n{}\n\nShort.\n\n```\na  b\n\tc\n```\n\n-v, --verbose: says more",
        pages.trim()
    );
    assert_eq!(text(&html), expected);
}

#[test]
fn links_are_resolved_and_listed_once() {
    let page = page(
        "<base href='/manual/'><a href=one#top>1</a><a href='one'>again</a><area href='../two?x=1'>
         <a rel='external nofollow' href=no>no</a><a href='mailto:a@b.example'>mail</a>
         <a href='//other.example/x'>far</a><a>none</a><a href='http://['>bad</a>",
    );
    let expected = [
        "https://guide.example/manual/one",
        "https://guide.example/two?x=1",
        "https://other.example/x",
    ];
    assert_eq!(page.links, expected);
}

#[test]
fn what_a_page_says_to_crawlers_is_heard() {
    let silent = page("<p>x");
    assert!(!silent.is_noindex && !silent.is_nofollow && silent.canonical.is_none());
    let none = page("<meta name=Robots content='NONE'><link rel=Canonical href='/docs/'>");
    assert!(none.is_noindex && none.is_nofollow);
    assert_eq!(none.canonical.as_deref(), Some("https://guide.example/docs/"));
    let ours = page("<meta name=cicerone content='noarchive, nofollow'>");
    assert!(!ours.is_noindex && ours.is_nofollow);
    let others = page("<meta name=googlebot content=noindex>");
    assert!(!others.is_noindex);
}

#[test]
fn a_page_that_browsers_leave_at_once_names_the_next() {
    let refresh = |content: &str, body: &str| {
        let html = format!("<meta http-equiv=Refresh content=\"{content}\">{body}");
        page(&html).refresh
    };
    for content in ["0; url=/en/", "0;URL='/en/#top'", "0 , Url = /en/", "0.5;/en/"] {
        let expected = Some("https://guide.example/en/");
        assert_eq!(refresh(content, "<p>Moved.").as_deref(), expected, "{content}");
    }
    assert!(refresh("5; url=/en/", "").is_some());
    for (content, body) in [
        ("5; url=/en/", "<p>Welcome to the harbour."),
        ("300", ""),
        ("0", ""),
        ("0; url=", ""),
        ("0; url=javascript:x()", ""),
        ("soon; url=/en/", ""),
    ] {
        assert_eq!(refresh(content, body), None, "{content}");
    }
}

#[test]
fn the_title_is_the_pages_own() {
    let title = |html: &str| page(html).reading.title;
    let both =
        "<title> The\n harbour </title><meta property=og:title content=Shared><h1>First</h1>";
    assert_eq!(title(both).as_deref(), Some("The harbour"));
    let shared = "<title> </title><meta property=og:title content=Shared><h1>First</h1>";
    assert_eq!(title(shared).as_deref(), Some("Shared"));
    assert_eq!(
        title("<svg><title>icon</title></svg><h1>First <i>one</i></h1>").as_deref(),
        Some("First one")
    );
    assert_eq!(title("<p>x"), None);
}

#[test]
fn the_shell_of_an_application_is_told() {
    let shell = "<div id=root></div><script src=app.js></script>";
    assert!(page(shell).needs_javascript);
    let notice =
        "<noscript>You need to enable JavaScript to run this app.</noscript><script></script>";
    assert!(page(notice).needs_javascript);
    let filled = format!("<div id=root><p>{}</p></div><script src=app.js></script>", prose("app"));
    assert!(!page(&filled).needs_javascript);
    assert!(!page("<p>Short, but all there is.</p><script></script>").needs_javascript);
}

#[test]
fn text_in_any_script_survives_the_library() {
    for sentence in [
        "これは港の案内です。船は毎日出ます。",
        "Это описание гавани, и корабли ходят каждый день. ",
        "café ",
    ] {
        let paragraph = sentence.repeat(60);
        let html =
            format!("<body><div class=x><div><p>{paragraph}</p><p>{paragraph}</p></div></div>");
        assert_eq!(text(&html), format!("{0}\n\n{0}", paragraph.trim()));
    }
}

#[test]
fn a_million_nested_elements_are_refused() {
    let html = "<div>".repeat(1_000_000);
    let url = Url::parse("https://guide.example/").unwrap();
    let reason = read(html.as_bytes(), None, &url).unwrap_err().to_string();
    assert_eq!(reason, "the page cannot be read: its elements are nested more than 512 deep");
}

#[test]
fn pages_without_anything_are_read() {
    for html in ["", "<", "<html>", "\0", "<frameset>", "<!-- -->", "&#0;&#x110000;"] {
        let page = page(html);
        assert!(page.links.is_empty() && page.reading.text.len() < 20, "{html}: {page:?}");
    }
}

#[test]
fn blanks_and_breaks_in_elements_of_their_own_separate_words() {
    let html = "<main><h2>Open<span> </span>daily<b><br></b>except Sunday</h2>
        <p><b>Monday:</b><span>&nbsp;</span>9-12<b><br></b><b>Tuesday:</b><i><span> </span></i>10-14<span></span>:30</p>
        <p>no<span hidden> </span>where</p></main>";
    assert_eq!(
        text(html),
        "## Open daily except Sunday\n\nMonday: 9-12\nTuesday: 10-14:30\n\nnowhere"
    );
}
