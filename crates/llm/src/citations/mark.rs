//! The grammar of marks of citation.
//!
//! Models are told to write `[1]`, but they also write `[1, 2]`, `[1][2]`, `([1], [2])`, `[1-3]`,
//! `[^1]`, `[passage 1]`, `【1】` and `【1†source】`. The grammar distinguishes a text that may still
//! become a mark from one that cannot, so that a stream waits no longer than necessary.

/// Words that models write before a number.
const LABELS: [&str; 8] =
    ["passage", "passages", "source", "sources", "ref", "doc", "document", "citation"];
/// Longest text after the dagger in `【1†…】`.
const SUFFIX_CHARS: usize = 60;
/// The most numbers of one group. A group with more is data, not a citation.
const NUMBERS: usize = 24;
/// The most bytes that are read to decide about a group: those of the longest one, with [`NUMBERS`] suffixes in Chinese.
const GROUP_BYTES: usize = 8 * 1_024;

/// Why there is no mark here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text is not a mark.
    NotAMark,
    /// More text is needed to decide.
    Incomplete,
}

/// A group of adjacent marks with their separators.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Its length in bytes.
    pub(super) length: usize,
    /// The numbers, in order.
    pub(super) numbers: Vec<usize>,
    /// Whether it is written in brackets that have no other use: `【1】`.
    pub(super) is_certain: bool,
    /// The characters after it, which distinguish `a[1] = 2`, `a[1].b` and `[1](url)` from citations: the
    /// next one, and the next one that is not white space with its successor.
    pub(super) next: Option<char>,
    /// See `next`.
    pub(super) following: (Option<char>, Option<char>),
}

/// Reads a group of marks at the start of `text`. `is_end`: no more text will come.
pub(super) fn group(text: &str, is_end: bool) -> Result<Group, Stop> {
    if text.len() <= GROUP_BYTES {
        return short_group(text, is_end);
    }
    let text = text.get(..text.floor_char_boundary(GROUP_BYTES)).unwrap_or_default();
    short_group(text, false).map_err(|_| Stop::NotAMark)
}

fn short_group(text: &str, is_end: bool) -> Result<Group, Stop> {
    let mut cursor = Cursor { rest: text, is_end };
    let mut numbers = Vec::new();
    let is_certain = text.starts_with('【');
    cursor.mark(&mut numbers, true)?;
    if numbers.len() > NUMBERS {
        return Err(Stop::NotAMark);
    }
    let mut length = text.len() - cursor.rest.len();
    loop {
        let mut ahead = cursor.clone();
        ahead.skip(|c| c.is_whitespace() || matches!(c, ',' | ';' | '，' | '、'))?;
        let count = numbers.len();
        match ahead.mark(&mut numbers, true) {
            Ok(()) if numbers.len() > NUMBERS => return Err(Stop::NotAMark),
            Ok(()) => {
                length = text.len() - ahead.rest.len();
                cursor = ahead;
            }
            Err(Stop::Incomplete) => return Err(Stop::Incomplete),
            Err(Stop::NotAMark) => {
                numbers.truncate(count);
                break;
            }
        }
    }
    let next = cursor.optional()?;
    cursor.skip(char::is_whitespace)?;
    let first = cursor.optional()?;
    let following = match first {
        Some('.') => {
            cursor.advance();
            (first, cursor.optional()?)
        }
        other => (other, None),
    };
    Ok(Group { length, numbers, is_certain, next, following })
}

/// A place in the text.
#[derive(Clone)]
struct Cursor<'a> {
    rest: &'a str,
    is_end: bool,
}

impl Cursor<'_> {
    /// The next character.
    fn peek(&self) -> Result<char, Stop> {
        let stop = if self.is_end { Stop::NotAMark } else { Stop::Incomplete };
        self.rest.chars().next().ok_or(stop)
    }

    /// The next character, or none at the end of the whole text.
    fn optional(&self) -> Result<Option<char>, Stop> {
        match self.rest.chars().next() {
            None if !self.is_end => Err(Stop::Incomplete),
            next => Ok(next),
        }
    }

    fn advance(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    /// Skips characters. The one after them must be known, or be the end.
    fn skip(&mut self, skipped: impl Fn(char) -> bool) -> Result<(), Stop> {
        while self.optional()?.is_some_and(&skipped) {
            self.advance();
        }
        Ok(())
    }

    fn skip_spaces(&mut self) -> Result<(), Stop> {
        while self.peek()? == ' ' {
            self.advance();
        }
        Ok(())
    }

    fn expect(&mut self, expected: char) -> Result<(), Stop> {
        if self.peek()? != expected {
            return Err(Stop::NotAMark);
        }
        self.advance();
        Ok(())
    }

    /// One mark; if `wraps`, also marks in parentheses or in a second pair of brackets.
    fn mark(&mut self, numbers: &mut Vec<usize>, wraps: bool) -> Result<(), Stop> {
        let open = self.optional()?.ok_or(Stop::NotAMark)?;
        let close = match open {
            '[' => ']',
            '［' => '］',
            '【' => '】',
            '(' => ')',
            '（' => '）',
            _ => return Err(Stop::NotAMark),
        };
        self.advance();
        let is_wrapped = matches!(self.peek()?, '[' | '［' | '【');
        match open {
            '[' | '(' | '（' if is_wrapped && wraps => self.wrapped(close, numbers),
            '(' | '（' => Err(Stop::NotAMark),
            _ => self.content(close, numbers),
        }
    }

    fn wrapped(&mut self, close: char, numbers: &mut Vec<usize>) -> Result<(), Stop> {
        loop {
            self.mark(numbers, false)?;
            while matches!(self.peek()?, ' ' | ',' | ';') {
                self.advance();
            }
            if self.peek()? == close {
                self.advance();
                return Ok(());
            }
        }
    }

    /// Numbers up to the closing bracket.
    fn content(&mut self, close: char, numbers: &mut Vec<usize>) -> Result<(), Stop> {
        self.skip_spaces()?;
        if self.peek()? == '^' {
            self.advance();
        }
        let mut range_from = None;
        loop {
            self.label()?;
            let number = self.number()?;
            match range_from.take() {
                Some(from) if from < number => numbers.extend(from + 1..=number),
                _ => numbers.push(number),
            }
            self.skip_spaces()?;
            match self.peek()? {
                c if c == close => {
                    self.advance();
                    return Ok(());
                }
                ',' | ';' | '&' | '，' | '、' => self.advance(),
                '-' | '–' => {
                    range_from = Some(number);
                    self.advance();
                }
                'a' => "and".chars().try_for_each(|c| self.expect(c))?,
                '†' | ':' if close == '】' => return self.suffix(),
                _ => return Err(Stop::NotAMark),
            }
            self.skip_spaces()?;
        }
    }

    /// An optional word such as `passage`, and an optional `#`.
    fn label(&mut self) -> Result<(), Stop> {
        let mut word = String::new();
        while self.peek()?.is_ascii_alphabetic() {
            word.push(self.peek()?.to_ascii_lowercase());
            if !LABELS.iter().any(|label| label.starts_with(&word)) {
                return Err(Stop::NotAMark);
            }
            self.advance();
        }
        if !word.is_empty() && !LABELS.contains(&word.as_str()) {
            return Err(Stop::NotAMark);
        }
        self.skip_spaces()?;
        if self.peek()? == '#' {
            self.advance();
        }
        Ok(())
    }

    /// A number of one or two digits, not zero.
    fn number(&mut self) -> Result<usize, Stop> {
        let mut number = 0;
        for digits in 0..3 {
            match self.peek()?.to_digit(10) {
                Some(digit) if digits < 2 && (digits, digit) != (0, 0) => {
                    number = number * 10 + usize::try_from(digit).unwrap_or_default();
                    self.advance();
                }
                None if number > 0 => break,
                _ => return Err(Stop::NotAMark),
            }
        }
        Ok(number)
    }

    /// The rest of `【1†source】`.
    fn suffix(&mut self) -> Result<(), Stop> {
        for _ in 0..SUFFIX_CHARS {
            let c = self.peek()?;
            self.advance();
            match c {
                '】' => return Ok(()),
                '\n' => return Err(Stop::NotAMark),
                _ => {}
            }
        }
        Err(Stop::NotAMark)
    }
}

#[cfg(test)]
mod tests {
    use super::{Stop, group};

    fn numbers(text: &str) -> Result<Vec<usize>, Stop> {
        let group = group(text, true)?;
        assert_eq!(group.length, text.len(), "{text}");
        Ok(group.numbers)
    }

    #[test]
    fn every_form_of_a_mark_is_read() {
        for (text, expected) in [
            ("[1]", vec![1]),
            ("[12]", vec![12]),
            ("[1, 2]", vec![1, 2]),
            ("[1,2;3]", vec![1, 2, 3]),
            ("[1][2]", vec![1, 2]),
            ("[1], [2]", vec![1, 2]),
            ("[2-4]", vec![2, 3, 4]),
            ("[1 and 3]", vec![1, 3]),
            ("[^1]", vec![1]),
            ("[Passage 1]", vec![1]),
            ("[source #2, source #1]", vec![2, 1]),
            ("([1])", vec![1]),
            ("([1], [2])", vec![1, 2]),
            ("[[1]]", vec![1]),
            ("【1】", vec![1]),
            ("【3†source】", vec![3]),
            ("【4:0†guide.pdf】", vec![4]),
            ("［1］", vec![1]),
        ] {
            assert_eq!(numbers(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_mark_is_known_as_early_as_it_can_be() {
        for text in
            ["[a", "[pet", "[100", "[0", "[]", "[ ]", "[1b", "(1", "(a", "[1, x", "[-1", "x"]
        {
            assert_eq!(group(text, false), Err(Stop::NotAMark), "{text}");
        }
    }

    #[test]
    fn numbers_of_what_is_no_mark_are_not_cited() {
        let group = group("[1][2, x]", true).unwrap();
        assert_eq!((group.numbers, group.length), (vec![1], 3));
    }

    #[test]
    fn long_groups_are_data() {
        assert_eq!(numbers(&"[1]".repeat(24)).map(|all| all.len()), Ok(24));
        assert_eq!(group(&"[1]".repeat(25), false), Err(Stop::NotAMark));
        assert_eq!(group("[1-30]", false), Err(Stop::NotAMark));
        let named: String = (1..9)
            .map(|n| format!("【{n}:0†opening-hours-and-prices-of-the-museum-2026.pdf】"))
            .collect();
        assert_eq!(numbers(&named), Ok((1..9).collect()));
        let spaces = " ".repeat(super::GROUP_BYTES);
        assert_eq!(group(&format!("[1{}", &spaces[3..]), false), Err(Stop::Incomplete));
        assert_eq!(group(&format!("[1{spaces}"), false), Err(Stop::NotAMark));
        assert_eq!(group(&format!("[1{spaces}]"), true), Err(Stop::NotAMark));
    }

    #[test]
    fn a_beginning_waits_for_more_and_is_none_at_the_end() {
        for text in ["[", "[1", "[1,", "[1, 2", "[passa", "[1]", "[1] ", "([1", "【1†so", "[1]."]
        {
            assert_eq!(group(text, false), Err(Stop::Incomplete), "{text}");
        }
        for text in ["[", "[1", "[1,", "([1]", "【1†so"] {
            assert_eq!(group(text, true).map(|group| group.length), Err(Stop::NotAMark), "{text}");
        }
    }
}
