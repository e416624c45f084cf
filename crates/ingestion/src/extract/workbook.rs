//! Workbooks: XLSX, ODS and the older XLS.

mod ods;
mod xls;
mod xlsx;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, ExcelDateTime, Ods, Range, Reader as _, SheetVisible, Xls, Xlsx};
use cicerone_domain::content::{Parts, WarningReason, Warnings};
use cicerone_domain::limits;

use super::docx::package::Package;
use super::table::{self, Table};
use super::{Reading, Unreadable};

/// The most sheets that are read.
const SHEETS: usize = 200;
/// The maximum width and length of the used range of a sheet: a single distant cell does not make a table.
const COLUMNS: u32 = 1_000;

/// The maximum number of positions between the first and the last cell of all sheets. The library allocates all of
/// them.
const PLACES: usize = 4_000_000;

/// The kinds of workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Office Open XML.
    Xlsx,
    /// OpenDocument.
    Ods,
    /// Excel before 2007.
    Xls,
}

/// Reads a workbook: each visible sheet, with the values of its cells and the results of formulas.
///
/// # Errors
///
/// If it is protected, damaged, empty, or larger than a document may be.
pub(crate) fn read(bytes: &[u8], kind: Kind) -> Result<Reading, Unreadable> {
    // The library panics on some damaged files.
    let tables = catch_unwind(AssertUnwindSafe(|| tables(bytes, kind)))
        .unwrap_or_else(|_| Err(damaged(&"its parts do not fit together")))?;
    let reading = table::read(&tables.done)?;
    if reading.text.trim().is_empty() {
        return Err(Unreadable::new("the workbook contains no text"));
    }
    Ok(Reading { warnings: tables.warnings, ..reading })
}

fn tables(bytes: &[u8], kind: Kind) -> Result<Tables, Unreadable> {
    Ok(match kind {
        Kind::Xlsx => {
            let mut package = Package::open(bytes)?;
            package.check()?;
            xlsx::check(&mut package)?;
            xlsx(Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?)?
        }
        Kind::Ods => {
            let mut package = Package::open(bytes)?;
            package.check()?;
            ods::check(&mut package)?;
            let mut book = Ods::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
            let mut tables = Tables::default();
            let names = tables.visible(book.sheets_metadata());
            for name in names {
                let range = book.worksheet_range(&name).map_err(|error| damaged(&error))?;
                tables.range(name, &range)?;
            }
            tables
        }
        Kind::Xls => {
            xls::check(bytes)?;
            let mut book = Xls::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
            let mut tables = Tables::default();
            let names = tables.visible(book.sheets_metadata());
            for name in names {
                let range = book.worksheet_range(&name).map_err(|error| damaged(&error))?;
                tables.range(name, &range)?;
            }
            tables
        }
    })
}

/// The sheets of an XLSX file, cell by cell: its used range may be a million times larger than its content.
fn xlsx(mut book: Xlsx<Cursor<&[u8]>>) -> Result<Tables, Unreadable> {
    let mut tables = Tables::default();
    let names = tables.visible(book.sheets_metadata());
    for name in names {
        // A sheet may be a chart, which has no cells.
        let Ok(mut cells) = book.worksheet_cells_reader(&name) else { continue };
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut last = None;
        while let Some(cell) = cells.next_cell().map_err(|error| damaged(&error))? {
            let (row, column) = cell.get_position();
            let text = shown(&Data::from(cell.get_value().clone()));
            if text.is_empty() {
                continue;
            }
            if column >= COLUMNS {
                tables.is_too_wide();
                continue;
            }
            if last != Some(row) {
                if last.is_some_and(|last| row > last.saturating_add(1)) {
                    rows.push(Vec::new());
                }
                rows.push(Vec::new());
                last = Some(row);
            }
            tables.count(1)?;
            tables.take(&text)?;
            if let Some(texts) = rows.last_mut() {
                let column = usize::try_from(column).unwrap_or(usize::MAX);
                if texts.len() < column {
                    tables.count(column - texts.len())?;
                    texts.resize(column, String::new());
                }
                texts.push(text);
            }
        }
        tables.done.push(Table { name: Some(name), rows: trimmed(rows) });
    }
    Ok(tables)
}

/// Rows without the columns on the left in which no row has a cell.
fn trimmed(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let empty = |row: &Vec<String>| row.iter().take_while(|cell| cell.is_empty()).count();
    let left = rows.iter().filter(|row| !row.is_empty()).map(empty).min().unwrap_or(0);
    for row in &mut rows {
        row.drain(..left.min(row.len()));
    }
    rows
}

#[derive(Default)]
struct Tables {
    done: Vec<Table>,
    cells: usize,
    /// Bytes of the text of the cells.
    bytes: usize,
    warnings: Warnings,
}

impl Tables {
    /// The names of the sheets that are read.
    fn visible(&mut self, sheets: &[calamine::Sheet]) -> Vec<String> {
        let shown = sheets.iter().filter(|sheet| sheet.visible == SheetVisible::Visible);
        let mut names: Vec<String> = shown.map(|sheet| sheet.name.clone()).collect();
        if names.len() > SHEETS {
            names.truncate(SHEETS);
            let most = u32::try_from(SHEETS).unwrap_or(u32::MAX);
            self.warnings.add(WarningReason::Beyond { parts: Parts::Sheets, most });
        }
        names
    }

    fn is_too_wide(&mut self) {
        self.warnings.add(WarningReason::Beyond { parts: Parts::Columns, most: COLUMNS });
    }

    fn range(&mut self, name: String, range: &Range<Data>) -> Result<(), Unreadable> {
        let mut rows = Vec::new();
        for row in range.rows() {
            let end = row.iter().rposition(|cell| *cell != Data::Empty).map_or(0, |last| last + 1);
            let cells = row.get(..end).unwrap_or_default();
            if cells.is_empty() && rows.last().is_some_and(|row: &Vec<String>| !row.is_empty()) {
                rows.push(Vec::new());
            } else if !cells.is_empty() {
                self.count(cells.len())?;
                if cells.len() > COLUMNS as usize {
                    self.is_too_wide();
                }
                let cells: Vec<String> = cells.iter().take(COLUMNS as usize).map(shown).collect();
                cells.iter().try_for_each(|text| self.take(text))?;
                rows.push(cells);
            }
        }
        self.done.push(Table { name: Some(name), rows });
        Ok(())
    }

    /// Counts the text of a cell: a million cells may share one text.
    fn take(&mut self, text: &str) -> Result<(), Unreadable> {
        self.bytes += text.len();
        if self.bytes > limits::DOCUMENT_TEXT_BYTES { Err(table::too_long()) } else { Ok(()) }
    }

    fn count(&mut self, cells: usize) -> Result<(), Unreadable> {
        self.cells += cells;
        if self.cells > table::CELLS { Err(table::too_many()) } else { Ok(()) }
    }
}

/// A value in readable form.
fn shown(value: &Data) -> String {
    match value {
        Data::Empty | Data::Error(_) => String::new(),
        Data::String(text) => table::cell(text),
        Data::Bool(true) => "yes".to_owned(),
        Data::Bool(false) => "no".to_owned(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => rounded(*number),
        Data::DateTime(time) => moment(time),
        Data::DateTimeIso(text) => iso_moment(text),
        Data::DurationIso(text) => iso_duration(text).unwrap_or_else(|| text.clone()),
    }
}

/// A number without the noise of binary fractions: 0.1 + 0.2 is 0.3.
fn rounded(number: f64) -> String {
    let text = format!("{number:.10}");
    if !number.is_finite() || number.abs() >= 1e15 {
        return number.to_string();
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A day, a time of day, or both; or a length of time.
fn moment(time: &ExcelDateTime) -> String {
    if time.is_duration() {
        let minutes = (time.as_f64() * 24.0 * 60.0).round();
        return format!("{}:{:02}", (minutes / 60.0).trunc(), (minutes % 60.0).abs());
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let clock = match second {
        0 => format!("{hour:02}:{minute:02}"),
        second => format!("{hour:02}:{minute:02}:{second:02}"),
    };
    match (time.as_f64() < 1.0, hour, minute, second) {
        (true, ..) => clock,
        (false, 0, 0, 0) => format!("{year}-{month:02}-{day:02}"),
        (false, ..) => format!("{year}-{month:02}-{day:02} {clock}"),
    }
}

/// A day or a day and a time of OpenDocument, `2026-04-01T09:00:00`, as [`moment`] writes them.
fn iso_moment(text: &str) -> String {
    match text.split_once('T') {
        Some((day, "00:00:00")) => day.to_owned(),
        Some((day, time)) => format!("{day} {}", shortened(time)),
        None => text.to_owned(),
    }
}

/// A time without its seconds, if they are zero.
fn shortened(time: &str) -> &str {
    time.strip_suffix(":00").filter(|time| time.contains(':')).unwrap_or(time)
}

/// A time of day or a length of time of OpenDocument, `PT09H30M00S`. `None` if it has days or fractions, or is damaged.
fn iso_duration(text: &str) -> Option<String> {
    let (hours, rest) = text.strip_prefix("PT")?.split_once('H')?;
    let (minutes, rest) = rest.split_once('M')?;
    let seconds = rest.strip_suffix('S')?;
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if ![hours, minutes, seconds].into_iter().all(is_number) {
        return None;
    }
    let clock = format!("{hours:0>2}:{minutes:0>2}");
    let is_whole = seconds.bytes().all(|byte| byte == b'0');
    Some(if is_whole { clock } else { format!("{clock}:{seconds:0>2}") })
}

/// A sheet is far larger than its content.
fn scattered() -> Unreadable {
    Unreadable::new(format!(
        "the cells of the workbook are too far apart, or are repeated too often: its sheets have more than {PLACES} \
         cells; remove everything outside the tables, save it again, and upload that"
    ))
}

fn damaged(error: &dyn std::fmt::Display) -> Unreadable {
    let reason = error.to_string();
    if reason.to_lowercase().contains("password") {
        return Unreadable::new(
            "the workbook is protected by a password; remove it and upload again",
        );
    }
    Unreadable::new(format!("the workbook is damaged: {reason}"))
}

#[cfg(test)]
mod tests {
    use calamine::Data;

    use super::shown;

    #[test]
    fn times_of_open_document_are_shown_as_those_of_excel() {
        for (stored, expected) in [
            ("PT09H00M00S", "09:00"),
            ("PT9H5M7S", "09:05:07"),
            ("PT30H00M00S", "30:00"),
            ("P1DT2H", "P1DT2H"),
            ("PT09H00M00.5S", "PT09H00M00.5S"),
        ] {
            assert_eq!(shown(&Data::DurationIso(stored.to_owned())), expected);
        }
        for (stored, expected) in [
            ("2026-04-01", "2026-04-01"),
            ("2026-04-01T00:00:00", "2026-04-01"),
            ("2026-04-01T12:00:00", "2026-04-01 12:00"),
            ("2026-04-01T12:00:30", "2026-04-01 12:00:30"),
        ] {
            assert_eq!(shown(&Data::DateTimeIso(stored.to_owned())), expected);
        }
    }
}
