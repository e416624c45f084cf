//! The search index: every section of every page, compared with the words of a query by the page's own script.

use pulldown_cmark::{Event, Tag, TagEnd};
use serde::Serialize;

use super::Entry;
use super::section::events;

/// A heading with the text below it.
#[derive(Serialize)]
struct Section {
    url: String,
    page: &'static str,
    heading: String,
    text: String,
}

/// The index as JSON.
pub(super) fn index(contents: &[Entry]) -> String {
    let mut sections = Vec::new();
    for entry in contents {
        if let Entry::Page { title, source } = entry {
            add(title, &source.address(), source.markdown, &mut sections);
        }
    }
    // Texts and addresses can always be written.
    serde_json::to_string(&sections).unwrap_or_default()
}

fn add(page: &'static str, address: &str, markdown: &'static str, sections: &mut Vec<Section>) {
    let section = |url: String| Section { url, page, heading: String::new(), text: String::new() };
    let mut current = section(address.to_owned());
    let mut is_heading = false;
    for event in events(markdown) {
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                is_heading = true;
                let url = match id {
                    // The first heading is the page's title.
                    Some(id) if !current.text.is_empty() => format!("{address}#{id}"),
                    _ => address.to_owned(),
                };
                let before = std::mem::replace(&mut current, section(url));
                if !before.text.is_empty() {
                    sections.push(before);
                }
            }
            Event::End(TagEnd::Heading(_)) => is_heading = false,
            Event::Text(text) | Event::Code(text) if is_heading => current.heading.push_str(&text),
            Event::Text(text) | Event::Code(text) => current.text.push_str(&text),
            Event::End(_) | Event::SoftBreak | Event::HardBreak
                if !current.text.is_empty() && !current.text.ends_with(' ') =>
            {
                current.text.push(' ');
            }
            _ => {}
        }
    }
    if !current.text.is_empty() {
        sections.push(current);
    }
}
