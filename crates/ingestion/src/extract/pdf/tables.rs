//! Tables: rows whose cells are aligned below each other.

use super::glyph::push_next_line;
use super::rows::Row;
use super::runs::Run;

/// Edges of cells that differ by less of their size are aligned.
const ALIGNED: f64 = 0.6;
/// A step down of more than this, relative to the font size, ends a table.
const STEP: f64 = 4.0;
/// A line this close below a row continues one of its cells.
const NEXT_LINE: f64 = 1.45;
/// The maximum number of columns of a table.
const COLUMNS: usize = 64;

/// A part of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// A line of text.
    Text(Row),
    /// A row of a table, with the texts of its cells.
    Table { row: Row, cells: Vec<String> },
}

impl Part {
    pub(super) fn row(&self) -> &Row {
        match self {
            Self::Text(row) | Self::Table { row, .. } => row,
        }
    }
}

/// The parts of a page.
pub(super) fn of(rows: Vec<Row>) -> Vec<Part> {
    let mut parts = Vec::with_capacity(rows.len());
    let mut rest = rows.as_slice();
    while !rest.is_empty() {
        let count = table(rest);
        let (block, after) = rest.split_at(count.max(1).min(rest.len()));
        if count == 0 {
            parts.extend(block.iter().cloned().map(Part::Text));
        } else {
            push_table(&mut parts, block);
        }
        rest = after;
    }
    parts
}

/// The number of rows, from the first, that form a table; 0 if they do not.
fn table(rows: &[Row]) -> usize {
    let mut columns: Vec<(f64, f64)> = Vec::new();
    let (mut count, mut full) = (0, 0);
    let mut before: Option<&Row> = None;
    for (index, row) in rows.iter().enumerate() {
        let is_next = before.is_none_or(|before| {
            let down = before.level() - row.level();
            row.is_parallel(before) && down > 0.0 && down < STEP * row.size().max(before.size())
        });
        if !is_next || row.cells.len() > COLUMNS || columns.len() > COLUMNS {
            break;
        }
        let is_row = row.cells.len() >= 2 && (index == 0 || aligned(row, &columns) >= 2);
        let goes_on = row.cells.len() == 1 && index > 0 && goes_on(row, before, &columns);
        if !is_row && !goes_on {
            break;
        }
        if is_row {
            full += 1;
            count = index + 1;
        }
        add(&mut columns, row);
        before = Some(row);
    }
    // Lines after the last complete row continue it as long as they follow closely.
    let mut end = count;
    while let (Some(row), Some(before)) = (rows.get(end), rows.get(end.wrapping_sub(1))) {
        if count == 0 || row.cells.len() != 1 || !goes_on(row, Some(before), &columns) {
            break;
        }
        end += 1;
    }
    if full >= 2 { end } else { 0 }
}

/// The number of cells of a row that are below a column.
fn aligned(row: &Row, columns: &[(f64, f64)]) -> usize {
    let is_aligned = |run: &&Run| columns.iter().any(|column| fits(run, *column));
    row.cells.iter().filter(is_aligned).count()
}

/// Whether a cell begins or ends at the same position as a column, or is centred on it.
fn fits(run: &Run, (from, to): (f64, f64)) -> bool {
    let reach = ALIGNED * run.size;
    (run.from - from).abs() < reach
        || (run.to - to).abs() < reach
        || (run.from + run.to - from - to).abs() < reach
        || run.from >= from - reach && run.to <= to + reach
}

/// Whether a line of one cell continues a cell of the previous row other than the first; below the first, it is the
/// next row or text.
fn goes_on(row: &Row, before: Option<&Row>, columns: &[(f64, f64)]) -> bool {
    let (Some(before), [run]) = (before, row.cells.as_slice()) else { return false };
    let down = before.level() - row.level();
    let is_below = down > 0.0 && down < NEXT_LINE * row.size().max(before.size());
    let covered = columns.iter().filter(|(from, to)| run.from < *to && *from < run.to).count();
    is_below
        && covered <= 1
        && columns.iter().skip(1).any(|(from, _)| (run.from - from).abs() < ALIGNED * run.size)
}

/// Adds the cells of a row to the columns, from left to right.
fn add(columns: &mut Vec<(f64, f64)>, row: &Row) {
    for run in &row.cells {
        let same = columns.iter_mut().find(|(from, to)| run.from < *to && *from < run.to);
        match same {
            Some((from, to)) => (*from, *to) = (from.min(run.from), to.max(run.to)),
            None => {
                let place = columns.partition_point(|(from, _)| *from < run.from);
                columns.insert(place, (run.from, run.to));
            }
        }
    }
}

/// Adds the rows of a table, each with as many cells as the table has columns.
fn push_table(parts: &mut Vec<Part>, rows: &[Row]) {
    let mut columns = Vec::new();
    for row in rows.iter().filter(|row| row.cells.len() >= 2) {
        add(&mut columns, row);
    }
    let mut table: Vec<(Row, Vec<String>)> = Vec::with_capacity(rows.len());
    for row in rows {
        let is_right_to_left = row.is_right_to_left();
        let mut cells = cells(row, &columns);
        if is_right_to_left {
            cells.reverse();
        }
        match table.last_mut() {
            Some((_, above)) if row.cells.len() == 1 => {
                for (above, below) in above.iter_mut().zip(cells) {
                    push_next_line(above, &below);
                }
            }
            _ => table.push((row.clone(), cells)),
        }
    }
    parts.extend(table.into_iter().map(|(row, cells)| Part::Table { row, cells }));
}

/// The texts of a row by column.
fn cells(row: &Row, columns: &[(f64, f64)]) -> Vec<String> {
    let mut cells = vec![String::new(); columns.len()];
    for run in &row.cells {
        let overlap = |(from, to): &(f64, f64)| run.to.min(*to) - run.from.max(*from);
        let best = columns
            .iter()
            .enumerate()
            .max_by(|(_, one), (_, other)| overlap(one).total_cmp(&overlap(other)));
        let Some(cell) = best.and_then(|(index, _)| cells.get_mut(index)) else { continue };
        if !cell.is_empty() {
            cell.push(' ');
        }
        cell.push_str(run.text.trim());
    }
    cells
}
