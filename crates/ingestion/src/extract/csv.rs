//! CSV files: records of fields between commas, semicolons or tabs (RFC 4180, and its variants in common programs).

use super::table::{self, Table};
use super::{Reading, Unreadable, text};

/// Field separators, most probable first.
const SEPARATORS: [char; 4] = ['\t', ';', ',', '|'];
/// The number of records that decide whether a text is a table.
const SAMPLE: usize = 50;
/// The minimum number of records of a table, including the headers.
const RECORDS: usize = 3;
/// The maximum length of a header.
const HEADER_CHARS: usize = 60;

/// Reads a CSV file. `charset` is the encoding that a header named.
///
/// # Errors
///
/// If it is not text, or has more cells or text than a document may.
pub(crate) fn read(bytes: &[u8], charset: Option<&str>) -> Result<Reading, Unreadable> {
    let Reading { text, .. } = text::read(bytes, charset)?;
    let Some(separator) = separator(&text) else { return Ok(Reading::plain(text)) };
    let mut rows = Vec::new();
    let mut cells = 0;
    for record in Records::new(&text, separator) {
        cells += record.len();
        if cells > table::CELLS {
            return Err(table::too_many());
        }
        rows.push(record.iter().map(|field| table::cell(field)).collect());
    }
    table::read(&[Table { name: None, rows }])
}

/// Whether a text is a table: the records of its beginning have the same number of fields, and the first has a name for
/// each.
pub(super) fn is_table(text: &str) -> bool {
    separator(text).is_some()
}

/// What separates the fields of a table. `None` if the text is not a table.
fn separator(text: &str) -> Option<char> {
    SEPARATORS.into_iter().find(|separator| {
        let records: Vec<Vec<String>> = Records::new(text, *separator)
            .filter(|record| record.iter().any(|field| !field.trim().is_empty()))
            .take(SAMPLE)
            .collect();
        let Some((head, rest)) = records.split_first() else { return false };
        let is_name = |field: &String| {
            let field = field.trim();
            !field.is_empty()
                && field.chars().nth(HEADER_CHARS).is_none()
                && field.chars().any(char::is_alphabetic)
                && !field.ends_with(['.', '!', '?'])
        };
        // A comma is also a mark of sentences: two columns of it are hardly a table.
        let least = if *separator == ',' { 3 } else { 2 };
        head.len() >= least
            && records.len() >= RECORDS
            && head.iter().all(is_name)
            && table::are_distinct(head)
            && rest.iter().all(|record| record.len() == head.len())
            && !head.iter().any(|name| name.trim_start().starts_with(['{', '[', '#', '|', '<']))
    })
}

/// The records of a text.
struct Records<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    separator: char,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, separator: char) -> Self {
        Self { rest: text.trim_end_matches(['\r', '\n']).chars().peekable(), separator }
    }
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        self.rest.peek()?;
        let mut fields = Vec::new();
        let mut field = String::new();
        let (mut is_quoted, mut is_blank) = (false, true);
        while let Some(char) = self.rest.next() {
            match char {
                '"' if is_quoted && self.rest.peek() == Some(&'"') => {
                    self.rest.next();
                    field.push('"');
                    is_blank = false;
                }
                '"' if is_quoted => is_quoted = false,
                '"' if is_blank => {
                    field.clear();
                    is_quoted = true;
                }
                char if char == self.separator && !is_quoted => {
                    fields.push(std::mem::take(&mut field));
                    is_blank = true;
                }
                '\r' if !is_quoted => {}
                '\n' if !is_quoted => break,
                char => {
                    is_blank &= char.is_whitespace();
                    field.push(char);
                }
            }
        }
        fields.push(field);
        Some(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_table, read};

    #[test]
    fn a_row_is_an_answer_whatever_separates_its_fields() {
        let expected = "- Berth: short stay; Price: 5,00; Note: \"dry\" at low tide\n- Berth: long; Price: 90,00";
        for (separator, price) in
            [(';', ["5,00", "90,00"]), (',', ["\"5,00\"", "\"90,00\""]), ('\t', ["5,00", "90,00"])]
        {
            let [short, long] = price;
            let file = format!(
                "\u{feff}Berth{separator}Price{separator}Note\r\nshort stay{separator}{short}{separator}\"\"\"dry\"\"\nat low tide\"\r\nlong{separator}{long}{separator}\r\n"
            );
            assert!(is_table(file.trim_start_matches('\u{feff}')));
            assert_eq!(read(file.as_bytes(), None).unwrap().text, expected);
        }
    }

    /// Each name once was compared with all before it, and each quote with the blanks before its field: minutes for these
    /// files.
    #[test]
    fn the_time_is_linear_in_columns_and_blanks() {
        let names: Vec<String> = (0..400_000).map(|column| format!("c{column}")).collect();
        let row = vec!["1"; names.len()].join(";");
        assert!(is_table(&format!("{}\n{row}\n{row}", names.join(";"))));
        let (blanks, quotes) = (" ".repeat(1_000_000), "\"".repeat(1_000_000));
        assert!(is_table(&format!("a;b\n1;{blanks}x{quotes}\n3;4")));
    }

    #[test]
    fn prose_lists_and_code_are_no_tables() {
        for text in [
            "One, two.\nThree, four.\nFive, six.",
            "# Title\n\nWell, yes; no.\n\nA line",
            "a, b, c\nd, e",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "{\"a\": 1, \"b\": 2, \"c\": 3}\n{\"a\": 1, \"b\": 2, \"c\": 3}\n{\"a\": 1, \"b\": 2, \"c\": 3}",
            "1;2\n3;4\n5;6",
        ] {
            assert!(!is_table(text), "{text}");
        }
    }
}
