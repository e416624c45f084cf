//! Footnotes and endnotes.

use super::element::Element;

/// The notes of a document.
#[derive(Debug, Default)]
pub(super) struct Notes<'a> {
    pub(super) footnotes: Element<'a>,
    pub(super) endnotes: Element<'a>,
}

impl<'a> Notes<'a> {
    /// The note that an element refers to. `None` if it is not a reference to a note.
    pub(super) fn referred(&self, reference: &Element<'_>) -> Option<&Element<'a>> {
        let part = match reference.name() {
            "footnoteReference" => &self.footnotes,
            "endnoteReference" => &self.endnotes,
            _ => return None,
        };
        let id = reference.attribute("id")?;
        let mut notes = part.elements().flat_map(Element::elements);
        notes.find(|note| note.attribute("id").as_deref() == Some(&*id))
    }
}
