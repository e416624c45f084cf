//! Assembles glyphs into lines of text by their positions.

use std::collections::HashMap;

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

/// A gap this wide, relative to the font size, is a blank.
const BLANK: f64 = 0.12;
/// A step this far up or down starts a line.
const LINE: f64 = 0.5;
/// A step this far starts a block.
const BLOCK: f64 = 1.9;
/// A glyph that is printed again this close to itself is bold, not repeated.
const BOLD: f64 = 0.15;
/// How many previous glyphs are searched for the one that this one makes bold.
const BOLD_GLYPHS: usize = 64;

/// Collects the text of pages.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// The completed pages, by number.
    pub(super) finished: HashMap<u32, String>,
    number: u32,
    current: Page,
}

/// The text of one page.
#[derive(Debug, Default)]
struct Page {
    text: String,
    recent: Vec<Glyph>,
}

/// A glyph on the page.
#[derive(Debug, Clone)]
struct Glyph {
    text: String,
    /// Its left end along the line, and that of the next glyph.
    start: f64,
    end: f64,
    /// Its position across the lines; it decreases from line to line.
    across: f64,
    size: f64,
}

impl Page {
    fn put(&mut self, glyph: Glyph) {
        let near = |one: f64, other: f64| (one - other).abs() < BOLD * glyph.size;
        let again = |before: &Glyph| {
            before.text == glyph.text
                && near(before.start, glyph.start)
                && near(before.across, glyph.across)
        };
        let is_blank = glyph.text.trim().is_empty();
        if !is_blank && self.recent.iter().rev().take(BOLD_GLYPHS).any(again) {
            return;
        }
        if let Some(last) = self.recent.last() {
            let down = last.across - glyph.across;
            let size = last.size.max(glyph.size);
            if down.abs() > LINE * size {
                self.text.push('\n');
                if down.abs() > BLOCK * size {
                    self.text.push('\n');
                }
            } else if glyph.start < last.start - size && !is_blank {
                self.text.push('\n');
            } else if glyph.start > last.end + BLANK * size {
                self.blank();
            }
        }
        if is_blank {
            self.blank();
        } else {
            self.text.push_str(&glyph.text);
        }
        if self.recent.len() >= 2 * BOLD_GLYPHS {
            self.recent.drain(..BOLD_GLYPHS);
        }
        self.recent.push(glyph);
    }

    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }
}

impl OutputDev for Pages {
    fn begin_page(
        &mut self,
        number: u32,
        _: &MediaBox,
        _: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.number = number;
        self.current = Page::default();
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.finished.insert(self.number, std::mem::take(&mut self.current).text);
        Ok(())
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        _: f64,
        size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        // The direction of the line on the page, and how long one unit of the font is there.
        let (x, y) = (place.m11 * size, place.m12 * size);
        let length = x.hypot(y);
        if length <= 0.0 || !length.is_finite() {
            return Ok(());
        }
        let (cos, sin) = (x / length, y / length);
        let start = place.m31 * cos + place.m32 * sin;
        let across = place.m32 * cos - place.m31 * sin;
        let glyph = Glyph {
            text: text.to_owned(),
            start,
            end: start + width * length,
            across,
            size: length,
        };
        self.current.put(glyph);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}
