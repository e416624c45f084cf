//! Citations in the text of a model: the marks are removed, also from streams, and counted.

mod mark;

use self::mark::{Group, Stop};

/// The number of bytes of the word before a bracket that are examined.
const WORD_BYTES: usize = 64;
/// The most characters of white space that are held back because a mark may follow, and the most backticks that are one run. They
/// are read again with each fragment.
const HELD_CHARS: usize = 200;

/// Removes the marks from a text that arrives in fragments.
///
/// Invariant: the joined results of [`MarkFilter::push`] and [`MarkFilter::finish`] do not depend on how
/// the text was cut into fragments. Only text that may still become a mark is held back, with the white
/// space before it, which is removed with a mark.
#[derive(Debug, Clone)]
pub(crate) struct MarkFilter {
    passages: usize,
    pending: String,
    /// The number of backticks that opened the code that the text is in.
    code: Option<usize>,
    /// The output since the last white space.
    word: String,
    /// Whether there was any output.
    has_output: bool,
    cited: Vec<usize>,
}

impl MarkFilter {
    /// A filter for a text over a number of passages, which are numbered from 1.
    pub(crate) const fn new(passages: usize) -> Self {
        Self {
            passages,
            pending: String::new(),
            code: None,
            word: String::new(),
            has_output: false,
            cited: Vec::new(),
        }
    }

    /// Adds a fragment, and returns the text that is certain so far.
    pub(crate) fn push(&mut self, fragment: &str) -> String {
        self.pending.push_str(fragment);
        self.drain(false)
    }

    /// Returns the rest, without white space at the end of the text.
    pub(crate) fn finish(&mut self) -> String {
        self.drain(true)
    }

    /// Whether the text that is held back is not only white space.
    pub(crate) fn holds_text(&self) -> bool {
        !self.clone().finish().is_empty()
    }

    /// The positions of the passages that were cited so far, from 0, without duplicates, in the order of
    /// their first citations.
    pub(crate) fn cited(&self) -> Vec<usize> {
        self.cited.clone()
    }

    fn drain(&mut self, is_end: bool) -> String {
        let mut out = String::new();
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_str();
        while !rest.is_empty() {
            let Some(consumed) = self.step(rest, is_end, &mut out) else { break };
            rest = rest.get(consumed..).unwrap_or_default();
        }
        rest.clone_into(&mut self.pending);
        out
    }

    /// Handles the beginning of `rest`, and returns the length of the part that is done; `None` if more
    /// text is needed.
    fn step(&mut self, rest: &str, is_end: bool, out: &mut String) -> Option<usize> {
        let ticks = rest.bytes().take(HELD_CHARS).take_while(|byte| *byte == b'`').count();
        if ticks > 0 {
            return self.ticks(rest, ticks, is_end, out);
        }
        if self.code.is_some() {
            return Some(self.code_text(rest, out));
        }
        let trimmed = rest.trim_start();
        let gap = rest.get(..rest.len() - trimmed.len()).unwrap_or_default();
        if let Some((held, _)) =
            gap.char_indices().rev().nth(HELD_CHARS - 1).filter(|(at, _)| *at > 0)
        {
            self.give(gap.get(..held).unwrap_or_default(), out);
            return Some(held);
        }
        if trimmed.is_empty() {
            // White space is removed with a mark that may follow, and at the end.
            return is_end.then_some(rest.len());
        }
        match mark::group(trimmed, is_end) {
            Err(Stop::Incomplete) => None,
            Ok(group) if self.is_citation(&group, gap.is_empty()) => {
                Some(self.take_out(rest, gap, &group, out))
            }
            Ok(_) | Err(Stop::NotAMark) => {
                self.give(gap, out);
                let text = if trimmed.starts_with('`') { "" } else { literal(trimmed) };
                self.give(text, out);
                Some(gap.len() + text.len())
            }
        }
    }

    /// Handles a run of backticks, which opens code, or closes it if it is as long as the opening one.
    fn ticks(&mut self, rest: &str, count: usize, is_end: bool, out: &mut String) -> Option<usize> {
        if count == rest.len() && count < HELD_CHARS && !is_end {
            return None;
        }
        self.code = match self.code {
            None => Some(count),
            Some(opened) if opened == count || (opened >= 3 && count > opened) => None,
            opened => opened,
        };
        self.give(rest.get(..count).unwrap_or_default(), out);
        Some(count)
    }

    /// Forwards code unchanged. Code within a line ends with the line at the latest, so that a single backtick does not
    /// hide later marks.
    fn code_text(&mut self, rest: &str, out: &mut String) -> usize {
        let is_block = self.code.is_some_and(|ticks| ticks >= 3);
        let ends = |c: char| c == '`' || (c == '\n' && !is_block);
        let length = rest.find(ends).unwrap_or(rest.len());
        if rest.get(length..).is_some_and(|after| after.starts_with('\n')) {
            self.code = None;
        }
        self.give(rest.get(..length).unwrap_or_default(), out);
        length
    }

    /// Whether a group cites passages and is not something else in brackets.
    fn is_citation(&self, group: &Group, follows_directly: bool) -> bool {
        if group.is_certain {
            return true;
        }
        let in_range = |number: &usize| *number <= self.passages;
        if self.passages == 0 || group.next == Some('(') {
            return false;
        }
        if follows_directly && !self.word.is_empty() {
            let (first, second) = group.following;
            let is_code = group.next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
                || first == Some('=')
                || (first == Some('.') && second.is_some_and(char::is_alphanumeric))
                || looks_like_code(&self.word);
            return !is_code && group.numbers.iter().all(in_range);
        }
        // A single number without a passage is a mistaken citation. Several such numbers are a
        // list.
        group.numbers.len() == 1 || group.numbers.iter().any(in_range)
    }

    /// Removes a group, and the surrounding white space, so that the text reads well.
    fn take_out(&mut self, rest: &str, gap: &str, group: &Group, out: &mut String) -> usize {
        for number in &group.numbers {
            let index = number - 1;
            if index < self.passages && !self.cited.contains(&index) {
                self.cited.push(index);
            }
        }
        let after = rest.get(gap.len() + group.length..).unwrap_or_default();
        let text = after.trim_start();
        let gap_after = after.get(..after.len() - text.len()).unwrap_or_default();
        let kept = match text.chars().next() {
            None => "",
            _ if gap.contains('\n') => gap,
            _ if gap_after.contains('\n') => gap_after,
            Some('.' | ',' | '。' | '，' | '、' | '．') => "",
            _ if !gap_after.is_empty() => gap_after,
            Some(c) if c.is_alphanumeric() || "([{\"'`*_«“‘¿¡".contains(c) => gap,
            Some(_) => "",
        };
        self.give(kept, out);
        gap.len() + group.length + gap_after.len()
    }

    /// Outputs text, without white space before the first word.
    fn give(&mut self, text: &str, out: &mut String) {
        let text = if self.has_output { text } else { text.trim_start() };
        if text.is_empty() {
            return;
        }
        self.has_output = true;
        out.push_str(text);
        if let Some((at, c)) = text.char_indices().rev().find(|(_, c)| c.is_whitespace()) {
            text.get(at + c.len_utf8()..).unwrap_or_default().clone_into(&mut self.word);
        } else {
            self.word.push_str(text);
        }
        if let Some(excess) = self.word.len().checked_sub(WORD_BYTES) {
            self.word.drain(..self.word.ceil_char_boundary(excess));
        }
    }
}

/// The beginning of `text` before any mark, white space or code, at least one character.
fn literal(text: &str) -> &str {
    let special = |c: char| c.is_whitespace() || "[［【(（`".contains(c);
    let first = text.chars().next().map_or(0, char::len_utf8);
    let rest = text.get(first..).unwrap_or_default();
    let length = first + rest.find(special).unwrap_or(rest.len());
    text.get(..length).unwrap_or_default()
}

/// Whether a word before `[1]` is part of a program rather than of a sentence.
fn looks_like_code(word: &str) -> bool {
    let is_camel_case = |(a, b): (char, char)| a.is_lowercase() && b.is_uppercase();
    let pairs = || word.chars().zip(word.chars().skip(1));
    word.contains(['_', '$', '=', '\\', '<', '{', '[', ']'])
        || ["::", "->", "()"].iter().any(|mark| word.contains(mark))
        || pairs().any(is_camel_case)
        || pairs().any(|(a, b)| a == '.' && b.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{HELD_CHARS, MarkFilter};

    /// Text over three passages, with the expected output and citations.
    const CASES: &[(&str, &str, &[usize])] = &[
        ("Paris is the capital [1].", "Paris is the capital.", &[0]),
        ("Paris is the capital.[2] It is old.[1]", "Paris is the capital. It is old.", &[1, 0]),
        ("One [1][2]. Two [2, 3]", "One. Two", &[0, 1, 2]),
        ("One [1], [2]. Two ([3]).", "One. Two.", &[0, 1, 2]),
        ("Attached[1] to a word[3].", "Attached to a word.", &[0, 2]),
        ("Paris (France)[1] is old.", "Paris (France) is old.", &[0]),
        ("中文句子【1】。下一句【2†source】", "中文句子。下一句", &[0, 1]),
        ("中文[1]，再来[2]", "中文，再来", &[0, 1]),
        ("[1] Begins with it", "Begins with it", &[0]),
        ("- [1] item\n- two [2]\n\nEnd", "- item\n- two\n\nEnd", &[0, 1]),
        ("Line [1]\nNext\n[2] Third", "Line\nNext\nThird", &[0, 1]),
        ("Unknown [9] here", "Unknown here", &[]),
        ("Code `array[1]` stays [1]", "Code `array[1]` stays", &[0]),
        ("```\nx = a [1]\ny[2]\n```\nDone [2]", "```\nx = a [1]\ny[2]\n```\nDone", &[1]),
        ("A lone ` tick\nthen [1].", "A lone ` tick\nthen.", &[0]),
        ("See [link](https://a.b/c[1]) and [1](x)", "See [link](https://a.b/c[1]) and [1](x)", &[]),
        (
            "a_b[1] and args[1].name and xs[0] = xs[1] = 2",
            "a_b[1] and args[1].name and xs[0] = xs[1] = 2",
            &[],
        ),
        ("In [2024] it [ ] and [x] [", "In [2024] it [ ] and [x] [", &[]),
        ("The list [10, 20, 30] stays", "The list [10, 20, 30] stays", &[]),
        ("  Leading and trailing  \n", "Leading and trailing", &[]),
        ("Two  spaces\n\n\nthree lines", "Two  spaces\n\n\nthree lines", &[]),
        ("**Bold** [1] **x**", "**Bold** **x**", &[0]),
        ("Ask why [1]? Because [2]!", "Ask why? Because!", &[0, 1]),
        ("[1]", "", &[0]),
        ("日本語のテキスト[3]です👍🏽 [2]", "日本語のテキストです👍🏽", &[2, 1]),
    ];

    #[test]
    fn marks_are_taken_out_and_counted() {
        for (text, expected, cited) in CASES {
            let mut filter = MarkFilter::new(3);
            let mut out = filter.push(text);
            out.push_str(&filter.finish());
            assert_eq!((out.as_str(), filter.cited().as_slice()), (*expected, *cited), "{text}");
        }
    }

    #[test]
    fn the_outcome_does_not_depend_on_where_the_text_is_cut() {
        for (text, expected, cited) in CASES {
            let cuts: Vec<usize> =
                (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            for first in &cuts {
                for second in cuts.iter().filter(|second| *second >= first) {
                    let mut filter = MarkFilter::new(3);
                    let mut out = filter.push(&text[..*first]);
                    out.push_str(&filter.push(&text[*first..*second]));
                    out.push_str(&filter.push(&text[*second..]));
                    out.push_str(&filter.finish());
                    assert_eq!(out, *expected, "{text} cut at {first} and {second}");
                    assert_eq!(filter.cited(), *cited, "{text} cut at {first} and {second}");
                }
            }
        }
    }

    #[test]
    fn character_by_character_gives_the_same() {
        for (text, expected, _) in CASES {
            let mut filter = MarkFilter::new(3);
            let mut out: String = text.chars().map(|c| filter.push(&c.to_string())).collect();
            out.push_str(&filter.finish());
            assert_eq!(out, *expected, "{text}");
        }
    }

    /// Once, all marks that follow were read for each of them, and what was held back with each fragment: half a minute for
    /// each of these texts.
    #[test]
    fn the_time_is_linear_in_hostile_texts() {
        let start = Instant::now();
        let mut filter = MarkFilter::new(3);
        let mut out = filter.push(&"[1]".repeat(50_000));
        out.push_str(&filter.push(&"x".repeat(150_000)));
        out.push_str(&filter.finish());
        assert_eq!(out.len(), 300_000);
        for piece in [" ", "`", "\u{3000}"] {
            let mut filter = MarkFilter::new(3);
            let mut out = filter.push("a");
            (0..100_000).for_each(|_| out.push_str(&filter.push(piece)));
            out.push_str(&filter.finish());
            assert!(out.chars().count() > 99_000, "{piece:?}");
        }
        // Two minutes before; a second on an idle machine.
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    }

    #[test]
    fn long_white_space_and_runs_of_backticks_do_not_depend_on_where_they_are_cut() {
        for text in [
            format!("a{}[1] b", " ".repeat(HELD_CHARS + 3)),
            format!("a{}", "\n".repeat(HELD_CHARS + 3)),
            format!("a {}[1]{} [1]", "`".repeat(HELD_CHARS + 3), "`".repeat(3)),
        ] {
            let mut whole = MarkFilter::new(3);
            let expected = whole.push(&text) + &whole.finish();
            for size in [1, 7, HELD_CHARS, HELD_CHARS + 1] {
                let mut filter = MarkFilter::new(3);
                let mut rest = text.as_str();
                let mut out = String::new();
                while !rest.is_empty() {
                    let (piece, after) = rest.split_at(size.min(rest.len()));
                    out.push_str(&filter.push(piece));
                    rest = after;
                }
                out.push_str(&filter.finish());
                assert_eq!(out, expected, "{size}");
                assert_eq!(filter.cited(), whole.cited(), "{size}");
            }
        }
    }

    #[test]
    fn nothing_is_held_back_longer_than_needed() {
        let mut filter = MarkFilter::new(3);
        assert_eq!(filter.push("Hello"), "Hello");
        assert_eq!(filter.push(" wor"), " wor");
        assert_eq!(filter.push("ld ["), "ld");
        assert_eq!(filter.push("a"), " [a");
        assert_eq!(filter.push("] end"), "] end");
    }

    #[test]
    fn without_passages_only_what_is_certainly_a_mark_goes() {
        let mut filter = MarkFilter::new(0);
        let mut out = filter.push("The vector [1] and 【1】 it");
        out.push_str(&filter.finish());
        assert_eq!(out, "The vector [1] and it");
        assert!(filter.cited().is_empty());
    }
}
