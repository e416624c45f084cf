//! The boundaries of words, and the parts of compound words.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;
use whatlang::Lang;

use crate::script::Script;

/// A piece of text that is analysed as a unit.
pub(super) enum Token {
    /// A run of characters in a script that is cut into grams.
    Run(Range<usize>, Script),
    Word(Range<usize>),
    /// Words joined by hyphens: the whole, and each of them.
    Hyphenated(Range<usize>, Vec<Range<usize>>),
}

/// The parts of a word. Ranges are within the word.
pub(super) enum Piece {
    /// It has no parts.
    Plain,
    /// The text after an apostrophe is not part of it: "dog's".
    Without(Apostrophe),
    /// Its punctuation is not part of it: "U.S.A".
    Joined,
    /// Several words written as one: "l'homme".
    Split(Vec<Range<usize>>),
    /// Several words that form a name: `rate_limit`, `RateLimit`.
    Compound(Vec<Range<usize>>),
}

/// The part of a word before its apostrophe.
pub(super) struct Apostrophe {
    /// The length of the part in bytes.
    pub(super) kept: usize,
    /// Whether the rest was "not", as in "can't", which makes it a stop word.
    pub(super) negates: bool,
}

/// The tokens of a text in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 6);
    for (start, word) in text.unicode_word_indices() {
        if word.is_ascii() {
            let end = start + word.len();
            push_word(&mut tokens, text, start..with_suffix(text, end));
            continue;
        }
        for (range, script) in segments(word) {
            let range = start + range.start..start + range.end;
            match script {
                None => push_word(&mut tokens, text, range),
                Some(script) => push_run(&mut tokens, range, script),
            }
        }
    }
    tokens
}

/// Recognises "C++" and "C#" as names.
fn with_suffix(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let length =
        ["++", "#"].into_iter().find(|suffix| rest.starts_with(suffix)).map_or(0, str::len);
    let after = rest.get(length..).and_then(|rest| rest.chars().next());
    if after.is_some_and(char::is_alphanumeric) { end } else { end + length }
}

/// Splits a word into parts that are cut into grams, with their script, and other parts.
fn segments(word: &str) -> Vec<(Range<usize>, Option<Script>)> {
    let mut segments: Vec<(Range<usize>, Option<Script>)> = Vec::new();
    for (start, character) in word.char_indices() {
        let end = start + character.len_utf8();
        let script = Script::of(character);
        let gram = script.filter(|script| script.gram().is_some());
        match segments.last_mut() {
            // Marks and joiners have no script and belong to the character before them.
            Some((range, _)) if script.is_none() && !character.is_alphanumeric() => range.end = end,
            Some((range, last)) if *last == gram => range.end = end,
            _ => segments.push((start..end, gram)),
        }
    }
    segments
}

fn push_run(tokens: &mut Vec<Token>, range: Range<usize>, script: Script) {
    match tokens.last_mut() {
        Some(Token::Run(last, last_script))
            if last.end == range.start && last_script.joins(script) =>
        {
            last.end = range.end;
        }
        _ => tokens.push(Token::Run(range, script)),
    }
}

/// Adds a word, joined with the one before if there is only a hyphen between them.
fn push_word(tokens: &mut Vec<Token>, text: &str, range: Range<usize>) {
    let hyphen = |last: &Range<usize>| {
        matches!(text.get(last.end..range.start), Some("-" | "\u{2010}" | "\u{2011}"))
    };
    match tokens.last_mut() {
        Some(Token::Hyphenated(whole, words)) if hyphen(whole) => {
            whole.end = range.end;
            words.push(range);
        }
        Some(last) => {
            let joined = match last {
                Token::Word(word) if hyphen(word) => Some(word.clone()),
                _ => None,
            };
            match joined {
                Some(word) => *last = Token::Hyphenated(word.start..range.end, vec![word, range]),
                None => tokens.push(Token::Word(range)),
            }
        }
        None => tokens.push(Token::Word(range)),
    }
}

/// The parts of `word`.
pub(super) fn parts(word: &str, language: Option<Lang>) -> Piece {
    // Most words. They have none of what is looked for below.
    if let [first, rest @ ..] = word.as_bytes()
        && first.is_ascii_alphabetic()
        && rest.iter().all(u8::is_ascii_lowercase)
    {
        return Piece::Plain;
    }
    if let Some((at, mark)) = word.char_indices().find(|(_, c)| matches!(c, '\'' | '’')) {
        return around_apostrophe(word, at, at + mark.len_utf8(), language);
    }
    let has_digit_point = word
        .as_bytes()
        .windows(2)
        .any(|pair| matches!(pair, [b'.' | b',', next] if next.is_ascii_digit()));
    if has_digit_point {
        return Piece::Plain;
    }
    let parts = name_parts(word);
    match parts.as_slice() {
        [] | [_] => Piece::Plain,
        parts if parts.iter().all(|part| part.len() == 1) => Piece::Joined,
        _ => Piece::Compound(parts),
    }
}

fn around_apostrophe(word: &str, at: usize, after: usize, language: Option<Lang>) -> Piece {
    let rest = word.get(after..).unwrap_or_default();
    match language {
        Some(Lang::Eng) => match rest.to_ascii_lowercase().as_str() {
            "s" | "re" | "ll" | "ve" | "d" | "m" => {
                Piece::Without(Apostrophe { kept: at, negates: false })
            }
            "t" => Piece::Without(Apostrophe { kept: at, negates: true }),
            _ => Piece::Compound(vec![0..at, after..word.len()]),
        },
        Some(Lang::Fra | Lang::Ita | Lang::Cat) => Piece::Split(vec![0..at, after..word.len()]),
        // It precedes the endings of proper names.
        Some(Lang::Tur) => Piece::Without(Apostrophe { kept: at, negates: false }),
        _ => Piece::Joined,
    }
}

/// The words of a name, which is split at `_`, `.` and `:`, before capitals, and between letters and digits
/// if there is more than one of each.
fn name_parts(word: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    let mut characters = word.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if matches!(character, '_' | '.' | ':') {
            parts.push(start..at);
            start = at + character.len_utf8();
        } else if before.is_some_and(|before| begins_part(before, character, next))
            && (!character.is_ascii_digit() || at - start > 1)
        {
            parts.push(start..at);
            start = at;
        }
        before = Some(character);
    }
    parts.push(start..word.len());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a part begins at `character`: `rateLimit`, `HTTPServer`, `ISO9001`.
fn begins_part(before: char, character: char, next: Option<char>) -> bool {
    if character.is_uppercase() {
        before.is_lowercase() || (before.is_uppercase() && next.is_some_and(char::is_lowercase))
    } else {
        character.is_ascii_digit()
            && before.is_alphabetic()
            && next.is_some_and(|next| next.is_ascii_digit())
    }
}
