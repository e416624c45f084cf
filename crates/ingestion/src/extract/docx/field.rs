//! Fields: their results are text, their codes are not.

/// Fields that show page numbers, or text of elsewhere again.
const REPETITIONS: [&str; 4] = ["PAGE", "NUMPAGES", "SECTIONPAGES", "STYLEREF"];

/// A field that is open.
#[derive(Debug, Default)]
struct Field {
    /// Its code has ended.
    is_result: bool,
    /// It shows a page number or a heading again, which says nothing outside the page.
    is_repetition: bool,
}

/// The fields that are open at a place, the outermost first.
#[derive(Debug, Default)]
pub(super) struct Fields {
    open: Vec<Field>,
    /// Whether such a result was left out since this was last asked.
    left_out_a_repetition: bool,
}

impl Fields {
    /// A `fldChar`, by its type.
    pub(super) fn mark(&mut self, kind: &str) {
        match kind {
            "begin" => self.open.push(Field::default()),
            "separate" => {
                if let Some(field) = self.open.last_mut() {
                    field.is_result = true;
                }
            }
            "end" => drop(self.open.pop()),
            _ => {}
        }
    }

    /// A piece of the innermost field's code.
    pub(super) fn code(&mut self, code: &str) {
        let Some(field) = self.open.last_mut() else { return };
        if !field.is_result && is_repetition(code) {
            field.is_repetition = true;
            self.left_out_a_repetition = true;
        }
    }

    /// A field begins whose code is in an attribute.
    pub(super) fn simple(&mut self, code: &str) {
        self.open.push(Field::default());
        self.code(code);
        self.mark("separate");
    }

    /// Whether text at this place is seen.
    pub(super) fn show(&self) -> bool {
        self.open.iter().all(|field| field.is_result && !field.is_repetition)
    }

    /// A paragraph ends: a code that never ended does not swallow the rest of the document. Returns
    /// whether a repetition was left out of the paragraph.
    pub(super) fn end_paragraph(&mut self) -> bool {
        while self.open.last().is_some_and(|field| !field.is_result) {
            self.open.pop();
        }
        std::mem::take(&mut self.left_out_a_repetition)
    }
}

fn is_repetition(code: &str) -> bool {
    let name = code.split_whitespace().next().unwrap_or_default();
    REPETITIONS.iter().any(|known| name.eq_ignore_ascii_case(known))
}
