//! RTF files (Rich Text Format 1.9.1): their text, without layout.

use std::collections::HashMap;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::docx::table::REPEATED;
use super::script::Script;
use super::{Reading, Unreadable};
use cicerone_domain::limits;

/// How deeply groups may be nested.
const DEPTH: usize = 2_000;
/// Destinations whose content is not text of the document.
const OUT: [&str; 30] = [
    "author",
    "bkmkend",
    "bkmkstart",
    "colortbl",
    "comment",
    "company",
    "creatim",
    "datafield",
    "fldinst",
    "fonttbl",
    "footer",
    "footerf",
    "footerl",
    "footerr",
    "generator",
    "header",
    "headerf",
    "headerl",
    "headerr",
    "info",
    "listtable",
    "listoverridetable",
    "nonshppict",
    "objdata",
    "operator",
    "pict",
    "stylesheet",
    "themedata",
    "title",
    "xmlnstbl",
];

/// Reads an RTF file.
///
/// # Errors
///
/// If it is nested too deeply or has no text.
pub(crate) fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    let mut reader = Reader {
        rest: bytes,
        groups: Vec::new(),
        state: State { skips: 1, ..State::default() },
        encoding: WINDOWS_1252,
        fonts: HashMap::new(),
        pending: Vec::new(),
        out: String::new(),
        row: Vec::new(),
        cell: None,
        spans: Vec::new(),
        is_spanned: false,
        above: Vec::new(),
        script: None,
        to_skip: 0,
    };
    reader.run()?;
    let lines = reader.out.lines().map(str::trim_end);
    let mut text = String::with_capacity(reader.out.len());
    let mut was_row = false;
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let is_row = line.starts_with("| ");
        if !text.is_empty() {
            text.push_str(if was_row && is_row { "\n" } else { "\n\n" });
        }
        text.push_str(line.trim());
        was_row = is_row;
    }
    if text.is_empty() {
        return Err(Unreadable::new("the document contains no text"));
    }
    Ok(Reading::plain(text))
}

/// The state that is local to a group.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// Its content is not text.
    is_out: bool,
    /// It is the table of fonts.
    is_fonts: bool,
    is_hidden: bool,
    /// It is a tracked deletion.
    is_deleted: bool,
    script: Option<Script>,
    /// It is inside a table.
    is_table: bool,
    /// The number of characters after a Unicode character that are its fallback for old programs.
    skips: usize,
    /// The encoding of the current font, by its number.
    font: i32,
}

struct Reader<'a> {
    rest: &'a [u8],
    groups: Vec<State>,
    state: State,
    /// That of the document.
    encoding: &'static Encoding,
    /// Encodings of fonts, by number.
    fonts: HashMap<i32, &'static Encoding>,
    /// Pending bytes in that encoding: a character may have two.
    pending: Vec<u8>,
    out: String,
    /// Cells of the current row.
    row: Vec<String>,
    /// Where the current cell begins in `out`.
    cell: Option<usize>,
    /// For each cell of the row, whether it continues the one above.
    spans: Vec<bool>,
    is_spanned: bool,
    /// The cells of the row above.
    above: Vec<String>,
    /// Where the current superscript or subscript begins in `out`.
    script: Option<(usize, Script)>,
    to_skip: usize,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), Unreadable> {
        while let Some((byte, rest)) = self.rest.split_first() {
            self.rest = rest;
            match byte {
                b'{' => {
                    self.flush();
                    self.to_skip = 0;
                    if self.groups.len() >= DEPTH {
                        return Err(Unreadable::new("the document is nested too deeply"));
                    }
                    self.groups.push(self.state);
                }
                b'}' => {
                    self.flush();
                    self.to_skip = 0;
                    if let Some(outer) = self.groups.pop() {
                        self.state = State { is_table: self.state.is_table, ..outer };
                    }
                }
                b'\\' => self.control(),
                b'\r' | b'\n' => {}
                byte => self.byte(*byte),
            }
            if self.out.len() > limits::DOCUMENT_TEXT_BYTES {
                break;
            }
        }
        self.flush();
        self.end_script();
        Ok(())
    }

    fn control(&mut self) {
        let Some((first, rest)) = self.rest.split_first() else { return };
        if first.is_ascii_alphabetic() {
            return self.word();
        }
        self.rest = rest;
        match first {
            b'\'' => {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    self.rest = rest.get(2..).unwrap_or_default();
                    self.byte(byte);
                }
            }
            // An unknown destination.
            b'*' => self.state.is_out = true,
            b'~' => self.push(' '),
            b'_' => self.push('-'),
            b'-' => {}
            b'\r' | b'\n' => self.end_line(),
            b'\\' | b'{' | b'}' => self.byte(*first),
            _ => {}
        }
    }

    fn word(&mut self) {
        let end = self.rest.iter().position(|byte| !byte.is_ascii_alphabetic());
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()).min(40));
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count();
        let number = rest.get(..sign + digits).filter(|_| digits > 0);
        let number =
            number.and_then(|number| std::str::from_utf8(number).ok()?.parse::<i32>().ok());
        let used = if digits > 0 { sign + digits } else { 0 };
        let rest = rest.get(used..).unwrap_or_default();
        // A blank ends a control word and belongs to it.
        self.rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let name = std::str::from_utf8(name).unwrap_or_default();
        self.obey(name, number);
    }

    fn obey(&mut self, name: &str, number: Option<i32>) {
        match (name, number) {
            ("u", Some(code)) => {
                self.flush();
                self.unicode(code);
                self.to_skip = self.state.skips;
                return;
            }
            ("uc", Some(count)) => self.state.skips = usize::try_from(count).unwrap_or(1).min(16),
            ("bin", Some(count)) => {
                let count = usize::try_from(count).unwrap_or(0);
                self.rest = self.rest.get(count..).unwrap_or_default();
            }
            ("ansicpg", Some(page)) => self.encoding = code_page(page).unwrap_or(self.encoding),
            ("mac", _) => self.encoding = encoding_rs::MACINTOSH,
            ("f", Some(font)) => {
                self.flush();
                self.state.font = font;
            }
            ("fcharset", Some(set)) if self.state.is_fonts => {
                if let Some(encoding) = code_page(page_of_set(set)) {
                    self.fonts.entry(self.state.font).or_insert(encoding);
                }
            }
            ("deleted", on) => self.state.is_deleted = on != Some(0),
            ("v", on) => self.state.is_hidden = on != Some(0),
            ("plain", _) => {
                self.flush();
                (self.state.is_hidden, self.state.is_deleted) = (false, false);
                self.state.script = None;
            }
            ("super" | "sub" | "nosupersub", on) => {
                self.flush();
                self.state.script = match name {
                    "super" if on != Some(0) => Some(Script::Super),
                    "sub" if on != Some(0) => Some(Script::Sub),
                    _ => None,
                };
            }
            ("par" | "sect" | "page" | "line", _) => self.end_line(),
            ("intbl", _) => self.state.is_table = true,
            ("pard", _) => self.state.is_table = false,
            ("trowd", _) => (self.spans, self.is_spanned) = (Vec::new(), false),
            ("clvmrg", _) => self.is_spanned = true,
            ("cellx", _) => self.spans.push(std::mem::take(&mut self.is_spanned)),
            ("cell", _) => self.end_cell(),
            ("row", _) => self.end_row(),
            ("tab", _) => self.push('\t'),
            ("emdash", _) => self.push('—'),
            ("endash", _) => self.push('–'),
            ("bullet", _) => self.push('•'),
            ("lquote", _) => self.push('‘'),
            ("rquote", _) => self.push('’'),
            ("ldblquote", _) => self.push('“'),
            ("rdblquote", _) => self.push('”'),
            ("fonttbl", _) => {
                self.state.is_out = true;
                self.state.is_fonts = true;
            }
            (name, _) if OUT.contains(&name) => self.state.is_out = true,
            _ => {}
        }
        self.to_skip = 0;
    }

    fn byte(&mut self, byte: u8) {
        if self.to_skip > 0 {
            self.to_skip -= 1;
        } else if self.is_shown() {
            self.pending.push(byte);
        }
    }

    fn unicode(&mut self, code: i32) {
        let code = u32::try_from(if code < 0 { code + 65_536 } else { code }).unwrap_or(0);
        match code {
            // One surrogate of a character outside the basic plane; the other follows.
            0xd800..=0xdbff => self.pending_half(code),
            0xdc00..=0xdfff => {
                let high = self.out.pop().map_or(0, u32::from).wrapping_sub(HALVES);
                let whole = 0x1_0000 + (high << 10) + (code - 0xdc00);
                self.push(char::from_u32(whole).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            code => {
                if let Some(char) = char::from_u32(code).filter(|char| !char.is_control()) {
                    self.push(char);
                }
            }
        }
    }

    /// Keeps the high surrogate of a character as a private-use character until the low one arrives.
    fn pending_half(&mut self, code: u32) {
        if let Some(char) = char::from_u32(HALVES + (code - 0xd800)) {
            self.push(char);
        }
    }

    fn is_shown(&self) -> bool {
        !(self.state.is_out || self.state.is_hidden || self.state.is_deleted)
    }

    fn push(&mut self, char: char) {
        self.flush();
        if self.is_shown() {
            self.begin_text();
            self.out.push(char);
        }
    }

    /// Decodes the pending bytes.
    fn flush(&mut self) {
        if !self.pending.is_empty() {
            let font = self.fonts.get(&self.state.font);
            let encoding = font.copied().unwrap_or(self.encoding);
            let bytes = std::mem::take(&mut self.pending);
            let text = encoding.decode_without_bom_handling(&bytes).0;
            self.begin_text();
            self.out.extend(text.chars().filter(|char| !char.is_control()));
        }
    }

    fn begin_text(&mut self) {
        if self.state.is_table && self.cell.is_none() {
            self.cell = Some(self.out.len());
        }
        if self.script.map(|(_, script)| script) != self.state.script {
            self.end_script();
            self.script = self.state.script.map(|script| (self.out.len(), script));
        }
    }

    /// Marks the superscript or subscript that ends here, if it must be told apart from the text before.
    fn end_script(&mut self) {
        if let Some((start, script)) = self.script.take()
            && let Some((before, text)) = self.out.split_at_checked(start)
        {
            self.out.insert_str(start, script.mark(before, text));
        }
    }

    fn end_line(&mut self) {
        self.flush();
        self.end_script();
        if self.is_shown() {
            self.out.push(if self.cell.is_some() { ' ' } else { '\n' });
        }
    }

    fn end_cell(&mut self) {
        self.flush();
        self.end_script();
        let start = self.cell.take().unwrap_or(self.out.len());
        let text = self.out.split_off(start.min(self.out.len()));
        self.row.push(text.trim().replace('|', "\\|"));
    }

    fn end_row(&mut self) {
        self.flush();
        self.end_script();
        let mut cells = std::mem::take(&mut self.row);
        self.cell = None;
        let has_own = cells.iter().any(|cell| !cell.is_empty());
        for ((cell, above), is_spanned) in cells.iter_mut().zip(&self.above).zip(&self.spans) {
            if *is_spanned && cell.is_empty() && above.len() <= REPEATED {
                cell.clone_from(above);
            }
        }
        if has_own {
            self.out.push_str(&format!("\n| {} |\n", cells.join(" | ")));
        }
        self.above = cells;
    }
}

/// Private-use characters that represent high surrogates.
const HALVES: u32 = 0xf_0000;

fn code_page(page: i32) -> Option<&'static Encoding> {
    let label = match page {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        874 | 1250..=1258 => format!("windows-{page}"),
        10_000 => "macintosh".to_owned(),
        65_001 => "utf-8".to_owned(),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}

/// The code page of a font's set of characters.
fn page_of_set(set: i32) -> i32 {
    match set {
        0 => 1252,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    fn text(rtf: &str) -> String {
        read(rtf.as_bytes()).unwrap().text
    }

    #[test]
    fn text_is_read_without_what_lays_it_out() {
        let rtf = r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}{\colortbl;\red0;}
            {\info{\title Secret}}{\*\generator X;}\f0 Caf\'e9 {\b bold}\par {\f1 \'cf\'f0\'e8} \u8364?5\line
            \v hidden\v0 {\deleted gone}\deleted gone\deleted0 \emdash  end\par}";
        assert_eq!(text(rtf), "Café bold\n\nПри €5\n\n— end");
    }

    #[test]
    fn powers_are_no_longer_numbers() {
        let rtf = r"{\rtf1 3 10{\super 6} litres, 10{\super -3} m{\super 3}, 10\super 1{\b 2}\nosupersub 0, 4{\sub 2}\par}";
        assert_eq!(text(rtf), "3 10^6 litres, 10^-3 m3, 10^120, 4_2");
    }

    #[test]
    fn tables_are_rows() {
        let rtf = r"{\rtf1 Fees\par\trowd\intbl Berth\cell Price\cell\row\intbl short\par stay\cell 5\cell\row\pard After\par}";
        assert_eq!(text(rtf), "Fees\n\n| Berth | Price |\n| short stay | 5 |\n\nAfter");
    }

    #[test]
    fn merged_cells_are_in_each_row() {
        let rtf = r"{\rtf1 \trowd\clvmgf\cellx1\cellx2\intbl Monday\cell 9\cell\row
            \trowd\clvmrg\cellx1\cellx2\intbl\cell 14\cell\row\trowd\cellx1\cellx2\intbl\cell 18\cell\row}";
        assert_eq!(text(rtf), "| Monday | 9 |\n| Monday | 14 |\n|  | 18 |");
    }

    #[test]
    fn characters_of_two_halves_and_two_bytes_are_whole() {
        assert_eq!(text(r"{\rtf1 \uc1\u-10179?\u-8704? \ansicpg932 \'93\'fa}"), "😀 日");
    }

    /// The font of each piece of text once was searched for in the table of fonts: minutes for this file.
    #[test]
    fn the_time_is_linear_in_fonts() {
        let fonts: String =
            (0..200_000).map(|font| format!(r"{{\f{font}\fcharset204 A;}}")).collect();
        let rtf = format!(r"{{\rtf1{{\fonttbl{fonts}}}\f999999 {}}}", "a{}".repeat(500_000));
        assert_eq!(text(&rtf).len(), 500_000);
    }

    #[test]
    fn files_without_text_or_end_are_read_as_far_as_they_go() {
        assert!(read(b"{\\rtf1 }").is_err());
        assert!(read(&b"{".repeat(10_000)).is_err());
        assert_eq!(text(r"{\rtf1 cut \'e"), "cut e");
        assert_eq!(text(r"{\rtf1 a\bin99999999 b"), "a");
    }
}
