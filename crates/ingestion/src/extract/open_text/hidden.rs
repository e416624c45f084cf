//! Text that an OpenDocument text does not show: by a style, in a section, or in a field (OpenDocument 1.3, part 3, 20.355,
//! 19.801.13, 7.7.5 and 7.7.6).

use std::collections::{HashMap, HashSet};

use crate::extract::docx::element::Element;

/// A style inherits from at most this many others.
const ANCESTORS: usize = 16;

/// The styles that hide text, by family and name.
#[derive(Debug, Default)]
pub(super) struct Hidden(HashSet<(Family, String)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Family {
    Paragraph,
    Text,
}

/// What a style says about its text, and the style that it inherits from.
struct Style {
    hides: Option<bool>,
    parent: Option<String>,
}

impl Hidden {
    /// The styles of these parts: those of the content, and the named ones.
    pub(super) fn of<'e>(parts: impl IntoIterator<Item = &'e Element<'e>>) -> Self {
        let mut elements = Vec::new();
        parts.into_iter().for_each(|part| part.find_all("style", &mut elements));
        let styles: HashMap<(Family, String), Style> =
            elements.into_iter().filter_map(read).collect();
        let hides = |(family, name): &(Family, String)| {
            let mut next = Some(name.clone());
            for _ in 0..ANCESTORS {
                let Some(style) = next.and_then(|name| styles.get(&(*family, name))) else { break };
                if let Some(hides) = style.hides {
                    return hides;
                }
                next = style.parent.clone();
            }
            false
        };
        Self(styles.keys().filter(|style| hides(style)).cloned().collect())
    }

    /// Whether an element, and what is in it, is not shown.
    pub(super) fn hides(&self, element: &Element<'_>) -> bool {
        let family = match element.name() {
            "p" | "h" if !self.0.is_empty() => Family::Paragraph,
            "span" if !self.0.is_empty() => Family::Text,
            "section" => {
                return match element.attribute("display").as_deref() {
                    Some("none") => true,
                    Some("condition") => is_hidden(element),
                    _ => false,
                };
            }
            "hidden-text" => return is_hidden(element),
            _ => return false,
        };
        let style = element.attribute("style-name");
        style.is_some_and(|style| self.0.contains(&(family, style.into_owned())))
    }
}

/// Whether a paragraph has a field that hides it.
pub(super) fn hides_itself(paragraph: &Element<'_>) -> bool {
    paragraph.child("hidden-paragraph").is_some_and(is_hidden)
}

/// Whether the condition of a section or field held when the file was written.
fn is_hidden(element: &Element<'_>) -> bool {
    element.attribute("is-hidden").is_some_and(|is_hidden| is_hidden == "true")
}

fn read(element: &Element<'_>) -> Option<((Family, String), Style)> {
    let family = match element.attribute("family")?.as_ref() {
        "paragraph" => Family::Paragraph,
        "text" => Family::Text,
        _ => return None,
    };
    let display = element.child("text-properties").and_then(|text| text.attribute("display"));
    let style = Style {
        hides: display.map(|display| display == "none"),
        parent: element.attribute("parent-style-name").map(|name| name.into_owned()),
    };
    Some(((family, element.attribute("name")?.into_owned()), style))
}
