//! Footnotes and endnotes.

use std::collections::HashMap;

use super::element::Element;

/// The notes of a document.
#[derive(Debug, Default)]
pub(super) struct Notes<'n> {
    footnotes: ById<'n>,
    endnotes: ById<'n>,
}

/// Notes by their ids, because each reference looks one up.
type ById<'n> = HashMap<String, &'n Element<'n>>;

impl<'n> Notes<'n> {
    /// The notes of these parts.
    pub(super) fn of(footnotes: &'n Element<'n>, endnotes: &'n Element<'n>) -> Self {
        Self { footnotes: by_id(footnotes), endnotes: by_id(endnotes) }
    }

    /// The note that an element refers to. `None` if it is not a reference to a note.
    pub(super) fn referred(&self, reference: &Element<'_>) -> Option<&'n Element<'n>> {
        let notes = match reference.name() {
            "footnoteReference" => &self.footnotes,
            "endnoteReference" => &self.endnotes,
            _ => return None,
        };
        notes.get(&*reference.attribute("id")?).copied()
    }
}

fn by_id<'n>(part: &'n Element<'n>) -> ById<'n> {
    let mut notes = ById::new();
    for note in part.elements().flat_map(Element::elements) {
        if let Some(id) = note.attribute("id") {
            notes.entry(id.into_owned()).or_insert(note);
        }
    }
    notes
}
