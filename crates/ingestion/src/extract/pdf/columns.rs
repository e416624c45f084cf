//! Columns of text whose lines are shown across all columns, line by line.

use super::rows::Row;

/// The minimum number of rows of columns.
const ROWS: usize = 5;
/// ... and the maximum: pages have fewer, and the comparison is quadratic.
const MOST_ROWS: usize = 500;
/// The lines of columns have this many characters on average: the cells of a table are shorter.
const CHARS: usize = 24;
/// A line fills its column if it ends within this distance of the right edge, as a fraction of the column's width.
const FULL: f64 = 0.12;
/// This share of the lines of the first column fill it.
const FULL_SHARE: f64 = 0.6;
/// A step down of more than this, relative to the font size, ends columns.
const STEP: f64 = 3.5;

/// The rows in reading order: column by column if they are in columns of text.
pub(super) fn in_order(rows: Vec<Row>) -> Vec<Row> {
    let mut ordered = Vec::with_capacity(rows.len());
    let mut rest = rows.as_slice();
    while let Some(first) = rest.first() {
        let block = if first.cells.len() == 2 { columns(rest) } else { None };
        if let Some((count, gutter)) = block {
            let (block, after) = rest.split_at(count.min(rest.len()));
            push_columns(&mut ordered, block, gutter);
            rest = after;
        } else {
            ordered.push(first.clone());
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    ordered
}

/// The number of rows, from the first, that are in two columns, and where the columns separate. `None` if there are
/// none.
fn columns(rows: &[Row]) -> Option<(usize, f64)> {
    let (mut left, mut right) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut count = 0;
    let mut pairs = 0;
    let mut before: Option<&Row> = None;
    for row in rows.iter().take(MOST_ROWS) {
        let is_next = before.is_none_or(|before| {
            let down = before.level() - row.level();
            row.is_parallel(before) && down > 0.0 && down < STEP * row.size()
        });
        let (new_left, new_right) = match row.cells.as_slice() {
            [first, second] => (left.max(first.to), right.min(second.from)),
            [only] if only.to < right && only.from < left => (left.max(only.to), right),
            [only] if only.from > left => (left, right.min(only.from)),
            _ => break,
        };
        if !is_next || new_left >= new_right {
            break;
        }
        (left, right) = (new_left, new_right);
        pairs += usize::from(row.cells.len() == 2);
        count += 1;
        before = Some(row);
    }
    let block = rows.get(..count)?;
    let firsts =
        block.iter().filter(|row| row.cells.len() == 2).filter_map(|row| row.cells.first());
    let lasts = block.iter().filter(|row| row.cells.len() == 2).filter_map(|row| row.cells.last());
    let from = block.iter().map(Row::from).fold(f64::INFINITY, f64::min);
    let width = left - from;
    let is_full = |to: f64| left - to < FULL * width;
    let full = firsts.clone().filter(|run| is_full(run.to)).count();
    let average = |runs: usize, chars: usize| chars / runs.max(1);
    let (first_chars, last_chars) = (
        firsts.map(|run| run.text.chars().count()).sum(),
        lasts.map(|run| run.text.chars().count()).sum(),
    );
    let are_columns = pairs >= ROWS
        && average(pairs, first_chars) >= CHARS
        && average(pairs, last_chars) >= CHARS
        && full as f64 >= FULL_SHARE * pairs as f64;
    are_columns.then_some((count, left.midpoint(right)))
}

/// Adds the left column, then the right one.
fn push_columns(ordered: &mut Vec<Row>, block: &[Row], gutter: f64) {
    for is_left in [true, false] {
        let lines = block.iter().filter_map(|row| {
            let cells = row.cells.iter().filter(|run| (run.from < gutter) == is_left);
            let cells: Vec<_> = cells.cloned().collect();
            (!cells.is_empty()).then_some(Row { cells })
        });
        ordered.extend(lines);
    }
}
