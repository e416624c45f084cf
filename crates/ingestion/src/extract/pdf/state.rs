//! The state in which text is shown (ISO 32000-2, 8.4 and 9.3).

use std::rc::Rc;

use hayro_font::kurbo::{Affine, Vec2};

use super::fonts::Font;

/// Text that is filled and stroked, with which programs imitate bold type.
const FILL_AND_STROKE: f64 = 2.0;

/// A graphics state, as far as it concerns text.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub(super) page: Affine,
    pub(super) font: Option<Rc<Font<'a>>>,
    pub(super) size: f64,
    pub(super) char_space: f64,
    pub(super) word_space: f64,
    /// The horizontal scale: 1 if text is not stretched.
    pub(super) stretch: f64,
    pub(super) leading: f64,
    pub(super) rise: f64,
    pub(super) mode: f64,
}

/// Where the next glyph and the next line begin.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    text: Affine,
    line: Affine,
}

impl State<'_> {
    pub(super) fn new(page: Affine) -> Self {
        Self {
            page,
            font: None,
            size: 0.0,
            char_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            mode: 0.0,
        }
    }

    /// The transformation from units of the font size, at the cursor, to the page.
    pub(super) fn glyph_space(&self, cursor: Cursor) -> Affine {
        let type_size =
            Affine::new([self.size * self.stretch, 0.0, 0.0, self.size, 0.0, self.rise]);
        self.page * cursor.text * type_size
    }

    /// The distance to the next glyph, in text space.
    pub(super) fn step(&self, advance: Vec2, is_vertical: bool, is_space: bool) -> Vec2 {
        let space = self.spacing(is_space);
        if is_vertical {
            Vec2::new(0.0, advance.y * self.size + space)
        } else {
            Vec2::new((advance.x * self.size + space) * self.stretch, 0.0)
        }
    }

    /// The space that follows a glyph, in text space that is not stretched.
    pub(super) fn spacing(&self, is_space: bool) -> f64 {
        self.char_space + if is_space { self.word_space } else { 0.0 }
    }

    /// The displacement by a number in an array of strings.
    pub(super) fn adjustment(&self, thousandths: f64, is_vertical: bool) -> Vec2 {
        let by = -thousandths / 1_000.0 * self.size;
        if is_vertical { Vec2::new(0.0, by) } else { Vec2::new(by * self.stretch, 0.0) }
    }

    pub(super) fn is_stroked(&self) -> bool {
        self.mode == FILL_AND_STROKE
    }
}

impl Cursor {
    pub(super) fn set(&mut self, matrix: Affine) {
        *self = Self { text: matrix, line: matrix };
    }

    pub(super) fn next_line(&mut self, by: Vec2) {
        self.set(self.line * Affine::translate(by));
    }

    pub(super) fn step(&mut self, by: Vec2) {
        self.text *= Affine::translate(by);
    }
}
