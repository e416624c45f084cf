//! Rows of a table between bars, with the header of a long table repeated.
//!
//! A passage does not contain the text before it. If a table is longer than a passage, each part of it must name its
//! columns, as each row of a spreadsheet does.

use super::table::are_distinct;

/// A table of more characters may be cut into several passages.
const WHOLE: usize = 1_600;
/// Each part of a longer table has at most this many characters, unless one row has more.
const PART: usize = 1_400;
/// A header that is repeated has at most this many bytes.
const HEADER_BYTES: usize = 300;
/// The name of a column has at most this many characters.
const NAME_CHARS: usize = 40;

/// The rows of a table (`| cell | cell |`) in lines. A table that is longer than a passage becomes several parts,
/// separated by an empty line, and each begins with the first `headers` rows. If the table does not state its header,
/// `headers` is 0, and the first row is taken for one if its cells are names.
///
/// A line of dashes marks a header that the table declares.
pub(super) fn table(rows: &[impl AsRef<str>], headers: usize) -> String {
    let line = if (1..rows.len()).contains(&headers) { separator(rows) } else { String::new() };
    let headers = if headers > 0 { headers } else { usize::from(begins_with_names(rows)) };
    let (head, body) = rows.split_at(headers.min(rows.len()));
    let header_bytes: usize = head.iter().map(|row| row.as_ref().len() + 1).sum();
    let is_long = rows.iter().map(chars).sum::<usize>() > WHOLE;
    let repeats = is_long && (1..=HEADER_BYTES).contains(&header_bytes);
    let header_chars = head.iter().map(chars).sum::<usize>() + line.len();
    let mut text = String::new();
    let mut filled = 0;
    let begin = |text: &mut String| {
        head.iter().map(AsRef::as_ref).chain([line.as_str()]).for_each(|row| push_line(text, row));
    };
    begin(&mut text);
    filled += header_chars;
    for row in body.iter().take(1) {
        push_line(&mut text, row.as_ref());
        filled += chars(row);
    }
    for row in body.iter().skip(1) {
        if repeats && filled + chars(row) > PART {
            text.push('\n');
            begin(&mut text);
            filled = header_chars;
        }
        push_line(&mut text, row.as_ref());
        filled += chars(row);
    }
    text
}

/// The line between a header and the rows, for as many columns as the first row has.
fn separator(rows: &[impl AsRef<str>]) -> String {
    let columns = rows.first().map_or(0, |row| row.as_ref().matches(" | ").count() + 1);
    format!("|{}", " --- |".repeat(columns))
}

fn push_line(text: &mut String, row: &str) {
    if row.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(row);
}

/// The characters of a row, with the end of its line.
fn chars(row: &impl AsRef<str>) -> usize {
    row.as_ref().chars().count() + 1
}

/// Whether the cells of the first row are names of columns: short, with letters, all different, and one for nearly
/// every cell of the longest row.
fn begins_with_names(rows: &[impl AsRef<str>]) -> bool {
    let Some((first, below)) = rows.split_first() else { return false };
    let names = filled_cells(first.as_ref());
    let is_name = |name: &&str| {
        name.chars().any(char::is_alphabetic) && name.chars().nth(NAME_CHARS).is_none()
    };
    let widest = below.iter().map(|row| filled_cells(row.as_ref()).len()).max().unwrap_or(0);
    names.len() > 1
        && names.len() + 1 >= widest
        && names.iter().all(is_name)
        && are_distinct(&names)
}

/// The cells of a row that are not empty.
fn filled_cells(row: &str) -> Vec<&str> {
    let inner = row.strip_prefix('|').unwrap_or(row);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner.split(" | ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{HEADER_BYTES, table};
    use crate::chunk::chunks;

    fn rows(header: &str, count: usize) -> Vec<String> {
        let row = |number| format!("| berth {number} | {number} m | a quiet place |");
        std::iter::once(header.to_owned()).chain((0..count).map(row)).collect()
    }

    #[test]
    fn a_short_table_has_its_header_once() {
        let rows = rows("| Berth | Depth | Note |", 20);
        assert_eq!(table(&rows, 0), rows.join("\n"));
    }

    #[test]
    fn each_passage_of_a_long_table_begins_with_its_header() {
        let header = "| Berth | Depth | Note |";
        let rows = rows(header, 500);
        let text = format!("# Berths\n\nAll of them.\n\n{}", table(&rows, 0));
        let chunks = chunks(&text);
        assert!(chunks.len() > 8, "{}", chunks.len());
        let (first, further) = chunks.split_first().unwrap();
        assert!(text[first.range.clone()].starts_with("# Berths\n\nAll of them.\n\n| Berth |"));
        for chunk in further {
            assert!(
                text[chunk.range.clone()].starts_with(header),
                "{}",
                &text[chunk.range.clone()]
            );
        }
        for row in &rows[1..] {
            assert_eq!(text.matches(row.as_str()).count(), 1);
        }
    }

    /// Each name of a column once was compared with all before it: minutes for this table.
    #[test]
    fn the_time_is_linear_in_the_columns_of_a_table() {
        let names: Vec<String> = (0..400_000).map(|column| format!("c{column}")).collect();
        let rows = [format!("| {} |", names.join(" | ")), "| 1 | 2 |".to_owned()];
        assert_eq!(table(&rows, 0), rows.join("\n"));
    }

    #[test]
    fn a_header_of_several_rows_is_repeated_whole() {
        let mut rows = rows("|  | Water | Remarks |", 100);
        rows.insert(1, "| Berth | 2026 | 2026 |".to_owned());
        let header = rows[..2].join("\n") + "\n| --- | --- | --- |\n";
        let text = table(&rows, 2);
        assert!(text.split("\n\n").count() > 2);
        assert!(text.split("\n\n").all(|part| part.starts_with(&header)));
    }

    #[test]
    fn a_header_that_is_long_or_none_is_not_repeated() {
        for first in ["| 1 | 2 | 3 |", "| same | same | x |", "| a |  |  |"] {
            let rows = rows(first, 500);
            assert_eq!(table(&rows, 0), rows.join("\n"));
        }
        let long = rows(&format!("| {} | b | c |", "a".repeat(HEADER_BYTES)), 500);
        assert_eq!(table(&long, 1).replace("\n| --- | --- | --- |", ""), long.join("\n"));
        assert_eq!(table(&[] as &[&str], 3), "");
    }

    #[test]
    fn what_is_repeated_is_bounded_by_what_is_there() {
        let name = "n".repeat(39);
        let header = format!("| {name}a | {name}b | {name}c | {name}d | {name}e | {name}f |");
        let rows = rows(&header, 5_000);
        assert!(table(&rows, 0).len() < 2 * rows.join("\n").len());
    }
}
