//! The units of a passage: sentences, list items, table rows, code, headings.
//!
//! Sources are plain text as often as Markdown. So the marks of Markdown are recognised, and everything
//! else is prose.

use std::ops::Range;

use cicerone_language::sentences;

/// What a sentence ends with.
pub(super) const STOPS: [char; 8] = ['.', '!', '?', '。', '！', '？', '।', '؟'];
/// Longest heading of plain text, in characters.
const HEADING_CHARS: usize = 60;
/// As many lines in a row that look like headings of plain text are a list without marks, whose last line is a heading only if it
/// has fewer words than a statement.
const LISTED_LINES: usize = 3;
const STATEMENT_WORDS: usize = 3;

/// A piece of a passage that is quoted as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) kind: Kind,
    /// The byte range in the passage.
    pub(super) range: Range<usize>,
    /// The paragraph, list or table that it belongs to.
    pub(super) block: usize,
}

/// The kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Heading,
    /// A sentence of a paragraph.
    Sentence,
    /// An item of a list.
    Item {
        /// Whether the list is numbered.
        is_ordered: bool,
    },
    /// The header of a table.
    Header,
    /// Another row of a table.
    Row,
    /// A block of code, with its fences.
    Code,
}

/// The shortest fence of a block of code, in characters.
const FENCE_CHARS: usize = 3;
/// The longest sentence, in bytes, that is continued because code in it is not closed.
const CODE_BYTES: usize = 600;

/// The units of a passage, in order.
pub(super) fn of(text: &str) -> Vec<Unit> {
    let mut reader = Reader { text, units: Vec::new(), block: 0, open: None };
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    let mut fence: Option<(usize, &str)> = None;
    while let Some(line) = lines.next() {
        let range = at..at + line.trim_end().len();
        at += line.len();
        let trimmed = line.trim();
        match fence {
            Some((start, mark)) => {
                if trimmed.starts_with(mark) || lines.peek().is_none() {
                    reader.push(Kind::Code, start..range.end);
                    fence = None;
                }
            }
            None => match fence_of(trimmed) {
                Some(mark) if lines.peek().is_some() => {
                    reader.close();
                    fence = Some((range.start, mark));
                }
                _ => {
                    let below = lines.clone().find(|line| !line.trim().is_empty());
                    reader.line(range, trimmed, lines.peek().map(|next| next.trim()), below);
                }
            },
        }
    }
    reader.close();
    mark_headings(&mut reader.units, text);
    reader.units
}

/// Reads lines into units.
struct Reader<'a> {
    text: &'a str,
    units: Vec<Unit>,
    block: usize,
    /// The current paragraph, list or table.
    open: Option<Open>,
}

enum Open {
    Paragraph(Range<usize>),
    List,
    Table,
}

impl Reader<'_> {
    /// Reads a line. `next` is the following line, `below` the next one that is not blank.
    fn line(&mut self, range: Range<usize>, line: &str, next: Option<&str>, below: Option<&str>) {
        let is_underline = |line: &str| is_rule(line) && !line.contains(['*', '_']);
        if line.is_empty() {
            // A blank line within a list does not end it.
            if !matches!(self.open, Some(Open::List) if next.is_some_and(|n| item(n).is_some())) {
                self.close();
            }
        } else if is_separator(line) && matches!(self.open, Some(Open::Table)) {
            // A line between the header and the rows.
        } else if is_rule(line) || is_separator(line) || is_decoration(line) {
            self.close();
        } else if is_heading(line) || next.is_some_and(is_underline) && self.is_title(line) {
            self.close();
            self.push(Kind::Heading, range);
        } else if is_row(line) {
            self.keep(|open| matches!(open, Open::Table), || Open::Table);
            let kind = if next.is_some_and(is_separator) { Kind::Header } else { Kind::Row };
            self.add(kind, range);
        } else if self.is_numbered_title(line, next, below) {
            self.close();
            self.push(Kind::Heading, range);
        } else if let Some(is_ordered) = item(line) {
            self.keep(|open| matches!(open, Open::List), || Open::List);
            self.add(Kind::Item { is_ordered }, range);
        } else {
            self.prose(range);
        }
    }

    /// Whether a line above an underline is a heading. Otherwise the underline is a divider below a sentence or list.
    fn is_title(&self, line: &str) -> bool {
        let is_short = line.chars().nth(HEADING_CHARS).is_none();
        let is_item = match item(line) {
            Some(is_ordered) => !is_ordered || matches!(self.open, Some(Open::List)),
            None => false,
        };
        is_short && !is_item && !is_row(line) && !line.ends_with(['.', '。', '।'])
    }

    /// Whether a numbered item is the heading of a section: short, without a full stop, above prose
    /// that does not belong to the item.
    fn is_numbered_title(&self, line: &str, next: Option<&str>, below: Option<&str>) -> bool {
        let is_prose = |line: &str| {
            let begins =
                line.chars().next().is_some_and(|c| c.is_alphanumeric() && !c.is_lowercase());
            begins && item(line).is_none() && !is_row(line)
        };
        let ends =
            |line: &str| line.ends_with(['.', '!', '?', ':', ';', ',', '。', '！', '？', '：']);
        let is_title =
            item(line) == Some(true) && line.chars().nth(HEADING_CHARS).is_none() && !ends(line);
        match next {
            Some("") | None => {
                // The last step of a list is followed by text, too.
                is_title && !matches!(self.open, Some(Open::List)) && below.is_some_and(is_prose)
            }
            Some(next) => is_title && is_prose(next),
        }
    }

    /// Adds a line of prose to the current item or paragraph, or begins a paragraph.
    fn prose(&mut self, range: Range<usize>) {
        match (&mut self.open, self.units.last_mut()) {
            (Some(Open::Paragraph(paragraph)), _) => paragraph.end = range.end,
            (Some(Open::List), Some(item)) => item.range.end = range.end,
            _ => {
                self.close();
                self.open = Some(Open::Paragraph(range));
            }
        }
    }

    /// Continues the current block if it `fits`, otherwise begins another.
    fn keep(&mut self, fits: impl Fn(&Open) -> bool, another: impl Fn() -> Open) {
        if !self.open.as_ref().is_some_and(fits) {
            self.close();
            self.open = Some(another());
        }
    }

    /// Ends the current block.
    fn close(&mut self) {
        if let Some(Open::Paragraph(paragraph)) = self.open.take() {
            let prose = self.text.get(paragraph.clone()).unwrap_or_default();
            let mut start = None;
            for sentence in sentences(prose) {
                let from = *start.get_or_insert(sentence.start);
                let text = prose.get(from..sentence.end).unwrap_or_default();
                // A full stop within code ends no sentence.
                let rest = prose.get(sentence.end..).unwrap_or_default();
                if is_open(text, rest) && text.len() < CODE_BYTES {
                    continue;
                }
                start = None;
                self.add(Kind::Sentence, paragraph.start + from..paragraph.start + sentence.end);
            }
            if let Some(from) = start {
                self.add(Kind::Sentence, paragraph.start + from..paragraph.end);
            }
        }
        self.block += 1;
    }

    /// Adds a unit that forms a block by itself.
    fn push(&mut self, kind: Kind, range: Range<usize>) {
        self.add(kind, range);
        self.block += 1;
    }

    fn add(&mut self, kind: Kind, range: Range<usize>) {
        self.units.push(Unit { kind, range, block: self.block });
    }
}

/// The marks with which a line begins a block of code, all of them: it ends at as many, and fewer within it are part of it. `None` for
/// other lines.
pub(super) fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let fence = line.get(..line.len() - line.trim_start_matches(mark).len())?;
    (fence.len() >= FENCE_CHARS).then_some(fence)
}

/// Whether code begins in a text and ends in the rest of its paragraph. The mark of code is at the beginning of a word; one that
/// begins a quotation, as in `this', or stands for another letter, marks no code.
fn is_open(text: &str, rest: &str) -> bool {
    let (true, Some((before, after))) = (text.matches('`').count() % 2 == 1, text.rsplit_once('`'))
    else {
        return false;
    };
    let begins = before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
    let near = rest.get(..rest.floor_char_boundary(CODE_BYTES)).unwrap_or(rest);
    begins && !after.contains('\'') && near.contains('`')
}

/// Whether a line is an item of a list, and of a numbered one.
fn item(line: &str) -> Option<bool> {
    let (marker, rest) = line.split_once([' ', '\t'])?;
    if rest.trim().is_empty() {
        return None;
    }
    if matches!(marker, "-" | "*" | "+" | "•" | "–" | "◦" | "▪" | "·") {
        return Some(false);
    }
    let number = marker.strip_suffix(['.', ')'])?.trim_start_matches('(');
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some(true)
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ')
}

/// `---`, `***`, `===`.
fn is_rule(line: &str) -> bool {
    let mark = line.chars().next().filter(|mark| "-*_=".contains(*mark));
    mark.is_some_and(|mark| {
        line.matches(mark).count() >= 3 && line.chars().all(|c| c == mark || c == ' ')
    })
}

fn is_row(line: &str) -> bool {
    line.contains('\t') || line.starts_with('|') || line.matches(" | ").count() >= 2
}

/// `| --- | :-: |`
fn is_separator(line: &str) -> bool {
    line.contains("--") && line.contains('|') && line.chars().all(|c| "|-: \t".contains(c))
}

/// Pictures, badges and markup alone on a line.
fn is_decoration(line: &str) -> bool {
    line.starts_with("[![")
        || (line.starts_with("![") && line.ends_with(')'))
        || (line.starts_with('<') && line.ends_with('>') && !line.contains("://"))
}

/// Short lines of prose without a full stop, followed by more prose, are headings too. Of several in a row, all say something
/// themselves, except that a last one of few words is the heading of what follows.
fn mark_headings(units: &mut [Unit], text: &str) {
    let is_title = |unit: &Unit| {
        let line = text.get(unit.range.clone()).unwrap_or_default();
        unit.kind == Kind::Sentence
            && line.chars().nth(HEADING_CHARS).is_none()
            && !(line.starts_with('`') && line.ends_with('`'))
            && !line
                .trim_end_matches(['”', '’', '“', '»', '«', '」', '』', '）', ']', '*', '_'])
                .ends_with(['.', '!', '?', ':', '。', '！', '？', '।', '؟', '：', '"', ')', '…'])
            && !line.contains(|c: char| c.is_numeric() || c == ':' || c == '：' || c == '=')
    };
    let has_few_words = |unit: &Unit| {
        let line = text.get(unit.range.clone()).unwrap_or_default();
        line.split_whitespace().nth(STATEMENT_WORDS - 1).is_none()
    };
    let mut rest = units;
    while !rest.is_empty() {
        let titles = rest.iter().take_while(|unit| is_title(unit)).count();
        let (run, below) = rest.split_at_mut(titles);
        for (index, unit) in run.iter_mut().enumerate() {
            let is_last = index + 1 == titles;
            // The last unit of a passage has nothing below it.
            let is_above = !is_last || !below.is_empty();
            if is_above && (titles < LISTED_LINES || is_last && has_few_words(unit)) {
                unit.kind = Kind::Heading;
            }
        }
        rest = below.get_mut(1..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, of};

    fn units(text: &str) -> Vec<(Kind, &str, usize)> {
        of(text).into_iter().map(|unit| (unit.kind, &text[unit.range], unit.block)).collect()
    }

    fn kinds(text: &str) -> Vec<(Kind, &str)> {
        units(text).into_iter().map(|(kind, text, _)| (kind, text)).collect()
    }

    #[test]
    fn prose_becomes_sentences_of_paragraphs() {
        let units = units("One is here. Two is\nthere too.\n\nThree is elsewhere.");
        let blocks: Vec<usize> = units.iter().map(|(.., block)| *block).collect();
        let texts: Vec<&str> = units.iter().map(|(_, text, _)| *text).collect();
        assert_eq!(texts, ["One is here.", "Two is\nthere too.", "Three is elsewhere."]);
        assert!(blocks[0] == blocks[1] && blocks[1] != blocks[2], "{blocks:?}");
    }

    #[test]
    fn only_marks_of_code_join_sentences() {
        let count = |text: &str| units(text).len();
        assert_eq!(count("Write `pier open. Always. ` there. Then go."), 2);
        assert_eq!(count("La citta` e bella. Il prezzo basso. Si paga qui."), 3);
        assert_eq!(count("Write `pier open. Always there. Then go."), 3);
        assert_eq!(count("Write `pier' here. Always `there'. Then go."), 3);
    }

    #[test]
    fn markdown_is_told_apart() {
        let text = "# Title\n[![badge](x)](y)\n\nIntro:\n- a\n\n- b\n  more b\n\n1. one\n2) two\n\n---\n\
                    ```sh\ncargo run\n\nls\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        let (item, step) = (Kind::Item { is_ordered: false }, Kind::Item { is_ordered: true });
        assert_eq!(
            kinds(text),
            [
                (Kind::Heading, "# Title"),
                (Kind::Sentence, "Intro:"),
                (item, "- a"),
                (item, "- b\n  more b"),
                (step, "1. one"),
                (step, "2) two"),
                (Kind::Code, "```sh\ncargo run\n\nls\n```"),
                (Kind::Header, "| a | b |"),
                (Kind::Row, "| 1 | 2 |"),
            ]
        );
    }

    #[test]
    fn code_ends_at_a_fence_of_the_same_length() {
        let code = "````md\n```sh\nls\n```\nmoor\n````";
        assert_eq!(
            kinds(&format!("{code}\nThe end.")),
            [(Kind::Code, code), (Kind::Sentence, "The end.")]
        );
        assert_eq!(kinds("~~~\nls\n~~~~\nThe end.")[0], (Kind::Code, "~~~\nls\n~~~~"));
    }

    #[test]
    fn numbered_titles_are_told_from_numbered_items() {
        let step = Kind::Item { is_ordered: true };
        for text in [
            "1. Refunds\nRefunds are paid late.\n\n2. Shipping\nShipping is slow.",
            "1. Refunds\n\nRefunds are paid late.\n\n2. Shipping\n\nShipping is slow.",
        ] {
            let titles = [(Kind::Heading, "1. Refunds"), (Kind::Heading, "2. Shipping")];
            let read = kinds(text);
            assert_eq!([read[0], read[2]], titles, "{read:?}");
            assert_eq!(read[1], (Kind::Sentence, "Refunds are paid late."));
        }
        assert_eq!(
            kinds("1. Open the app\nand wait.\n2. Press start\n3. Wait\n\nThen it runs."),
            [
                (step, "1. Open the app\nand wait."),
                (step, "2. Press start"),
                (step, "3. Wait"),
                (Kind::Sentence, "Then it runs."),
            ]
        );
    }

    #[test]
    fn a_divider_makes_no_heading_of_a_sentence_or_item() {
        let (item, step) = (Kind::Item { is_ordered: false }, Kind::Item { is_ordered: true });
        for (text, kind) in [
            ("Harbour\n---\n", Kind::Heading),
            ("1. Harbour\n===\n", Kind::Heading),
            ("It opens at nine.\n---\n", Kind::Sentence),
            ("- Quays\n---\n", item),
            ("1. Moor\n2. Pay\n---\n", step),
        ] {
            assert_eq!(kinds(text).last().map(|(kind, _)| *kind), Some(kind), "{text}");
        }
        let long = format!("{}\n---\nThe end.", "quays and ".repeat(10));
        assert_eq!(kinds(&long)[0].0, Kind::Sentence);
    }

    #[test]
    fn short_lines_before_prose_are_headings_but_values_are_not() {
        let text = "Opening hours\nWe open at nine.\n\nPrice: 3 euros\n\nThe end";
        assert_eq!(
            kinds(text),
            [
                (Kind::Heading, "Opening hours"),
                (Kind::Sentence, "We open at nine."),
                (Kind::Sentence, "Price: 3 euros"),
                (Kind::Sentence, "The end"),
            ]
        );
    }

    #[test]
    fn several_lines_in_a_row_are_no_headings_but_say_something() {
        let text =
            "Free parking\n\nDogs are welcome\n\nBreakfast from seven to ten\n\nSee you soon.";
        assert!(kinds(text).iter().all(|(kind, _)| *kind == Kind::Sentence));
        let text = "Free parking\n\nDogs are welcome\n\nBreakfast from seven";
        assert!(kinds(text).iter().all(|(kind, _)| *kind == Kind::Sentence));
        let text = "Free parking\n\nDogs are welcome\n\nOpening hours\n\nWe open at nine.";
        assert_eq!(kinds(text)[2], (Kind::Heading, "Opening hours"));
        let text = "Guide to the harbour\n\nOpening hours\n\nWe open at nine.";
        let titles = [(Kind::Heading, "Guide to the harbour"), (Kind::Heading, "Opening hours")];
        assert_eq!(kinds(text)[..2], titles);
    }

    #[test]
    fn any_text_has_units_within_its_bounds_and_in_order() {
        for text in [
            "", "\n", "```", "```\n", "```\na", "|", "-", "- \n1.", "#", "\t", "===\n", "a\n---",
            "`a. B", "a`. B `c",
        ] {
            let mut end = 0;
            for unit in of(text) {
                assert!(
                    text.get(unit.range.clone()).is_some_and(|unit| !unit.is_empty()),
                    "{text}"
                );
                assert!(unit.range.start >= end);
                end = unit.range.end;
            }
        }
    }
}
