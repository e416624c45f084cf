//! A page of Markdown, read into events with the anchors of its headings.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The events of a page. Headings have the anchors that forges give them.
pub(super) fn events(markdown: &'static str) -> Vec<Event<'static>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<_> = Parser::new_ext(markdown, options).filter_map(allowed).collect();
    let mut used = HashMap::new();
    let mut open = None;
    let mut anchors = Vec::new();
    for (position, event) in events.iter().enumerate() {
        match event {
            Event::Start(Tag::Heading { .. }) => open = Some((position, String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, heading)) = &mut open {
                    heading.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((position, heading)) = open.take() {
                    anchors.push((position, anchor(&heading, &mut used)));
                }
            }
            _ => {}
        }
    }
    for (position, anchor) in anchors {
        if let Some(Event::Start(Tag::Heading { id, .. })) = events.get_mut(position) {
            *id = Some(anchor.into());
        }
    }
    events
}

/// The event without markup: comments are omitted, `<br>` is a line break, and the rest is text.
fn allowed(event: Event<'static>) -> Option<Event<'static>> {
    match event {
        Event::Html(html) if html.starts_with("<!--") || html.trim_end().ends_with("-->") => None,
        Event::Html(html) => Some(Event::Text(html)),
        Event::InlineHtml(html) if &*html == "<br>" => Some(Event::HardBreak),
        Event::InlineHtml(html) => Some(Event::Text(html)),
        Event::Start(Tag::HtmlBlock) | Event::End(TagEnd::HtmlBlock) => None,
        event => Some(event),
    }
}

/// `What it does` as `what-it-does`. The second of two equal ones gets `-1`.
fn anchor(heading: &str, used: &mut HashMap<String, usize>) -> String {
    let letters = heading.trim().chars().flat_map(char::to_lowercase);
    let anchor: String = letters
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect();
    let count = used.entry(anchor.clone()).or_default();
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_forges() {
        let mut used = HashMap::new();
        assert_eq!(anchor("What it `needs`, today?", &mut used), "what-it-needs-today");
        assert_eq!(anchor("By meaning", &mut used), "by-meaning");
        assert_eq!(anchor("By meaning", &mut used), "by-meaning-1");
    }
}
