//! Checks the size of an OpenDocument workbook before it is read: cells and rows are stored once with a repeat count,
//! and the library expands them all.

use std::io::BufRead;

use cicerone_domain::limits;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{PLACES, damaged, scattered};
use crate::extract::Unreadable;
use crate::extract::docx::package::Package;
use crate::extract::table;

/// The maximum number of rows and columns of a sheet.
const ROWS: usize = 1_048_576;
const COLUMNS: usize = 16_384;
/// The most text of all cells: hidden sheets and columns far to the right, which are not shown, count too.
const TEXT_BYTES: usize = 4 * limits::DOCUMENT_TEXT_BYTES;

/// Refuses a workbook whose cells would take too much memory.
pub(super) fn check(package: &mut Package<'_>) -> Result<(), Unreadable> {
    match package.stream("content.xml")? {
        Some(content) => check_content(content),
        None => Ok(()),
    }
}

fn check_content(content: impl BufRead) -> Result<(), Unreadable> {
    let mut reader = Reader::from_reader(content);
    let mut buffer = Vec::new();
    let mut book = Book::default();
    let mut depth = 0_usize;
    loop {
        buffer.clear();
        // The library ignores mismatched elements, and never returns for a table that is not closed.
        match reader.read_event_into(&mut buffer).map_err(|error| damaged(&error))? {
            Event::Eof if depth > 0 => return Err(damaged(&"`content.xml` ends too early")),
            Event::Eof => return Ok(()),
            Event::Start(start) => {
                depth += 1;
                book.open(&start);
            }
            Event::Empty(start) => {
                book.open(&start);
                book.close(start.local_name().as_ref())?;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                book.close(end.local_name().as_ref())?;
            }
            Event::Text(text) => book.text(text.len()),
            Event::CData(text) => book.text(text.len()),
            _ => {}
        }
    }
}

/// What has been counted.
#[derive(Default)]
struct Book {
    /// Positions and text of the previous sheets.
    places: usize,
    bytes: usize,
    sheet: Sheet,
    row: Row,
    cell: Option<Cell>,
}

#[derive(Default)]
struct Sheet {
    /// Up to the last row with content.
    rows: usize,
    /// Empty rows after it.
    empty: usize,
    width: usize,
}

#[derive(Default)]
struct Row {
    repeats: usize,
    columns: usize,
    /// Up to the last cell with content.
    width: usize,
    bytes: usize,
}

struct Cell {
    repeats: usize,
    is_filled: bool,
    bytes: usize,
}

impl Book {
    fn open(&mut self, start: &BytesStart<'_>) {
        match start.local_name().as_ref() {
            "table" => self.sheet = Sheet::default(),
            "table-row" => {
                let repeats = repeats(start, "number-rows-repeated", ROWS);
                self.row = Row { repeats, ..Row::default() };
            }
            "table-cell" | "covered-table-cell" => {
                let repeats = repeats(start, "number-columns-repeated", COLUMNS);
                let is_filled = ["value-type", "formula"].iter().any(|name| has(start, name));
                self.cell = Some(Cell { repeats, is_filled, bytes: 0 });
            }
            _ => {}
        }
    }

    fn text(&mut self, bytes: usize) {
        if let Some(cell) = &mut self.cell {
            cell.is_filled = true;
            cell.bytes += bytes;
        }
    }

    fn close(&mut self, name: &str) -> Result<(), Unreadable> {
        match name {
            "table-cell" | "covered-table-cell" => {
                let Some(cell) = self.cell.take() else { return Ok(()) };
                let row = &mut self.row;
                row.columns = (row.columns + cell.repeats).min(COLUMNS);
                if cell.is_filled {
                    row.width = row.columns;
                    row.bytes = row.bytes.saturating_add(cell.bytes.saturating_mul(cell.repeats));
                }
            }
            "table-row" => return self.end_row(),
            "table" => self.places = self.places.saturating_add(self.sheet.places()),
            _ => {}
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), Unreadable> {
        let Row { repeats, width, bytes, .. } = std::mem::take(&mut self.row);
        let sheet = &mut self.sheet;
        if width == 0 {
            sheet.empty = (sheet.empty + repeats).min(ROWS);
            return Ok(());
        }
        sheet.rows = (sheet.rows + std::mem::take(&mut sheet.empty) + repeats).min(ROWS);
        sheet.width = sheet.width.max(width);
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(repeats));
        if self.places.saturating_add(sheet.places()) > PLACES {
            return Err(scattered());
        }
        if self.bytes > TEXT_BYTES { Err(table::too_long()) } else { Ok(()) }
    }
}

impl Sheet {
    /// The positions between its first and its last cell.
    const fn places(&self) -> usize {
        self.rows.saturating_mul(self.width)
    }
}

fn has(start: &BytesStart<'_>, name: &str) -> bool {
    start.attributes().flatten().any(|attribute| attribute.key.local_name().as_ref() == name)
}

/// How often an element is repeated.
fn repeats(start: &BytesStart<'_>, name: &str, most: usize) -> usize {
    let mut attributes = start.attributes().flatten();
    let stated = attributes.find(|attribute| attribute.key.local_name().as_ref() == name);
    // The library refuses values that are not numbers.
    stated.and_then(|stated| stated.value.trim().parse().ok()).unwrap_or(1).min(most)
}

#[cfg(test)]
mod tests {
    use super::check_content;

    fn check(rows: &str) -> Result<(), String> {
        let content = format!("<office:body><table:table>{rows}</table:table></office:body>");
        check_content(content.as_bytes()).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn formatted_columns_and_rows_without_content_take_nothing() {
        let row = "<table:table-row><table:table-cell office:value-type=\"float\"/>\
            <table:table-cell table:number-columns-repeated=\"16383\"/></table:table-row>";
        let rest = "<table:table-row table:number-rows-repeated=\"1048000\">\
            <table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>";
        assert_eq!(check(&format!("{}{rest}", row.repeat(500))), Ok(()));
    }

    #[test]
    fn a_table_that_is_not_closed_or_closed_by_another_name_is_damaged() {
        for content in [
            "<office:body><table:table><table:table-row></table:table-row>",
            "<table:table><table:table-row></table:table></table:table-row>",
            "<table:table><table:table-cell a=\"></table:table-cell></table:table>",
        ] {
            let refusal = check_content(content.as_bytes()).unwrap_err().to_string();
            assert!(refusal.contains("damaged"), "{content}: {refusal}");
        }
    }

    #[test]
    fn a_sheet_that_lies_about_its_size_is_refused() {
        let cell = |repeats: u64, text: &str| {
            format!(
                "<table:table-cell table:number-columns-repeated=\"{repeats}\"><text:p>{text}</text:p></table:table-cell>"
            )
        };
        let row = |repeats: u64, cells: &str| {
            format!(
                "<table:table-row table:number-rows-repeated=\"{repeats}\">{cells}</table:table-row>"
            )
        };
        let empty = "<table:table-cell table:number-columns-repeated=\"9000\"/>";
        let far = format!("{empty}{}", cell(1, "x"));
        for rows in [
            row(u64::MAX / 4, &cell(16_384, "x")),
            row(1_000_000, &cell(16_384, "x")),
            format!("{}{}", row(1_000_000, "<table:table-cell/>"), row(1, &far)),
            row(1, &far).repeat(500),
        ] {
            let refusal = check(&rows).unwrap_err();
            assert!(refusal.contains("far apart"), "{refusal}");
        }
        let refusal = check(&row(2_000, &cell(1_000, &"long ".repeat(20)))).unwrap_err();
        assert!(refusal.contains("more than the maximum of"), "{refusal}");
    }
}
