//! Inline content: runs, breaks, symbols, fields, notes, formulas, pictures.

use super::element::Element;
use super::markdown::Block;
use super::paragraph::Story;
use super::symbol;
use crate::extract::links;
use crate::extract::script::Script;

/// Elements whose content is not text of the document.
const OUT: [&str; 14] = [
    "pPr", "rPr", "sdtPr", "del", "moveFrom", "delText", "rt", "rubyPr", "trPr", "tcPr", "ctrlPr",
    "fPr", "naryPr", "ffData",
];

/// The text of a paragraph while it is read.
#[derive(Debug, Default)]
pub(super) struct Line<'s> {
    pub(super) text: String,
    /// The content of its text boxes.
    pub(super) boxes: Vec<Block>,
    /// The notes that it refers to.
    pub(super) notes: Vec<&'s Element<'s>>,
    /// Whether it is in a hidden run.
    is_hidden: bool,
    /// Where the last superscript or subscript ends: it may consist of several runs.
    script_end: usize,
}

impl<'s> Story<'s> {
    /// Reads the content of `element` into `line`.
    pub(super) fn inline(&mut self, element: &Element<'_>, line: &mut Line<'s>) {
        for part in element.elements() {
            match part.name() {
                name if OUT.contains(&name) => {}
                "r" => self.run(part, line),
                "t" => part.text().for_each(|text| self.put(line, text)),
                "tab" | "ptab" => self.put(line, "\t"),
                "br" | "cr" => self.put(line, "\n"),
                "noBreakHyphen" => self.put(line, "-"),
                "sym" => self.symbol(part, line),
                "fldChar" => self.fields.mark(&part.attribute("fldCharType").unwrap_or_default()),
                "instrText" => part.text().for_each(|code| self.fields.code(code)),
                "fldSimple" => {
                    self.fields.simple(&part.attribute("instr").unwrap_or_default());
                    self.inline(part, line);
                    self.fields.mark("end");
                }
                "footnoteReference" | "endnoteReference" => {
                    line.notes.extend(self.notes.referred(part));
                }
                "txbxContent" => {
                    let boxed = self.blocks(part);
                    line.boxes.extend(boxed);
                }
                "hyperlink" => self.link(part, line),
                "relIds" | "chart" => line.boxes.extend(self.drawings.shown(part)),
                "docPr" => self.picture(part, line),
                "AlternateContent" => {
                    if let Some(chosen) = alternative(part) {
                        self.inline(chosen, line);
                    }
                }
                "den" => self.marked("/", part, line),
                "sup" => self.marked("^", part, line),
                "sub" => self.marked("_", part, line),
                "sdt" if is_placeholder(part) => {}
                _ => self.inline(part, line),
            }
        }
    }

    fn run(&mut self, run: &Element<'_>, line: &mut Line<'s>) {
        let properties = run.child("rPr");
        let hidden = properties.is_some_and(|properties| properties.is_on("vanish"));
        let outside = line.is_hidden;
        line.is_hidden |= hidden;
        let start = line.text.len();
        self.inline(run, line);
        line.is_hidden = outside;
        let script =
            match properties.and_then(|properties| properties.value("vertAlign")).as_deref() {
                Some("superscript") => Script::Super,
                Some("subscript") => Script::Sub,
                _ => return,
            };
        if let Some((before, text)) = line.text.split_at_checked(start)
            && start != line.script_end
        {
            line.text.insert_str(start, script.mark(before, text));
        }
        line.script_end = line.text.len();
    }

    fn put(&self, line: &mut Line<'_>, text: &str) {
        if !line.is_hidden && self.fields.show() {
            line.text.extend(text.chars().filter_map(plain));
        }
    }

    fn symbol(&self, part: &Element<'_>, line: &mut Line<'_>) {
        let font = part.attribute("font").unwrap_or_default();
        let code = part.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
        if let Some(char) = code.and_then(|code| symbol::character(&font, code)) {
            self.put(line, char.encode_utf8(&mut [0; 4]));
        }
    }

    /// A link, with its address if the text does not show it.
    fn link(&mut self, part: &Element<'_>, line: &mut Line<'s>) {
        let start = line.text.len();
        self.inline(part, line);
        let text = line.text.get(start..).unwrap_or_default();
        let address =
            self.drawings.address(part).and_then(|address| links::target_to_show(address, text));
        if let Some(address) = address.filter(|_| !text.trim().is_empty()) {
            self.put(line, &format!(" ({address})"));
        }
    }

    /// The description of a picture, if there is one.
    fn picture(&self, part: &Element<'_>, line: &mut Line<'_>) {
        let Some(text) = part.attribute("descr") else { return };
        let is_file_name = !text.trim().contains(' ') && text.contains('.');
        if !text.trim().is_empty() && !is_file_name {
            let apart = |line: &Line<'_>| line.text.ends_with(|char: char| !char.is_whitespace());
            if apart(line) {
                self.put(line, " ");
            }
            self.put(line, text.trim());
            self.put(line, " ");
        }
    }

    /// A part of a formula after an operator, if it is not empty.
    fn marked(&mut self, mark: &str, part: &Element<'_>, line: &mut Line<'s>) {
        let before = line.text.len();
        self.put(line, mark);
        let marked = line.text.len();
        self.inline(part, line);
        if line.text.len() == marked {
            line.text.truncate(before);
        }
    }
}

/// The newest of alternative versions of a content, only one of which is shown (ECMA-376, part 3, 10.2).
pub(super) fn alternative<'e, 'a>(element: &'e Element<'a>) -> Option<&'e Element<'a>> {
    element.child("Choice").or_else(|| element.child("Fallback"))
}

/// Whether a content control shows only what to enter there.
///
/// Programs that fill in forms often do not remove that marker. If the control names its placeholder, the placeholder's
/// text has a style; text without a style was filled in.
pub(super) fn is_placeholder(control: &Element<'_>) -> bool {
    let Some(properties) = control.child("sdtPr").filter(|sign| sign.is_on("showingPlcHdr")) else {
        return false;
    };
    let mut runs = Vec::new();
    control.find_all("r", &mut runs);
    let is_styled = |run: &&Element<'_>| {
        run.child("rPr").is_some_and(|properties| properties.child("rStyle").is_some())
    };
    let names_placeholder = properties.child("placeholder").is_some();
    !names_placeholder || runs.is_empty() || runs.iter().any(is_styled)
}

/// The normalised character; `None` for those that only affect typesetting.
fn plain(char: char) -> Option<char> {
    match char {
        '\u{a0}' => Some(' '),
        '\u{2011}' => Some('-'),
        '\u{ad}' | '\u{feff}' => None,
        '\u{f020}'..='\u{f0ff}' => symbol::character("Symbol", u32::from(char)),
        char if char.is_control() && !matches!(char, '\t' | '\n') => None,
        char => Some(char),
    }
}
