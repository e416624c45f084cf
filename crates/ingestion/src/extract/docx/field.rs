//! Fields: their results are text, their codes are not.

/// Fields that show page numbers, or repeat text from elsewhere.
const REPETITIONS: [&str; 4] = ["PAGE", "NUMPAGES", "SECTIONPAGES", "STYLEREF"];

/// A field that is open.
#[derive(Debug, Default)]
struct Field {
    /// Its code has ended.
    is_result: bool,
    /// Whether it shows a page number or repeats a heading, which has no meaning outside the page.
    is_repetition: bool,
}

impl Field {
    fn hides(&self) -> bool {
        !self.is_result || self.is_repetition
    }
}

/// The fields that are open at a place, outermost first.
#[derive(Debug, Default)]
pub(super) struct Fields {
    open: Vec<Field>,
    /// How many of them hide the text in them. Nothing closes a field at the end of its paragraph if its code has ended, so
    /// very many may be open.
    hiding: usize,
    /// Whether such a result was omitted since the last call.
    left_out_a_repetition: bool,
}

impl Fields {
    /// A `fldChar`, by its type.
    pub(super) fn mark(&mut self, kind: &str) {
        match kind {
            "begin" => self.begin(),
            "separate" => self.change(|field| field.is_result = true),
            "end" => self.end(),
            _ => {}
        }
    }

    /// A piece of the innermost field's code.
    pub(super) fn code(&mut self, code: &str) {
        if self.open.last().is_some_and(|field| !field.is_result) && is_repetition(code) {
            self.change(|field| field.is_repetition = true);
            self.left_out_a_repetition = true;
        }
    }

    /// Starts a field whose code is in an attribute.
    pub(super) fn simple(&mut self, code: &str) {
        self.begin();
        self.code(code);
        self.mark("separate");
    }

    /// Whether text at this place is visible.
    pub(super) fn show(&self) -> bool {
        self.hiding == 0
    }

    fn begin(&mut self) {
        let field = Field::default();
        self.hiding += usize::from(field.hides());
        self.open.push(field);
    }

    /// Changes the innermost field.
    fn change(&mut self, change: impl FnOnce(&mut Field)) {
        let Some(field) = self.open.last_mut() else { return };
        self.hiding -= usize::from(field.hides());
        change(field);
        self.hiding += usize::from(field.hides());
    }

    fn end(&mut self) {
        let closed = self.open.pop();
        self.hiding -= usize::from(closed.is_some_and(|field| field.hides()));
    }

    /// Ends a paragraph, so that an unterminated code does not swallow the rest of the document. Returns whether a
    /// repetition was omitted from the paragraph.
    pub(super) fn end_paragraph(&mut self) -> bool {
        while self.open.last().is_some_and(|field| !field.is_result) {
            self.end();
        }
        std::mem::take(&mut self.left_out_a_repetition)
    }
}

fn is_repetition(code: &str) -> bool {
    let name = code.split_whitespace().next().unwrap_or_default();
    REPETITIONS.iter().any(|known| name.eq_ignore_ascii_case(known))
}
