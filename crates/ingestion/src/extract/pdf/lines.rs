//! Lines of a page, and the paragraphs that they make.

use std::collections::HashSet;

/// A line at least this long, relative to the longest of its block, reaches the margin: the next one continues its
/// sentence.
const FULL_LINE: f64 = 0.6;
/// A block whose longest line is shorter is a list of names or an address, not a paragraph; in characters.
const PARAGRAPH_CHARS: usize = 40;
/// This many blanks within a line are a gap between columns.
const COLUMN_GAP: &str = "   ";

/// The lines of a page, with normalised characters and blank lines between blocks.
pub(super) fn of(page: &str) -> Vec<String> {
    page.lines()
        .map(|line| line.chars().flat_map(meant).collect::<String>().trim_end().to_owned())
        .collect()
}

/// The words with a hyphen inside a line, in lower case: they keep their hyphen at the end of a line, too.
pub(super) fn hyphenated_words(pages: &[Vec<String>]) -> HashSet<String> {
    let words = pages.iter().flatten().flat_map(|line| line.split_whitespace());
    let words = words.map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()));
    words.filter(|word| word.contains('-')).map(str::to_lowercase).collect()
}

/// A page's text: lines that continue the previous line are joined to it, and blocks are separated by an empty line.
pub(super) fn paragraphs(lines: &[String], hyphenated: &HashSet<String>) -> String {
    let mut text = String::new();
    for block in lines.split(|line| line.trim().is_empty()).filter(|block| !block.is_empty()) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        let longest = block.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        let mut before: Option<&str> = None;
        for line in block {
            match before.map(|before| Joint::of(before, line, longest, hyphenated)) {
                None => {}
                Some(Joint::Line) => text.push('\n'),
                Some(Joint::Blank) => text.push(' '),
                Some(Joint::Nothing) => {}
                Some(Joint::NoHyphen) => drop(text.pop()),
            }
            text.push_str(if before.is_none() { line } else { line.trim_start() });
            before = Some(line);
        }
    }
    text
}

/// How a line is joined to the previous one.
enum Joint {
    /// On a line of its own.
    Line,
    Blank,
    /// Without a blank: the hyphen belongs to the word, or the script has no blanks.
    Nothing,
    /// Without the hyphen, which only divided the word.
    NoHyphen,
}

impl Joint {
    fn of(before: &str, line: &str, longest: usize, hyphenated: &HashSet<String>) -> Self {
        let length = before.chars().count();
        let goes_on = longest >= PARAGRAPH_CHARS && length as f64 >= FULL_LINE * longest as f64;
        let is_table = |line: &str| line.starts_with('|') || line.trim_start().contains(COLUMN_GAP);
        if is_table(before) || is_table(line) || begins_item(line) {
            return Self::Line;
        }
        if let Some(joint) = broken_word(before, line, hyphenated) {
            return joint;
        }
        match goes_on {
            true if is_ideograph(before.chars().last())
                && is_ideograph(line.trim_start().chars().next()) =>
            {
                Self::Nothing
            }
            true => Self::Blank,
            false => Self::Line,
        }
    }
}

/// How to join a word that is divided at the end of the line.
fn broken_word(before: &str, line: &str, hyphenated: &HashSet<String>) -> Option<Joint> {
    let start = before.strip_suffix(['-', '\u{2010}'])?;
    if start.split_whitespace().next_back().is_some_and(is_address) && !line.starts_with(' ') {
        return Some(Joint::Nothing);
    }
    let start = start.rsplit(|char: char| !(char.is_alphanumeric() || char == '-')).next()?;
    let letters = |char: &char| char.is_alphanumeric() || *char == '-';
    let end: String = line.trim_start().chars().take_while(letters).collect();
    let is_broken = start.chars().last()?.is_alphabetic() && end.chars().next()?.is_lowercase();
    if !is_broken {
        return None;
    }
    let whole = format!("{start}-{end}").to_lowercase();
    Some(if hyphenated.contains(&whole) { Joint::Nothing } else { Joint::NoHyphen })
}

/// Whether a word is a web address, whose hyphens belong to it.
fn is_address(word: &str) -> bool {
    word.contains("://") || word.trim_start_matches(['(', '<', '[']).starts_with("www.")
}

/// Whether it is of the scripts of Chinese and Japanese, with their punctuation.
fn is_ideograph(char: Option<char>) -> bool {
    matches!(
        char,
        Some('\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}')
    )
}

/// Whether a line begins an item of a list: with a bullet, a number or a letter in front.
fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    let Some((mark, rest)) = line.split_once(char::is_whitespace) else { return false };
    if rest.trim().is_empty() {
        return false;
    }
    let is_bullet =
        matches!(mark, "•" | "◦" | "▪" | "■" | "●" | "○" | "‣" | "–" | "-" | "*" | "·" | "→" | "✓");
    let label = mark.trim_start_matches('(').strip_suffix(['.', ')']);
    is_bullet || label.is_some_and(is_label)
}

/// `1`, `2.3`, `b`, `iv`.
fn is_label(label: &str) -> bool {
    let is_number =
        label.len() <= 8 && label.chars().all(|char| char.is_ascii_digit() || char == '.');
    let is_letter = label.len() == 1 && label.chars().all(char::is_alphabetic);
    let is_roman = label.len() <= 5 && label.chars().all(|char| matches!(char, 'i' | 'v' | 'x'));
    !label.is_empty() && (is_number || is_letter || is_roman)
}

/// Normalises a character: ligatures become their letters; typesetting and private-use characters are removed.
fn meant(char: char) -> impl Iterator<Item = char> {
    let replaced = match char {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' => " ",
        '\u{ad}' => "-",
        '\u{feff}'
        | '\u{200b}'
        | '\u{fffd}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{f0000}'..='\u{10ffff}' => "",
        char if char.is_control() && char != '\t' => "",
        _ => return Either::One(std::iter::once(char)),
    };
    Either::Several(replaced.chars())
}

/// One character, or its replacement.
enum Either {
    One(std::iter::Once<char>),
    Several(std::str::Chars<'static>),
}

impl Iterator for Either {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self {
            Self::One(one) => one.next(),
            Self::Several(several) => several.next(),
        }
    }
}
