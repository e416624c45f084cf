//! The headers and footers that no page shows.
//!
//! A section may have a separate header for its first page. If it has no further page, its usual header, such as
//! "Contents (continued)", is never shown. Word marks where pages ended when it last laid the document out.

use std::collections::{HashMap, HashSet};

use super::element::Element;

/// Header or footer, and on which pages.
type HeaderOrFooter = (bool, Pages);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Pages {
    First,
    Even,
    Others,
}

/// The relationships to headers and footers that are referred to, but shown on no page.
pub(super) fn unseen(document: &Element<'_>) -> HashSet<String> {
    let mut walk = Walk::default();
    walk.element(document);
    let mut current: HashMap<HeaderOrFooter, String> = HashMap::new();
    let (mut seen, mut unseen) = (HashSet::new(), HashSet::new());
    for section in walk.sections {
        // A section inherits what it does not name from the previous section.
        current.extend(section.named);
        for ((_, pages), id) in &current {
            let is_shown = match pages {
                Pages::First => section.has_first,
                Pages::Even | Pages::Others => {
                    !section.has_first || section.has_further || !walk.knows_pages
                }
            };
            if is_shown {
                seen.insert(id.clone())
            } else {
                unseen.insert(id.clone())
            };
        }
    }
    unseen.retain(|id| !seen.contains(id));
    unseen
}

/// The page settings of a section.
#[derive(Default)]
struct Section {
    named: Vec<(HeaderOrFooter, String)>,
    /// Its first page has a header and a footer of its own.
    has_first: bool,
    /// It has more than one page, or begins on one of the section before.
    has_further: bool,
}

#[derive(Default)]
struct Walk {
    sections: Vec<Section>,
    /// The current section has text, and a page ended after it.
    has_text: bool,
    has_further: bool,
    /// The program that wrote the file laid it out in pages.
    knows_pages: bool,
}

impl Walk {
    fn element(&mut self, element: &Element<'_>) {
        match element.name() {
            "t" => self.has_text |= element.text().any(|text| !text.trim().is_empty()),
            "lastRenderedPageBreak" => {
                self.knows_pages = true;
                self.has_further |= self.has_text;
            }
            "br" if element.attribute("type").as_deref() == Some("page") => {
                self.has_further |= self.has_text;
            }
            "sectPr" => self.end_section(element),
            _ => {
                // The section properties come first in a paragraph, and end the section after it.
                let (before, after): (Vec<_>, Vec<_>) =
                    element.elements().partition(|part| part.name() == "pPr");
                after.into_iter().chain(before).for_each(|part| self.element(part));
            }
        }
    }

    fn end_section(&mut self, properties: &Element<'_>) {
        let named = properties.elements().filter_map(|part| {
            let is_header = match part.name() {
                "headerReference" => true,
                "footerReference" => false,
                _ => return None,
            };
            let pages = match part.attribute("type").as_deref() {
                Some("first") => Pages::First,
                Some("even") => Pages::Even,
                Some(_) | None => Pages::Others,
            };
            Some(((is_header, pages), part.attribute("id")?.into_owned()))
        });
        let continues = properties.value("type").as_deref() == Some("continuous");
        self.sections.push(Section {
            named: named.collect(),
            has_first: properties.is_on("titlePg"),
            has_further: self.has_further || continues,
        });
        (self.has_text, self.has_further) = (false, false);
    }
}
