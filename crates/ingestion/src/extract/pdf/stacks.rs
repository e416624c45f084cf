//! Tables that are shown column by column: puts numbers next to their labels.

use super::rows::Row;

/// A stack has at least this many rows.
const ROWS: usize = 4;
/// ... and at most this many: pages have fewer, and the comparison is quadratic.
const MOST_ROWS: usize = 500;
/// ... and at most this many rows beside it are merged with it, up to this many cells in a row: tables have fewer.
const MOST_BESIDE: usize = 4 * MOST_ROWS;
const COLUMNS: usize = 64;
/// The cells of a table have at most this many characters on average; lines of text have more.
const CHARS: usize = 24;
/// Edges that differ by less than this fraction of their size are aligned.
const ALIGNED: f64 = 0.6;
/// Levels that differ by less than this fraction of their size are the same.
const SAME_LEVEL: f64 = 0.35;
/// This fraction of a stack's rows must have others beside them.
const BESIDE: f64 = 0.7;
/// This share of the cells of one of two columns are numbers. Blocks of text side by side, such as two addresses on an
/// invoice, are not a table.
const NUMBERS: f64 = 0.6;
/// A step down of more than this, relative to the font size, ends a stack.
const STEP: f64 = 4.0;

/// The rows, in which those beside a stack of cells are merged with it.
pub(super) fn beside(rows: Vec<Row>) -> Vec<Row> {
    let mut ordered = Vec::with_capacity(rows.len());
    let mut rest = rows.as_slice();
    while let Some(first) = rest.first() {
        let count = stack(rest);
        let (stack, after) = rest.split_at(count.min(rest.len()));
        let joined = if count >= ROWS { joined(stack, after) } else { None };
        if let Some((table, used)) = joined {
            ordered.extend(table);
            rest = after.get(used..).unwrap_or_default();
        } else {
            let count = count.max(1);
            ordered.push(first.clone());
            ordered.extend(rest.iter().skip(1).take(count - 1).cloned());
            rest = rest.get(count..).unwrap_or_default();
        }
    }
    ordered
}

/// The number of rows, from the first, that are single cells below each other.
fn stack(rows: &[Row]) -> usize {
    let mut count = 0;
    let mut chars = 0;
    let mut before: Option<&Row> = None;
    for row in rows.iter().take(MOST_ROWS) {
        let [run] = row.cells.as_slice() else { break };
        let follows = before.is_none_or(|before| {
            let down = before.level() - row.level();
            row.is_parallel(before)
                && down > SAME_LEVEL * run.size
                && down < STEP * run.size
                && before.cells.first().is_some_and(|above| {
                    let reach = ALIGNED * run.size;
                    (above.from - run.from).abs() < reach
                        || (above.to - run.to).abs() < reach
                        || (above.from + above.to - run.from - run.to).abs() < reach
                })
        });
        if !follows {
            break;
        }
        count += 1;
        chars += run.text.chars().count();
        before = Some(row);
    }
    if chars > CHARS * count { 0 } else { count }
}

/// The rows of a stack merged with the following rows beside it, and the number of these. `None` if it is not a table.
fn joined(stack: &[Row], after: &[Row]) -> Option<(Vec<Row>, usize)> {
    let mut table = stack.to_vec();
    let mut used = 0;
    let (mut cells, mut numbers) = (0_usize, 0_usize);
    for row in after.iter().take(MOST_BESIDE) {
        let has_room = |one: &Row| one.cells.len() < COLUMNS;
        let partner = table.iter_mut().find(|one| has_room(one) && stands_beside(one, row));
        let Some(partner) = partner else { break };
        cells += 1;
        numbers += usize::from(row.cells.iter().any(|run| is_number(&run.text)));
        partner.cells.extend(row.cells.iter().cloned());
        partner.cells.sort_by(|one, other| one.from.total_cmp(&other.from));
        used += 1;
    }
    let paired = table.iter().filter(|row| row.cells.len() > 1).count();
    let in_stack = stack.iter().flat_map(|row| &row.cells);
    let own = in_stack.filter(|run| is_number(&run.text)).count();
    let has_numbers = own as f64 >= NUMBERS * stack.len() as f64
        || cells > 0 && numbers as f64 >= NUMBERS * cells as f64;
    let is_table = paired >= ROWS && paired as f64 >= BESIDE * stack.len() as f64 && has_numbers;
    is_table.then_some((table, used))
}

/// Whether two rows are on one level without overlapping.
fn stands_beside(one: &Row, other: &Row) -> bool {
    let size = one.size().max(other.size());
    let covers = |row: &Row| {
        row.cells
            .iter()
            .any(|cell| other.cells.iter().any(|run| run.from < cell.to && cell.from < run.to))
    };
    one.is_parallel(other)
        && (one.level() - other.level()).abs() < SAME_LEVEL * size
        && !covers(one)
}

/// Whether half of a text, or more, is digits.
fn is_number(text: &str) -> bool {
    let signs = text.chars().filter(|char| !char.is_whitespace());
    let digits = signs.clone().filter(char::is_ascii_digit).count();
    digits > 0 && 2 * digits >= signs.count()
}
