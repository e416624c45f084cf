//! Styles of paragraphs, as far as they determine the kind of a paragraph.

use std::collections::HashMap;

use super::element::Element;

/// The maximum number of styles in a chain of base styles.
const ANCESTORS: usize = 16;

/// The styles of a document, by id.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

#[derive(Debug)]
struct Style {
    name: String,
    based_on: Option<String>,
    properties: Properties,
}

/// The properties of a paragraph or a style that concern its place in the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Properties {
    /// Its level in the outline: 0 is the outermost, 9 is body text.
    pub(super) outline: Option<i64>,
    /// The list that it is an item of; `0` takes it out of the list of its style.
    pub(super) list: Option<String>,
    /// Its level in that list, from 0.
    pub(super) list_level: Option<i64>,
}

impl Properties {
    /// Those in a `pPr`.
    pub(super) fn of(properties: Option<&Element<'_>>) -> Self {
        let Some(properties) = properties else { return Self::default() };
        let list = properties.child("numPr");
        Self {
            outline: properties.number("outlineLvl"),
            list: list.and_then(|list| list.value("numId")).map(|id| id.into_owned()),
            list_level: list.and_then(|list| list.number("ilvl")),
        }
    }

    /// These, completed from `base`.
    pub(super) fn or(self, base: Self) -> Self {
        Self {
            outline: self.outline.or(base.outline),
            list: self.list.or(base.list),
            list_level: self.list_level.or(base.list_level),
        }
    }
}

impl Styles {
    /// Those of the styles part.
    pub(super) fn of(part: &Element<'_>) -> Self {
        let styles = part.elements().flat_map(Element::elements);
        let styles = styles.filter(|style| style.name() == "style");
        Self(
            styles
                .filter_map(|style| {
                    let id = style.attribute("styleId")?.into_owned();
                    let name = style.value("name").unwrap_or_default().to_lowercase();
                    let based_on = style.value("basedOn").map(|id| id.into_owned());
                    let properties = Properties::of(style.child("pPr"));
                    Some((id, Style { name, based_on, properties }))
                })
                .collect(),
        )
    }

    /// The properties of a style and those it is based on; the names of the built-in headings give their level.
    pub(super) fn properties(&self, id: &str) -> Properties {
        let mut found = Properties::default();
        for style in self.chain(id) {
            let outline = style.properties.outline.or_else(|| heading_level(&style.name));
            found = found.or(Properties { outline, ..style.properties.clone() });
        }
        if !self.0.contains_key(id) {
            found.outline = heading_level(id);
        }
        found
    }

    /// Whether it is the style of the document's title.
    pub(super) fn is_title(&self, id: &str) -> bool {
        self.0.get(id).map_or(id, |style| &style.name).eq_ignore_ascii_case("title")
    }

    fn chain(&self, id: &str) -> impl Iterator<Item = &Style> {
        let parent = |style: &&Style| self.0.get(style.based_on.as_ref()?);
        std::iter::successors(self.0.get(id), parent).take(ANCESTORS)
    }
}

/// The level of `heading 1`, also as an id (`Heading1`).
fn heading_level(name: &str) -> Option<i64> {
    let number: i64 = name.to_lowercase().strip_prefix("heading")?.trim().parse().ok()?;
    (1..=9).contains(&number).then_some(number - 1)
}
