//! The text of a page, line by line, from its rows.

use super::columns;
use super::glyph::push_next_line;
use super::headings::Sizes;
use super::rows::Row;
use super::stacks;
use super::tables::{self, Part};

/// A step down of more than this, relative to the font size, begins a block.
const BLOCK: f64 = 1.9;
/// ... and so does one that is wider than the previous ones by this factor, and wider than this.
const WIDER: (f64, f64) = (1.35, 1.3);
/// A step up of more than this begins a block.
const UP: f64 = 2.0;
/// A smaller step than this does not separate a table's row from the previous one.
const TABLE_STEP: f64 = 4.0;
/// The separator of texts on one line that are not a table.
const APART: &str = "   ";

/// The font sizes of the document, which determine its headings.
pub(super) type Body = Sizes;

/// The text of a page. Blocks are separated by blank lines, headings begin with `#`, and cells of tables are enclosed
/// in `|`.
pub(super) fn text(rows: Vec<Row>, body: &Body) -> String {
    let parts = tables::of(columns::in_order(stacks::beside(rows)));
    let mut text = String::new();
    let mut before: Option<Before<'_>> = None;
    let mut heading: Option<(usize, String)> = None;
    for (index, part) in parts.iter().enumerate() {
        let row = part.row();
        let last = before.as_ref();
        let begins = last.is_none_or(|last| last.ends_before(row));
        let next = parts.get(index + 1).map(Part::row);
        let level = match part {
            Part::Text(row) => body.level(row, begins, next),
            Part::Table { .. } => None,
        };
        // The lines of one heading are joined.
        let goes_on = matches!((&heading, level), (Some((open, _)), Some(level)) if *open == level)
            && !begins;
        if let Some((_, open)) = heading.as_mut().filter(|_| goes_on) {
            push_next_line(open, &row.texts().join(" "));
        } else {
            if let Some((level, open)) = heading.take() {
                push_heading(&mut text, level, &open);
            }
            let is_table = matches!(part, Part::Table { .. });
            if let Some(level) = level {
                heading = Some((level, row.texts().join(" ")));
            } else {
                if begins
                    && !(is_table && last.is_some_and(|last| last.is_table && last.is_near(row)))
                    || last.is_some_and(|last| last.is_heading || last.is_table != is_table)
                {
                    text.push('\n');
                }
                push_line(&mut text, part);
            }
        }
        before = Some(Before::new(part, level.is_some(), before.as_ref().filter(|_| !begins)));
    }
    if let Some((level, open)) = heading {
        push_heading(&mut text, level, &open);
    }
    text
}

fn push_heading(text: &mut String, level: usize, heading: &str) {
    text.push('\n');
    text.push_str(&"#".repeat(level));
    text.push(' ');
    text.push_str(heading);
    text.push_str("\n\n");
}

fn push_line(text: &mut String, part: &Part) {
    match part {
        Part::Text(row) => {
            let line = row.texts().join(APART);
            if line.starts_with(['#', '|']) || line.starts_with("```") {
                text.push('\\');
            }
            text.push_str(&line);
        }
        Part::Table { cells, .. } => {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            text.push_str("| ");
            text.push_str(&cells.join(" | "));
            text.push_str(" |");
        }
    }
    text.push('\n');
}

/// The row before another.
struct Before<'p> {
    row: &'p Row,
    is_heading: bool,
    is_table: bool,
    /// The narrowest step between the rows of its block.
    step: Option<f64>,
}

impl<'p> Before<'p> {
    fn new(part: &'p Part, is_heading: bool, before: Option<&Self>) -> Self {
        let row = part.row();
        let step = before.map(|before| before.row.level() - row.level()).filter(|step| *step > 0.0);
        let narrowest = before.and_then(|before| before.step);
        let step = match (step, narrowest) {
            (Some(step), Some(narrowest)) => Some(step.min(narrowest)),
            (step, narrowest) => step.or(narrowest),
        };
        Self { row, is_heading, is_table: matches!(part, Part::Table { .. }), step }
    }

    /// Whether a block ends before this row.
    fn ends_before(&self, row: &Row) -> bool {
        let size = self.row.size().max(row.size());
        let down = self.row.level() - row.level();
        let is_wider = self.step.is_some_and(|step| down > WIDER.0 * step && down > WIDER.1 * size);
        !self.row.is_parallel(row)
            || down > BLOCK * size
            || down < -UP * self.row.size()
            || is_wider
    }

    fn is_near(&self, row: &Row) -> bool {
        let down = self.row.level() - row.level();
        down > 0.0 && down < TABLE_STEP * self.row.size().max(row.size())
    }
}
