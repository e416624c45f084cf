//! Tables of data: sheets of workbooks and CSV files.
//!
//! Each row is written with the headers of its columns (`- Berth: short; Price: 5`), so that each row is understood on
//! its own, wherever the text is cut.

use std::collections::HashSet;
use std::hash::Hash;

use super::{Reading, Unreadable};
use cicerone_domain::limits;

/// The maximum number of cells that are read from a file.
pub(super) const CELLS: usize = 2_000_000;
/// The maximum length of a header, which is repeated in every row; a longer one is cut.
const HEADER_CHARS: usize = 80;
/// The number of rows with several cells among which the headers are searched for.
const TITLE_ROWS: usize = 10;

/// A sheet, row by row, with cells as displayed.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) name: Option<String>,
    /// An empty row may separate two tables.
    pub(super) rows: Vec<Vec<String>>,
}

/// The tables as Markdown, with their number.
///
/// # Errors
///
/// If they have more text than a document may.
pub(super) fn read(tables: &[Table]) -> Result<Reading, Unreadable> {
    let mut out = String::new();
    let mut count = 0_u32;
    for table in tables {
        let is_empty = |row: &Vec<String>| row.iter().all(String::is_empty);
        let parts: Vec<_> = table.rows.split(is_empty).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            continue;
        }
        count = count.saturating_add(1);
        if let Some(name) = table.name.as_ref().filter(|_| tables.len() > 1) {
            push(&mut out, &format!("## {name}"), "\n\n");
        }
        write(&parts, &mut out)?;
    }
    Ok(Reading { tables: Some(count), ..Reading::plain(out) })
}

/// Writes the rows of a sheet, which are in several parts if empty rows separate them.
fn write(parts: &[&[Vec<String>]], out: &mut String) -> Result<(), Unreadable> {
    let rows: Vec<&Vec<String>> = parts.iter().copied().flatten().collect();
    let mut head = header(&rows);
    let mut was_row = false;
    let mut parts = parts.iter();
    let mut next_part = 0;
    for (index, row) in rows.iter().enumerate() {
        if index == next_part {
            next_part += parts.next().map_or(1, |part| part.len());
            let part = rows.get(index..next_part).unwrap_or_default();
            if head.is_some_and(|head| head < index)
                && let Some(at) = header(part).filter(|at| is_above_numbers(part, *at))
            {
                head = Some(index + at);
            }
        }
        if out.len() > limits::DOCUMENT_TEXT_BYTES {
            return Err(too_long());
        }
        let cells = || row.iter().filter(|cell| !cell.is_empty());
        let is_table = row.len() > 1 && cells().count() > 1;
        let line = match head {
            Some(head) if index == head => continue,
            Some(head) if index > head => labelled(rows.get(head).copied(), row),
            _ if is_table => format!("| {} |", row.join(" | ")),
            _ => cells().map(String::as_str).collect::<Vec<_>>().join(" "),
        };
        let is_row = line.starts_with(['|', '-']);
        push(out, &line, if was_row && is_row { "\n" } else { "\n\n" });
        was_row = is_row;
    }
    Ok(())
}

/// The index of the header row: the first row with several cells, if they are different words and there are rows below.
fn header(rows: &[&Vec<String>]) -> Option<usize> {
    let filled = |row: &Vec<String>| row.iter().filter(|cell| !cell.is_empty()).count();
    let first = rows.iter().take(TITLE_ROWS).position(|row| filled(row) > 1)?;
    let names: Vec<&String> = rows.get(first)?.iter().filter(|cell| !cell.is_empty()).collect();
    let widest = rows.iter().skip(first + 1).map(|row| filled(row)).max()?;
    let are_words = names.iter().all(|name| name.chars().any(char::is_alphabetic));
    let are_distinct = are_distinct(&names);
    // With fewer names than cells below, some cells would be unnamed.
    (are_words && are_distinct && names.len() + 1 >= widest).then_some(first)
}

/// Whether a row has a word above a column of numbers: it is a header, and not a row of words like those above it.
fn is_above_numbers(rows: &[&Vec<String>], at: usize) -> bool {
    let Some((head, below)) = rows.get(at..).and_then(<[_]>::split_first) else { return false };
    let is_word = |cell: &str| cell.chars().any(char::is_alphabetic) && !cell.contains(is_digit);
    let is_number = |cell: &str| cell.contains(is_digit) && !cell.chars().any(char::is_alphabetic);
    head.iter().enumerate().filter(|(_, cell)| is_word(cell)).any(|(column, _)| {
        let cells = below.iter().filter_map(|row| row.get(column));
        let mut cells = cells.filter(|cell| !cell.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|cell| is_number(cell))
    })
}

fn is_digit(char: char) -> bool {
    char.is_numeric()
}

/// Whether no two are the same. A row may have as many cells as a file has bytes.
pub(super) fn are_distinct<T: Hash + Eq>(names: &[T]) -> bool {
    let mut seen = HashSet::with_capacity(names.len());
    names.iter().all(|name| seen.insert(name))
}

/// A row with the name of each column.
fn labelled(head: Option<&Vec<String>>, row: &[String]) -> String {
    let name = |at: usize| head.and_then(|head| head.get(at)).filter(|name| !name.is_empty());
    let cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    let cells = cells.map(|(at, cell)| match name(at) {
        Some(name) => {
            let name: String = name.trim_end_matches(':').chars().take(HEADER_CHARS).collect();
            format!("{name}: {cell}")
        }
        None => cell.clone(),
    });
    format!("- {}", cells.collect::<Vec<_>>().join("; "))
}

fn push(out: &mut String, block: &str, gap: &str) {
    if !out.is_empty() {
        out.push_str(gap);
    }
    out.push_str(block);
}

/// A cell in one line.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file has more text than the limit.
pub(super) fn too_long() -> Unreadable {
    Unreadable::new(format!(
        "the tables contain more than the maximum of {} bytes of text; upload them in parts",
        limits::DOCUMENT_TEXT_BYTES
    ))
}

/// The file has more cells than the limit.
pub(super) fn too_many() -> Unreadable {
    Unreadable::new(format!("the tables have more than {CELLS} cells; upload them in parts"))
}

#[cfg(test)]
mod tests {
    use super::{Table, read};

    fn text(rows: &[&[&str]]) -> String {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect());
        let sheet = Table { name: Some("Sheet1".to_owned()), rows: rows.collect() };
        let reading = read(&[sheet, Table::default()]).unwrap();
        assert_eq!(reading.tables, Some(1));
        reading.text.trim_start_matches("## Sheet1\n\n").to_owned()
    }

    #[test]
    fn each_row_carries_its_headers() {
        let rows: &[&[&str]] = &[
            &["Fees of 2026", "", ""],
            &["Berth", "Price:", "Note"],
            &["short", "5", ""],
            &["", "", ""],
            &["long", "90", "a month"],
        ];
        let expected =
            "Fees of 2026\n\n- Berth: short; Price: 5\n- Berth: long; Price: 90; Note: a month";
        assert_eq!(text(rows), expected);
    }

    #[test]
    fn a_table_after_an_empty_row_has_its_own_headers() {
        let rows: &[&[&str]] = &[
            &["Name", "Age"],
            &["Ada", "30"],
            &["", ""],
            &["Ben", "unknown"],
            &["Cem", "grown up"],
            &[""],
            &["Places"],
            &["Town", "Code", "Since"],
            &["Bonn", "53111", "2026-04-01"],
        ];
        let expected = "- Name: Ada; Age: 30\n- Name: Ben; Age: unknown\n- Name: Cem; Age: grown up\n\n\
            Places\n\n- Town: Bonn; Code: 53111; Since: 2026-04-01";
        assert_eq!(text(rows), expected);
    }

    /// Each name of a column once was compared with all before it: minutes for this table.
    #[test]
    fn the_time_is_linear_in_the_columns_of_a_table() {
        let row = |mark: char| (0..400_000).map(|column| format!("{mark}{column}")).collect();
        let table = Table { name: None, rows: vec![row('c'), row('1')] };
        assert!(read(&[table]).unwrap().text.starts_with("- c0: 10; c1: 11;"));
    }

    #[test]
    fn rows_without_headers_stay_rows() {
        assert_eq!(text(&[&["1", "2"], &["3", "4"]]), "| 1 | 2 |\n| 3 | 4 |");
        assert_eq!(text(&[&["a", "a"], &["3", "4"]]), "| a | a |\n| 3 | 4 |");
        assert_eq!(text(&[&["One line"], &["and another"]]), "One line\n\nand another");
    }
}
