//! OpenDocument texts (ODT; OpenDocument 1.3, part 3).

mod hidden;

use std::collections::HashMap;

use super::docx::element::Element;
use super::docx::markdown::{Block, Kind, one_line, render};
use super::docx::package::Package;
use super::docx::table::REPEATED;
use super::script::Script;
use super::{Reading, Unreadable, links, title};
use hidden::{Hidden, hides_itself};

/// The maximum number of repetitions of a cell, and of blanks.
const REPEATS: usize = 63;
/// The deepest level of a heading or an item.
const LEVELS: usize = 6;
/// Elements that are not text of the document.
const OUT: [&str; 8] = [
    "tracked-changes",
    "annotation",
    "annotation-end",
    "sequence-decls",
    "forms",
    "table-of-content",
    "soft-page-break",
    "note-citation",
];

/// Reads an OpenDocument text.
///
/// # Errors
///
/// If the file is protected, damaged, without text, or too large when decompressed.
pub(crate) fn read(bytes: &[u8]) -> Result<Reading, Unreadable> {
    let mut package = Package::open(bytes)?;
    if let Some(manifest) = package.part("META-INF/manifest.xml")?
        && manifest.contains("encryption-data")
    {
        return Err(Unreadable::new(
            "the document is protected by a password; remove it and upload again",
        ));
    }
    let Some(content) = package.part("content.xml")? else {
        return Err(Unreadable::new("the file holds no OpenDocument text"));
    };
    let content = Element::parse(&content)?;
    let named = package.part("styles.xml")?.unwrap_or_default();
    let named = Element::parse(&named)?;
    let styles =
        Styles { hidden: Hidden::of([&named, &content]), scripts: scripts([&named, &content]) };
    let mut story = Story::new(&styles);
    let mut bodies = Vec::new();
    content.find_all("body", &mut bodies);
    bodies.iter().for_each(|body| story.blocks(body));
    let text = render(&story.done);
    if text.trim().is_empty() {
        return Err(Unreadable::new("the document contains no text"));
    }
    let mut stated = None;
    if let Some(meta) = package.part("meta.xml")? {
        let meta = Element::parse(&meta)?;
        let mut titles = Vec::new();
        meta.find_all("title", &mut titles);
        stated = titles.first().map(|title| title.text().collect::<String>());
    }
    Ok(Reading {
        title: stated.and_then(|text| title::of_metadata(&text)),
        text,
        ..Reading::default()
    })
}

/// What the styles say about texts.
struct Styles {
    hidden: Hidden,
    /// The styles of superscripts and subscripts.
    scripts: HashMap<String, Script>,
}

/// The styles of texts that are raised or lowered (OpenDocument 1.3, part 3, 20.402).
fn scripts<'e>(parts: impl IntoIterator<Item = &'e Element<'e>>) -> HashMap<String, Script> {
    let mut styles = Vec::new();
    parts.into_iter().for_each(|part| part.find_all("style", &mut styles));
    let script = |style: &Element<'_>| {
        let position = style.child("text-properties")?.attribute("text-position")?;
        let script = match position.split_whitespace().next()? {
            "super" => Script::Super,
            "sub" => Script::Sub,
            share if share.starts_with('-') => Script::Sub,
            share if share.trim_end_matches('%') != "0" => Script::Super,
            _ => return None,
        };
        Some((style.attribute("name")?.into_owned(), script))
    };
    let of_texts =
        styles.into_iter().filter(|style| style.attribute("family").as_deref() == Some("text"));
    of_texts.filter_map(script).collect()
}

struct Story<'s> {
    styles: &'s Styles,
    done: Vec<Block>,
    /// How many lists enclose the current place.
    lists: usize,
    /// Notes and frames of the current paragraph, which are written after it.
    aside: Vec<Block>,
}

impl<'s> Story<'s> {
    fn new(styles: &'s Styles) -> Self {
        Self { styles, done: Vec::new(), lists: 0, aside: Vec::new() }
    }

    fn blocks(&mut self, container: &Element<'_>) {
        for element in container.elements() {
            match element.name() {
                name if OUT.contains(&name) || self.styles.hidden.hides(element) => {}
                "h" | "p" if hides_itself(element) => {}
                "h" | "p" => self.paragraph(element),
                "list" => {
                    self.lists += 1;
                    self.blocks(element);
                    self.lists -= 1;
                }
                "table" => self.table(element),
                _ => self.blocks(element),
            }
        }
    }

    fn paragraph(&mut self, element: &Element<'_>) {
        let mut line = String::new();
        self.inline(element, &mut line);
        let text = line.trim().to_owned();
        let level =
            element.attribute("outline-level").and_then(|level| level.parse::<usize>().ok());
        if !text.is_empty() {
            let kind = match (element.name(), self.lists) {
                ("h", _) => Kind::Heading(level.unwrap_or(1).clamp(1, LEVELS)),
                (_, 0) => Kind::Paragraph,
                (_, lists) => Kind::Item((lists - 1).min(LEVELS), "-".to_owned()),
            };
            self.done.push(Block { kind, text });
        }
        let aside = std::mem::take(&mut self.aside);
        self.done.extend(aside);
    }

    fn inline(&mut self, element: &Element<'_>, line: &mut String) {
        for part in element.content() {
            let part = match part {
                // White space is collapsed (OpenDocument 1.3, part 3, 6.1.2).
                Err(text) => {
                    for char in text.chars().filter(|char| !matches!(char, '\u{ad}' | '\u{feff}')) {
                        let is_blank = char.is_ascii_whitespace();
                        if !is_blank {
                            line.push(char);
                        } else if !line.ends_with([' ', '\n']) {
                            line.push(' ');
                        }
                    }
                    continue;
                }
                Ok(part) => part,
            };
            match part.name() {
                name if OUT.contains(&name) || self.styles.hidden.hides(part) => {}
                "s" => {
                    let count = part.attribute("c").and_then(|count| count.parse().ok());
                    line.push_str(&" ".repeat(count.unwrap_or(1_usize).min(REPEATS)));
                }
                "tab" => line.push('\t'),
                "line-break" => line.push('\n'),
                "ruby-text" => {}
                "note" | "frame" | "custom-shape" => self.beside(part),
                "a" => {
                    let start = line.len();
                    self.inline(part, line);
                    let text = line.get(start..).unwrap_or_default();
                    let href = part.attribute("href").filter(|_| !text.trim().is_empty());
                    if let Some(address) = href.and_then(|href| links::target_to_show(&href, text))
                    {
                        line.push_str(&format!(" ({address})"));
                    }
                }
                _ => {
                    let start = line.len();
                    self.inline(part, line);
                    let style = part.attribute("style-name").filter(|_| part.name() == "span");
                    let script = style.and_then(|style| self.styles.scripts.get(style.as_ref()));
                    if let Some((before, text)) = line.split_at_checked(start)
                        && let Some(script) = script
                    {
                        line.insert_str(start, script.mark(before, text));
                    }
                }
            }
        }
    }

    /// Text outside a paragraph: notes, boxes, descriptions of pictures.
    fn beside(&mut self, element: &Element<'_>) {
        let mut inner = Self::new(self.styles);
        inner.blocks(element);
        let mut described = Vec::new();
        element.find_all("desc", &mut described);
        let texts = described.iter().map(|text| one_line(&text.text().collect::<String>()));
        let texts = texts.filter(|text| text.contains(' '));
        inner.done.extend(texts.map(|text| Block { kind: Kind::Paragraph, text }));
        self.aside.append(&mut inner.done);
    }

    fn table(&mut self, table: &Element<'_>) {
        let mut rows = Vec::new();
        self.rows(table, Kind::Row, &mut Vec::new(), &mut rows);
        for (kind, cells) in rows {
            let block = match cells.len() > 1 {
                true => Block { kind, text: format!("| {} |", cells.join(" | ")) },
                false => Block { kind: Kind::Paragraph, text: cells.concat() },
            };
            self.done.push(block);
        }
    }

    /// Reads rows. `hanging` has, for each column, the number of further rows that its cell spans, and the cell's text.
    fn rows(
        &mut self,
        container: &Element<'_>,
        kind: Kind,
        hanging: &mut Vec<(usize, String)>,
        rows: &mut Vec<(Kind, Vec<String>)>,
    ) {
        for element in container.elements() {
            match element.name() {
                "table-row" => {
                    let mut cells = Vec::new();
                    let mut has_own = false;
                    for cell in element.elements() {
                        let repeated = cell.attribute("number-columns-repeated");
                        let repeated = repeated.and_then(|count| count.parse().ok()).unwrap_or(1);
                        let repeated = repeated.min(REPEATS);
                        match cell.name() {
                            "table-cell" => {
                                let text = self.cell_text(cell);
                                has_own |= !text.is_empty();
                                hang(hanging, cells.len(), cell, &text);
                                let count = if text.is_empty() { repeated } else { 1 };
                                cells.extend(std::iter::repeat_n(text, count));
                            }
                            "covered-table-cell" => {
                                // Only the first of the columns that a cell spans has its text.
                                for _ in 0..repeated {
                                    cells.push(hung(hanging, cells.len()));
                                }
                            }
                            _ => {}
                        }
                    }
                    while cells.len() > 1 && cells.last().is_some_and(String::is_empty) {
                        cells.pop();
                    }
                    if has_own {
                        rows.push((kind.clone(), cells));
                    }
                }
                "table-header-rows" => self.rows(element, Kind::Header, hanging, rows),
                "table-rows" | "table-row-group" => {
                    self.rows(element, kind.clone(), hanging, rows);
                }
                _ => {}
            }
        }
    }

    /// The content of a cell in one line.
    fn cell_text(&self, cell: &Element<'_>) -> String {
        let mut inner = Self::new(self.styles);
        inner.blocks(cell);
        let texts: Vec<String> = inner.done.iter().map(|block| one_line(&block.text)).collect();
        texts.join(" ").replace('|', "\\|")
    }
}

/// Notes that a cell at a column spans further rows, if its text is short enough to be repeated.
fn hang(hanging: &mut Vec<(usize, String)>, column: usize, cell: &Element<'_>, text: &str) {
    let rows = cell.attribute("number-rows-spanned").and_then(|count| count.parse().ok());
    let further = rows.unwrap_or(1_usize).saturating_sub(1);
    if hanging.len() <= column {
        hanging.resize(column + 1, (0, String::new()));
    }
    if let Some(slot) = hanging.get_mut(column) {
        *slot = (further, if text.len() <= REPEATED { text.to_owned() } else { String::new() });
    }
}

/// The text of the cell that spans into a column from above.
fn hung(hanging: &mut [(usize, String)], column: usize) -> String {
    match hanging.get_mut(column) {
        Some((further, text)) if *further > 0 => {
            *further -= 1;
            text.clone()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::read;

    /// The text of a document with these styles and this body.
    fn text(styles: &str, body: &str) -> String {
        let content = format!(
            "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles>\
             <office:body><office:text>{body}</office:text></office:body></office:document-content>"
        );
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("content.xml", SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
        read(&writer.finish().unwrap().into_inner()).unwrap().text
    }

    #[test]
    fn powers_are_no_longer_numbers() {
        let style = |name: &str, position: &str| {
            format!(
                "<style:style style:name=\"{name}\" style:family=\"text\"><style:text-properties style:text-position=\"{position}\"/></style:style>"
            )
        };
        let styles = [
            style("a", "super 58%"),
            style("b", "33% 58%"),
            style("c", "-9%"),
            style("d", "0% 100%"),
        ];
        let body = r#"<text:p>3·10<text:span text:style-name="a">6</text:span> litres,
            10<text:span text:style-name="b">-3</text:span>, 4<text:span text:style-name="c">2</text:span>,
            1<text:span text:style-name="d">2</text:span></text:p>"#;
        assert_eq!(text(&styles.concat(), body), "3·10^6 litres, 10^-3, 4_2, 12");
    }

    #[test]
    fn merged_cells_are_in_each_row_and_declared_headers_are_marked() {
        let cell = |attributes: &str, text: &str| {
            format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
        };
        let row =
            |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
        let covered = || "<table:covered-table-cell/>".to_owned();
        let table = [
            format!(
                "<table:table-header-rows>{}</table:table-header-rows>",
                row(&[cell("", "Day"), cell("", "From"), cell("", "To")])
            ),
            row(&[
                cell("table:number-rows-spanned=\"2\"", "Monday"),
                cell("", "9"),
                cell("", "12"),
            ]),
            row(&[covered(), cell("", "14"), cell("", "18")]),
            row(&[
                cell("", "Sunday"),
                cell("table:number-columns-spanned=\"2\"", "closed"),
                covered(),
            ]),
        ];
        let table = format!("<table:table>{}</table:table>", table.concat());
        let expected = "| Day | From | To |\n| --- | --- | --- |\n| Monday | 9 | 12 |\n| Monday | 14 | 18 |\n| Sunday | closed |";
        assert_eq!(text("", &table), expected);

        let both = "table:number-rows-spanned=\"2\" table:number-columns-spanned=\"2\"";
        let repeated = "<table:covered-table-cell table:number-columns-repeated=\"2\"/>".to_owned();
        let table = [
            row(&[cell(both, "Monday hall"), covered(), cell("", "5")]),
            row(&[repeated, cell("", "7")]),
        ];
        let table = format!("<table:table>{}</table:table>", table.concat());
        assert_eq!(text("", &table), "| Monday hall |  | 5 |\n| Monday hall |  | 7 |");
    }
}
