//! The blocks of a text in Markdown or plain text: headings, paragraphs, lists, tables and code.

use std::ops::Range;

use cicerone_domain::content::cut_title;

/// The longest line of plain text that can be a heading, in characters.
const TITLE_LINE_CHARS: usize = 80;

/// A run of lines that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Its bytes, from the start of its first line to the end of its last, without the line end.
    pub(super) range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A heading; level 1 is the outermost.
    Heading {
        level: u8,
        title: String,
    },
    Paragraph,
    /// Items, with what is indented under them.
    List,
    /// Lines that begin with `|`.
    Table,
    /// Code between fences.
    Code,
}

/// The blocks of `text` in order. Blank lines and thematic breaks belong to none.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut scanner = Scanner::new(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        scanner.line(body, start..start + body.len());
        start += line.len();
    }
    scanner.finish();
    let mut blocks = scanner.done;
    if !blocks.iter().any(|block| matches!(block.kind, Kind::Heading { .. })) {
        find_plain_headings(text, &mut blocks);
    }
    blocks
}

struct Scanner<'a> {
    text: &'a str,
    done: Vec<Block>,
    current: Option<Block>,
    /// The marks that close the open code.
    fence: Option<String>,
    /// Whether the line before was blank.
    after_blank: bool,
    /// Lines of the current block.
    lines: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, done: Vec::new(), current: None, fence: None, after_blank: false, lines: 0 }
    }

    fn line(&mut self, line: &str, range: Range<usize>) {
        let body = line.trim_start();
        if let Some(fence) = &self.fence {
            let closes = body.starts_with(fence.as_str());
            self.extend(range);
            if closes {
                self.fence = None;
                self.finish();
            }
            return;
        }
        if body.is_empty() {
            // A list may continue after a blank line.
            if !self.is_in(&Kind::List) {
                self.finish();
            }
            self.after_blank = true;
            return;
        }
        if let Some(fence) = opening_fence(body) {
            self.begin(Kind::Code, range);
            self.fence = Some(fence);
        } else if let Some((level, title)) = atx_heading(body) {
            self.begin(Kind::Heading { level, title }, range);
            self.finish();
        } else if let Some(level) = self.underline_of(body) {
            self.underline(level, range);
        } else if is_thematic_break(body) {
            self.finish();
        } else {
            self.text_line(line, body, range);
        }
        self.after_blank = false;
    }

    /// A line that is neither blank nor a mark.
    fn text_line(&mut self, line: &str, body: &str, range: Range<usize>) {
        let indented = line.len() > body.len();
        if is_list_item(body) {
            if self.is_in(&Kind::List) { self.extend(range) } else { self.begin(Kind::List, range) }
        } else if self.is_in(&Kind::List) && (indented || !self.after_blank) {
            self.extend(range);
        } else if body.starts_with('|') {
            if self.is_in(&Kind::Table) {
                self.extend(range)
            } else {
                self.begin(Kind::Table, range)
            }
        } else if self.is_in(&Kind::Paragraph) {
            self.extend(range);
        } else {
            self.begin(Kind::Paragraph, range);
        }
    }

    fn is_in(&self, kind: &Kind) -> bool {
        self.current.as_ref().is_some_and(|block| block.kind == *kind)
    }

    fn begin(&mut self, kind: Kind, range: Range<usize>) {
        self.finish();
        self.current = Some(Block { kind, range });
        self.lines = 1;
    }

    fn extend(&mut self, range: Range<usize>) {
        if let Some(block) = &mut self.current {
            block.range.end = range.end;
            self.lines += 1;
        }
    }

    fn finish(&mut self) {
        self.done.extend(self.current.take());
        self.lines = 0;
    }

    /// The level of the heading that this line makes of the previous one (CommonMark 4.3), which must contain more than
    /// markers.
    fn underline_of(&self, body: &str) -> Option<u8> {
        let under_one_line = self.is_in(&Kind::Paragraph) && self.lines == 1;
        let all = |mark: char| body.len() >= 2 && body.chars().all(|char| char == mark);
        let level = match under_one_line {
            true if all('=') => 1,
            true if all('-') => 2,
            true | false => return None,
        };
        (!self.title().is_empty()).then_some(level)
    }

    /// The text of the open block, as a title.
    fn title(&self) -> String {
        let range = self.current.as_ref().map(|block| block.range.clone()).unwrap_or_default();
        plain(self.text.get(range).unwrap_or_default())
    }

    /// Makes the previous line a heading.
    fn underline(&mut self, level: u8, range: Range<usize>) {
        let title = self.title();
        if let Some(block) = &mut self.current {
            block.kind = Kind::Heading { level, title };
            block.range.end = range.end;
        }
        self.finish();
    }
}

/// The fence that a line opens code with: at least three backticks or tildes.
fn opening_fence(body: &str) -> Option<String> {
    let mark = body.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = body.chars().take_while(|char| *char == mark).count();
    // An inline span such as ```x``` does not open a fence.
    let opens = length >= 3 && (mark == '~' || !body.get(length..)?.contains('`'));
    opens.then(|| mark.to_string().repeat(length))
}

/// The level and title of a heading written with `#` (CommonMark 4.2).
fn atx_heading(body: &str) -> Option<(u8, String)> {
    let level = body.bytes().take_while(|byte| *byte == b'#').count();
    let rest = body.get(level..)?;
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    let title = plain(rest.trim().trim_end_matches('#'));
    (is_heading && !title.is_empty()).then_some((u8::try_from(level).ok()?, title))
}

/// A title without the markers of emphasis and code, cut if it is too long.
fn plain(title: &str) -> String {
    cut_title(title.replace(['*', '`'], "").trim()).into_owned()
}

fn is_thematic_break(body: &str) -> bool {
    let marks = body.chars().filter(|char| !char.is_whitespace());
    let mut marks = marks.peekable();
    let Some(first) = marks.peek().copied() else { return false };
    matches!(first, '-' | '*' | '_' | '=')
        && marks.clone().count() >= 3
        && marks.all(|char| char == first)
}

/// Whether a line begins an item: a bullet, or a number of up to three digits.
fn is_list_item(body: &str) -> bool {
    let mut chars = body.chars();
    match chars.next() {
        Some('-' | '*' | '+' | '•' | '–') => chars.next().is_some_and(char::is_whitespace),
        Some(first) if first.is_ascii_digit() => {
            let rest = body.trim_start_matches(|char: char| char.is_ascii_digit());
            let digits = body.len() - rest.len();
            digits <= 3 && (rest.starts_with(". ") || rest.starts_with(") "))
        }
        Some(_) | None => false,
    }
}

/// Finds a plain text's headings: short separate lines above longer text.
fn find_plain_headings(text: &str, blocks: &mut [Block]) {
    let line = |block: &Block| {
        let line = text.get(block.range.clone()).map(str::trim).unwrap_or_default();
        (block.kind == Kind::Paragraph && looks_like_title(line)).then(|| line.to_owned())
    };
    let titles: Vec<Option<String>> = blocks.iter().map(line).collect();
    // If every other block looks like a title, none is one: names, verses, a transcript.
    if titles.iter().flatten().count() * 2 > blocks.len() {
        return;
    }
    let longer_follows: Vec<bool> = blocks
        .iter()
        .zip(blocks.iter().skip(1))
        .map(|(block, next)| next.range.len() > block.range.len())
        .collect();
    for ((block, title), longer) in blocks.iter_mut().zip(titles).zip(longer_follows) {
        if let (Some(title), true) = (title, longer) {
            block.kind = Kind::Heading { level: 1, title };
        }
    }
}

fn looks_like_title(line: &str) -> bool {
    let (Some(first), Some(last)) = (line.chars().next(), line.chars().next_back()) else {
        return false;
    };
    !line.contains('\n')
        && line.chars().nth(TITLE_LINE_CHARS).is_none()
        && (first.is_numeric() || (first.is_alphabetic() && !first.is_lowercase()))
        && (last.is_alphanumeric() || matches!(last, ')' | '?' | '？'))
        && line.chars().any(char::is_alphabetic)
}
