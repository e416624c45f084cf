//! Scripts and style sheets without what only their readers need.

/// The text without comments, indentation and empty lines.
///
/// It processes lines and does not parse the language: a comment begins at the beginning of a line, or is a type
/// (`/** @type … */`) within one. So no line of a template may begin with `//` or `/*`, no string may contain `/** @`, and
/// the space at the beginnings of a template's lines must not matter. The files of the console and the widget follow
/// these rules; the browser tests use the served files.
pub(crate) fn slim(text: &str) -> String {
    let mut slim = String::with_capacity(text.len());
    let mut is_comment = false;
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some(comment) = if is_comment { Some(rest) } else { rest.strip_prefix("/*") } {
            let end = comment.find("*/");
            is_comment = end.is_none();
            rest = end.map_or("", |end| comment[end + 2..].trim_start());
            if is_comment {
                break;
            }
        }
        if rest.is_empty() || rest.starts_with("//") {
            continue;
        }
        while let Some((before, comment)) = rest.split_once("/** @") {
            let Some((_, after)) = comment.split_once("*/") else { break };
            slim.push_str(before);
            rest = after.trim_start();
        }
        slim.push_str(rest);
        slim.push('\n');
    }
    slim
}

/// A style sheet without comments, and without space around its punctuation.
///
/// A colon keeps the space before it, which means something in a selector. A string must not contain punctuation with
/// space around it.
pub(crate) fn slim_style(text: &str) -> String {
    let mut slim = self::slim(text).replace('\n', " ");
    for mark in ["{", "}", ";", ">"] {
        slim = slim.replace(&format!(" {mark}"), mark).replace(&format!("{mark} "), mark);
    }
    slim.replace(": ", ":").replace(", ", ",").replace(";}", "}")
}

/// A script as [`slim`] leaves it, also without space that separates nothing.
///
/// Strings, templates and patterns are unchanged. A slash begins a pattern if the token before it cannot end a value,
/// or is `return`. A line end is removed only if the character before it or after it shows that the statement
/// continues, so that automatic semicolon insertion works as before.
pub(crate) fn slim_script(text: &str) -> String {
    let text = slim(text);
    let mut rest = text.as_str();
    let mut slim = String::with_capacity(text.len());
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '\'' | '"' => literal(rest, next),
            '`' => template(rest),
            '/' if begins_pattern(&slim) => pattern(rest),
            _ if next.is_whitespace() => {
                let after = rest.trim_start();
                let space = &rest[..rest.len() - after.len()];
                if let Some(kept) = separator(&slim, space, after) {
                    slim.push(kept);
                }
                rest = after;
                continue;
            }
            _ => next.len_utf8(),
        };
        let (copied, after) = rest.split_at(length);
        slim.push_str(copied);
        rest = after;
    }
    slim
}

/// The space that must remain between two parts of a script.
fn separator(before: &str, space: &str, after: &str) -> Option<char> {
    let last = before.chars().next_back()?;
    let next = after.chars().next()?;
    if space.contains('\n') {
        let goes_on = matches!(last, ';' | '{' | ',' | '(' | '[' | ':' | '?');
        let is_going_on = matches!(next, '}' | ')' | ']' | ':' | '?');
        return (!goes_on && !is_going_on).then_some('\n');
    }
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '#');
    // `a + +b`, and a pattern before a word, which would be its flags.
    let can_merge = last == next && matches!(last, '+' | '-' | '/') || last == '/' && is_word(next);
    (is_word(last) && is_word(next) || can_merge).then_some(' ')
}

fn begins_pattern(before: &str) -> bool {
    let before = before.trim_end();
    before.ends_with("return")
        || before.chars().next_back().is_none_or(|last| "(,=:[!&|?{};+-*<>".contains(last))
}

/// The bytes of the string at the beginning of a text.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    let ends = |letter: char| {
        let is_end = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    };
    text[1..].find(ends).map_or(text.len(), |end| end + 2)
}

/// The bytes of the pattern at the beginning of a text, without its flags.
fn pattern(text: &str) -> usize {
    let (mut is_escaped, mut is_class) = (false, false);
    let ends = |letter: char| {
        let is_end = letter == '/' && !is_escaped && !is_class;
        if !is_escaped {
            is_class = letter == '[' || is_class && letter != ']';
        }
        is_escaped = letter == '\\' && !is_escaped;
        is_end
    };
    text[1..].find(ends).map_or(text.len(), |end| end + 2)
}

/// The bytes of the template at the beginning of a text, with what it computes and the templates inside.
fn template(text: &str) -> usize {
    let mut at = 1;
    let mut depth = 0_usize;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match next {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '`' if depth == 0 => return at + 1,
            '`' => template(rest),
            '\'' | '"' if depth > 0 => literal(rest, next),
            '$' if depth == 0 && rest.starts_with("${") => {
                depth = 1;
                2
            }
            '{' | '}' if depth > 0 => {
                depth = if next == '{' { depth + 1 } else { depth - 1 };
                1
            }
            _ => next.len_utf8(),
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{slim, slim_script, slim_style};

    #[test]
    fn scripts_lose_space_that_separates_nothing() {
        let cases = [
            ("const a = { b: 1, c };\nlet d = a ? 1 : 2;\n", "const a={b:1,c};let d=a?1:2;"),
            ("f('a , \\' b', \"{ x }\", 1);", "f('a , \\' b',\"{ x }\",1);"),
            ("g(`a ${ h(`{ b }`, '}') } , c`, 1)", "g(`a ${ h(`{ b }`, '}') } , c`,1)"),
            ("x = /[/ ] , \\/ a/ .test( y );", "x=/[/ ] , \\/ a/.test(y);"),
            ("x = /[/ ]/ in y / /z/;", "x=/[/ ]/ in y/ /z/;"),
            ("return / a, b/u", "return/ a, b/u"),
            ("const half = a / 2, b = c / 4;", "const half=a/ 2,b=c/ 4;"),
            ("a = b + +c - -d + e;\n", "a=b+ +c- -d+e;"),
            ("a()\nb()\n", "a()\nb()"),
            ("a = {\nb: c\n? 1\n: d()\n}\ne()\n", "a={b:c?1:d()}\ne()"),
            ("if (a) b();\nelse c();", "if(a)b();else c();"),
            ("class A {\n#b = 1;\nget #c() {}\n}", "class A{#b=1;get #c(){}}"),
        ];
        for (text, expected) in cases {
            assert_eq!(slim_script(text), expected, "{text:?}");
        }
    }

    #[test]
    fn style_sheets_lose_their_space() {
        let style =
            "/* Why. */\na:hover, b > i {\n  color: red;\n  & :focus { inset: 0 1px; }\n}\n";
        assert_eq!(slim_style(style), "a:hover,b>i{color:red;& :focus{inset:0 1px}}");
    }

    #[test]
    fn comments_and_indentation_are_left_out() {
        let cases = [
            ("/** A file. */\nlet a;\n", "let a;\n"),
            ("/**\n * Of several\n * lines.\n */\n\n  let a;", "let a;\n"),
            ("  // Why.\n  let a; // stays\n", "let a; // stays\n"),
            ("/** @type {X | null} */ (a).b();", "(a).b();\n"),
            ("f(/** @type {X} */ (a), /** @type {Y} */ (b));", "f((a), (b));\n"),
            ("/* one */ /* two */ a { b: c; }\n/* three\nfour */ d { }", "a { b: c; }\nd { }\n"),
            (
                "const a = /\\/*x/;\nconst b = 'https://x';",
                "const a = /\\/*x/;\nconst b = 'https://x';\n",
            ),
            ("`\n    <p>\n`;", "`\n<p>\n`;\n"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(slim(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_comment_without_an_end_ends_with_the_text() {
        assert_eq!(slim("let a;\n/* never\nclosed"), "let a;\n");
        assert_eq!(slim("let a; /** @type {X"), "let a; /** @type {X\n");
    }
}
