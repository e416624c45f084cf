//! The strings of a document in pandoc's native format, a Haskell expression.

use std::iter::Peekable;
use std::str::Chars;

/// The text: its strings, with blanks between words, and a line for each block and cell.
pub(super) fn text(native: &str) -> String {
    let mut text = String::new();
    let mut chars = native.chars().peekable();
    // The number of open brackets, and the depth of the text of the last constructor.
    let mut depth = 0_usize;
    let mut wanted = None;
    while let Some(char) = chars.next() {
        match char {
            '"' => {
                let string = string(&mut chars);
                if wanted == Some(depth) {
                    text.push_str(&string);
                    wanted = None;
                }
            }
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            'A'..='Z' => {
                let mut word = String::from(char);
                while let Some(letter) = chars.next_if(|char| char.is_alphanumeric()) {
                    word.push(letter);
                }
                match word.as_str() {
                    "Str" | "Code" | "CodeBlock" | "Math" => wanted = Some(depth),
                    "Space" | "SoftBreak" => text.push(' '),
                    "Para" | "Plain" | "Header" | "LineBreak" | "Image" | "Note" => text.push('\n'),
                    "MetaInlines" => text.push('\n'),
                    _ => {}
                }
                if word == "CodeBlock" {
                    text.push('\n');
                }
            }
            _ => {}
        }
    }
    text
}

/// A Haskell string after its opening quote.
fn string(chars: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => text.extend(escaped(chars)),
            char => text.push(char),
        }
    }
    text
}

/// The meaning of an escape: a character by its decimal code, or by its letter; `\&` is nothing.
fn escaped(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    let mut code = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        code.push(digit);
    }
    if !code.is_empty() {
        return code.parse().ok().and_then(char::from_u32);
    }
    match chars.next()? {
        '&' => None,
        'n' => Some('\n'),
        't' => Some('\t'),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn strings_that_touch_are_one_word() {
        let native = r#"[Header 1 ("the-id",[],[]) [Str "A",Space,Emph [Str "head"],Str "ing\8217s"]
            ,Para [Code ("",[],[]) "x\ty",Space,Str "\"1\&0\""]]"#;
        assert_eq!(super::text(native), "\nA heading\u{2019}s\nx\ty \"10\"");
    }
}
