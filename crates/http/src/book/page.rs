//! A page as HTML.

use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd, html};

use super::links::target;
use super::section::events;
use cicerone_domain::widget::WidgetToken;

use super::{ADDRESS, Entry, Source};

/// The page at this position of the table of contents, `""` if there is none.
pub(super) fn html(contents: &[Entry], position: usize, widget: Option<WidgetToken>) -> String {
    let Some(Entry::Page { title, source }) = contents.get(position) else {
        return String::new();
    };
    let mut article = String::new();
    let mut outline = String::new();
    let events = events(source.markdown);
    write_outline(&events, &mut outline);
    html::push_html(&mut article, rewritten(events, source).into_iter());
    let widget = widget.map_or_else(String::new, |token| {
        format!("<script src=\"/widget.js\" data-token=\"{token}\" async></script>\n")
    });
    let (title, pages, turn) =
        (escaped(title), pages(contents, position), turn(contents, position));
    format!(
        r##"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Cicerone</title>
<link rel="stylesheet" href="/docs/book.css">
<link rel="icon" type="image/svg+xml" href="/docs/icon.svg">
<script src="/docs/book.js" defer></script>
{widget}</head>
<body>
<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="{ADDRESS}">Cicerone</a>
<form class="search" role="search" hidden>
<label class="unseen" for="query">Search the documentation</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" spellcheck="false">
<div id="found" hidden><p role="status"></p><ol></ol></div>
</form>
<a class="reference" href="/docs/api">API reference</a>
<a class="to-pages" href="#pages">Pages</a>
</header>
<div class="columns">
<main id="main" tabindex="-1">
<article>
{article}</article>
{turn}</main>
{outline}<nav id="pages" aria-label="Pages">
{pages}</nav>
</div>
</body>
</html>
"##
    )
}

/// The events as this server shows them: links lead to its pages, wide elements scroll separately, and examples name
/// their language.
fn rewritten(events: Vec<Event<'static>>, source: &Source) -> Vec<Event<'static>> {
    let mut out = Vec::with_capacity(events.len());
    // Whether the links that are open lead somewhere.
    let mut links = Vec::new();
    let mut is_group_open = false;
    let mut is_code = false;
    let mut is_head = false;
    for event in events {
        let language = match &event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => Some(info.clone()),
            _ => None,
        };
        let is_example = language.as_ref().is_some_and(|info| info.contains(" name="));
        // Examples of one task in several languages follow each other.
        if is_group_open && !is_code && !is_example {
            out.push(markup("</div>\n"));
            is_group_open = false;
        }
        match event {
            Event::Start(Tag::CodeBlock(_)) => {
                is_code = true;
                if is_example && !is_group_open {
                    out.push(markup("<div class=\"examples\">\n"));
                    is_group_open = true;
                }
                out.push(markup(code_head(language.as_deref().unwrap_or_default())));
            }
            Event::End(TagEnd::CodeBlock) => {
                is_code = false;
                out.push(markup("</code></pre></div>\n"));
            }
            Event::Start(Tag::Table(alignments)) => {
                let open =
                    "<div class=\"table\" role=\"group\" aria-label=\"Table\" tabindex=\"0\">";
                out.push(markup(open));
                out.push(Event::Start(Tag::Table(alignments)));
            }
            Event::End(TagEnd::Table) => {
                out.push(Event::End(TagEnd::Table));
                out.push(markup("</div>\n"));
            }
            Event::Start(Tag::TableHead) => {
                is_head = true;
                out.push(Event::Start(Tag::TableHead));
            }
            Event::End(TagEnd::TableHead) => {
                is_head = false;
                out.push(Event::End(TagEnd::TableHead));
            }
            // A column without a name gets one for screen readers.
            Event::End(TagEnd::TableCell)
                if is_head && matches!(out.last(), Some(Event::Start(Tag::TableCell))) =>
            {
                out.push(markup("<span class=\"unseen\">Details</span>"));
                out.push(Event::End(TagEnd::TableCell));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let target = target(source, &dest_url);
                links.push(target.is_some());
                if let Some(target) = target {
                    let dest_url = target.into();
                    out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
                }
            }
            Event::End(TagEnd::Link) if links.pop() == Some(false) => {}
            // The book has no pictures; an image becomes its text.
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {}
            event => out.push(event),
        }
    }
    if is_group_open {
        out.push(markup("</div>\n"));
    }
    out
}

/// The beginning of a block of code. The info line is `python name=ask`, or a language only.
fn code_head(info: &str) -> String {
    let language = info.split_whitespace().next().unwrap_or_default();
    let name = match language {
        "sh" => "Shell",
        "python" => "Python",
        "ts" => "TypeScript",
        "json" => "JSON",
        "toml" => "TOML",
        "yaml" => "YAML",
        _ => "",
    };
    let label = if name.is_empty() { "Text" } else { name };
    format!(
        "<div class=\"code\" data-language=\"{name}\"><pre tabindex=\"0\" role=\"group\" aria-label=\"{label}\"><code>"
    )
}

/// The headings of the second level, if there are several.
fn write_outline(events: &[Event<'_>], out: &mut String) {
    let mut items = String::new();
    let mut count = 0;
    let mut is_heading = false;
    for event in events {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, id: Some(id), .. }) => {
                is_heading = true;
                count += 1;
                _ = write!(items, "<li><a href=\"#{}\">", escaped(id));
            }
            Event::End(TagEnd::Heading(HeadingLevel::H2)) => {
                is_heading = false;
                items.push_str("</a></li>\n");
            }
            Event::Text(text) | Event::Code(text) if is_heading => items.push_str(&escaped(text)),
            _ => {}
        }
    }
    if count > 1 {
        _ = write!(
            out,
            "<nav class=\"outline\" aria-labelledby=\"outline\">\n<p id=\"outline\">On this page</p>\n<ul>\n{items}</ul>\n</nav>\n"
        );
    }
}

/// The list of all pages.
fn pages(contents: &[Entry], current: usize) -> String {
    let mut out = String::new();
    let mut is_open = false;
    for (position, entry) in contents.iter().enumerate() {
        match entry {
            Entry::Part(title) => {
                out.push_str(if is_open { "</ul>\n" } else { "" });
                _ = write!(out, "<p>{}</p>\n<ul>\n", escaped(title));
                is_open = true;
            }
            Entry::Page { title, source } => {
                if !is_open {
                    out.push_str("<ul>\n");
                    is_open = true;
                }
                let mark = if position == current { " aria-current=\"page\"" } else { "" };
                _ = writeln!(
                    out,
                    "<li><a href=\"{}\"{mark}>{}</a></li>",
                    source.address(),
                    escaped(title)
                );
            }
        }
    }
    out.push_str(if is_open { "</ul>\n" } else { "" });
    out
}

/// Links to the page before and the page after.
fn turn(contents: &[Entry], position: usize) -> String {
    let is_page = |entry: &&Entry| matches!(entry, Entry::Page { .. });
    let (before, rest) = contents.split_at(position.min(contents.len()));
    let previous = before.iter().rev().find(is_page);
    let next = rest.iter().skip(1).find(is_page);
    let mut out = String::from("<nav class=\"turn\" aria-label=\"Neighbouring pages\">\n");
    for (entry, rel, word) in [(previous, "prev", "Previous"), (next, "next", "Next")] {
        if let Some(Entry::Page { title, source }) = entry {
            let (address, title) = (source.address(), escaped(title));
            _ = writeln!(
                out,
                "<a rel=\"{rel}\" href=\"{address}\"><span>{word}</span> {title}</a>"
            );
        }
    }
    out + "</nav>\n"
}

fn markup(text: impl Into<CowStr<'static>>) -> Event<'static> {
    Event::Html(text.into())
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}
