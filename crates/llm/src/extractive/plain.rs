//! Converts Markdown within a line to plain text.

/// `text` without marks of emphasis, link targets and pictures, with each run of white space as one
/// space. Code in backticks is unchanged.
pub(super) fn inline(text: &str) -> String {
    let joined = join_lines(text);
    if !joined.contains(['*', '_', '[', '!', '<', '\\', '`']) {
        return joined;
    }
    let mut plain = String::with_capacity(joined.len());
    let mut rest = joined.as_str();
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '`' => code(rest, &mut plain),
            '*' | '_' => emphasis(rest, c, &mut plain),
            '!' if rest.starts_with("![") => {
                link(rest.get(1..).unwrap_or_default()).map(|(_, length)| length + 1)
            }
            '[' => link(rest).map(|(label, length)| {
                plain.push_str(&inline(label));
                length
            }),
            '<' => autolink(rest).map(|url| {
                plain.push_str(url);
                url.len() + 2
            }),
            '\\' => escaped(rest).map(|c| {
                plain.push(c);
                1 + c.len_utf8()
            }),
            _ => None,
        };
        let length = length.unwrap_or_else(|| {
            plain.push(c);
            c.len_utf8()
        });
        rest = rest.get(length..).unwrap_or_default();
    }
    plain.trim().to_owned()
}

/// Joins lines with a space, but without one between characters of scripts without spaces.
fn join_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if let Some(last) = joined.chars().next_back() {
            let at = word.as_ptr().addr() - text.as_ptr().addr();
            let gap_has_line = text.get(..at).is_some_and(|before| {
                before.trim_end().len() < before.trim_end_matches([' ', '\t']).len()
            });
            let is_wide = |c: char| {
                ('\u{2E80}'..='\u{9FFF}').contains(&c) || ('\u{FF00}'..='\u{FF60}').contains(&c)
            };
            if !(gap_has_line && is_wide(last) && word.chars().next().is_some_and(is_wide)) {
                joined.push(' ');
            }
        }
        joined.push_str(word);
    }
    joined
}

/// Copies code with its backticks.
fn code(rest: &str, plain: &mut String) -> Option<usize> {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    let mark = rest.get(..ticks)?;
    let length = ticks + rest.get(ticks..)?.find(mark)? + ticks;
    plain.push_str(rest.get(..length)?);
    Some(length)
}

/// Removes a run of `*` or `_` that opens or closes emphasis. An underscore within a word and an
/// asterisk between spaces are kept.
fn emphasis(rest: &str, mark: char, plain: &mut String) -> Option<usize> {
    let after = rest.trim_start_matches(mark);
    let length = rest.len() - after.len();
    let before = plain.chars().next_back();
    let next = after.chars().next();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let stays = length > 3
        || (is_space(before) && is_space(next))
        || (is_word(before) && is_word(next) && (mark == '_' || length == 1))
        || (is_space(before) && length == 1 && !after.contains(mark));
    if stays {
        plain.push_str(rest.get(..length)?);
    }
    Some(length)
}

/// The label of `[label](target)` or `[label][reference]`, and the length of the whole.
fn link(rest: &str) -> Option<(&str, usize)> {
    let mut depth = 0;
    let close = rest.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })?;
    let label = rest.get(1..close)?;
    let target = rest.get(close + 1..)?;
    let end = match target.chars().next()? {
        '(' => target.find(')')?,
        '[' => target.find(']')?,
        _ => return None,
    };
    Some((label, close + 1 + end + 1))
}

/// The URL of `<https://…>`.
fn autolink(rest: &str) -> Option<&str> {
    let url = rest.get(1..rest.find('>')?)?;
    let is_url = url.contains("://") || url.starts_with("mailto:");
    (is_url && !url.contains(char::is_whitespace)).then_some(url)
}

/// The character that a backslash escapes.
fn escaped(rest: &str) -> Option<char> {
    rest.chars().nth(1).filter(|c| r"\`*_{}[]()#+-.!|<>".contains(*c))
}

#[cfg(test)]
mod tests {
    use super::inline;

    #[test]
    fn marks_go_and_words_stay() {
        for (text, expected) in [
            ("**Bold** and *it* and __b__ _i_ ***x***.", "Bold and it and b i x."),
            ("See [the guide](https://x.y/z) and [b][1].", "See the guide and b."),
            ("![picture](a.png) Text [**b**](c)", "Text b"),
            ("Call <https://x.y> or <b>", "Call https://x.y or <b>"),
            ("snake_case_name, 2 * 3 * 4, *args", "snake_case_name, 2 * 3 * 4, *args"),
            ("Set `a_b = *c*` and ``x ` y``", "Set `a_b = *c*` and ``x ` y``"),
            ("1 \\* 2 \\_x\\_ C:\\dir", "1 * 2 _x_ C:\\dir"),
            ("array[1] and [x] and [y", "array[1] and [x] and [y"),
            ("wrapped\n  line\ttab", "wrapped line tab"),
            ("中文\n换行 和", "中文换行 和"),
            ("a lone ` tick and ** there", "a lone ` tick and ** there"),
        ] {
            assert_eq!(inline(text), expected);
        }
    }
}
