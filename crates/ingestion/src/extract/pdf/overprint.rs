//! Glyphs that are printed again to make them bold, or to cast a shadow.

use std::collections::HashMap;

use super::glyph::Glyph;

/// A glyph that is shown again this close to itself, relative to its font size, is the same one.
const SAME_PLACE: f64 = 0.1;
/// ... and relative to its width, because narrow letters are close to each other.
const SAME_PLACE_BY_WIDTH: f64 = 0.4;
/// Type whose size differs by more than this fraction is different text.
const SAME_SIZE: f64 = 0.1;

/// The glyphs of a page by their places.
#[derive(Debug, Default)]
pub(super) struct Overprint {
    seen: HashMap<(char, i64, i64), Seen>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    x: f64,
    y: f64,
    size: f64,
    string: u32,
}

impl Overprint {
    /// Whether the glyph already exists, from another string. Within a string, equal glyphs are repeated letters or
    /// digits, even if they are close to each other.
    pub(super) fn repeats(&mut self, glyph: &Glyph) -> bool {
        if glyph.text.is_blank() {
            return false;
        }
        // Cells are twice as wide as the reach, so a close glyph is in this cell or in the one on the nearer side.
        let tolerance = SAME_PLACE * glyph.size;
        let width = (glyph.end - glyph.start).hypot();
        let reach =
            if width > 0.0 { tolerance.min(SAME_PLACE_BY_WIDTH * width) } else { tolerance };
        let (x, y) = (glyph.start.x, glyph.start.y);
        let (column, beside) = cell(x, 2.0 * tolerance);
        let (row, above) = cell(y, 2.0 * tolerance);
        let char = glyph.text.first();
        let is_same = |seen: &Seen| {
            seen.string != glyph.string
                && (seen.x - x).hypot(seen.y - y) < reach
                && (seen.size - glyph.size).abs() <= SAME_SIZE * glyph.size
        };
        let near = [(column, row), (beside, row), (column, above), (beside, above)];
        let repeats = near
            .iter()
            .any(|(column, row)| self.seen.get(&(char, *column, *row)).is_some_and(is_same));
        if !repeats {
            let seen = Seen { x, y, size: glyph.size, string: glyph.string };
            self.seen.insert((char, column, row), seen);
        }
        repeats
    }
}

/// The cell of a place, and the next one on the side that it is nearer to.
fn cell(place: f64, width: f64) -> (i64, i64) {
    let cells = place / width;
    let cell = cells.floor() as i64;
    let is_left = cells - cells.floor() < 0.5;
    (cell, if is_left { cell.saturating_sub(1) } else { cell.saturating_add(1) })
}
