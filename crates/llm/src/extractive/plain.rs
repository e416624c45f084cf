//! Converts Markdown within a line to plain text.

/// `text` without marks of emphasis, link targets and pictures, with each run of white space as one
/// space. Code in backticks is unchanged.
pub(super) fn inline(text: &str) -> String {
    let joined = join_lines(text);
    if !joined.contains(['*', '_', '[', '!', '<', '\\', '`']) {
        return joined;
    }
    let mut plain = String::with_capacity(joined.len());
    let mut closing = Closing::new();
    let mut rest = joined.as_str();
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '`' => code(rest, &mut plain),
            '*' | '_' => emphasis(rest, c, &mut closing, &mut plain),
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
            '\\' => escaped(rest, &plain).map(|c| {
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

/// Runs of `*` and `_` that end emphasis, by the number of bytes from their beginning to the end of the text.
type Closing = Vec<usize>;

/// Removes a run of `*` or `_` that opens or closes emphasis, by the rules of CommonMark, but only whole runs of the same length: most
/// texts are not Markdown, so a mark without its counterpart is part of the text, as in `src/**/*.rs` and "£25*".
fn emphasis(rest: &str, mark: char, closing: &mut Closing, plain: &mut String) -> Option<usize> {
    let after = rest.trim_start_matches(mark);
    let length = rest.len() - after.len();
    if closing.contains(&rest.len()) {
        return Some(length);
    }
    let run = Run { mark, length, before: plain.chars().next_back(), next: after.chars().next() };
    match run.opens().then(|| run.counterpart(after)).flatten() {
        Some(end) => closing.push(end),
        None => plain.push_str(rest.get(..length)?),
    }
    Some(length)
}

/// How far a run may be from its counterpart, in bytes, so that the time is linear in the length of a text.
const REACH: usize = 500;
/// The longest run that is emphasis.
const RUN: usize = 3;

/// A run of `*` or `_` between two characters.
struct Run {
    mark: char,
    length: usize,
    before: Option<char>,
    next: Option<char>,
}

impl Run {
    /// Whether emphasis may begin with it (a left-flanking delimiter run).
    fn opens(&self) -> bool {
        self.is_emphasis() && flanks(self.before, self.next, self.mark)
    }

    /// Whether emphasis may end with it (a right-flanking delimiter run). A name such as `__init__.py` goes on.
    fn closes(&self, after: &str) -> bool {
        let mut following = after.chars();
        let goes_on = match following.next() {
            Some('.') => following.next().is_some_and(char::is_alphanumeric),
            Some('(') => true,
            _ => false,
        };
        let is_name = self.mark == '_' && goes_on;
        self.is_emphasis() && !is_name && flanks(self.next, self.before, self.mark)
    }

    /// Whether it is no longer than a run of emphasis, and does not multiply: `2*3*4`.
    fn is_emphasis(&self) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_within = self.length == 1 && is_word(self.before) && is_word(self.next);
        self.length <= RUN && !is_within
    }

    /// The first run with which the emphasis ends, as [`Closing`] has it.
    fn counterpart(&self, after: &str) -> Option<usize> {
        let mut before = self.next;
        let mut is_code = false;
        let mut rest = after;
        while let Some(c) = rest.chars().next().filter(|_| after.len() - rest.len() <= REACH) {
            let behind = rest.trim_start_matches(c);
            let length = rest.len() - behind.len();
            is_code ^= c == '`';
            if c == self.mark && !is_code && length == self.length {
                let run = Run { before, next: behind.chars().next(), ..*self };
                if run.closes(behind) {
                    return Some(rest.len());
                }
            }
            before = Some(c);
            rest = behind;
        }
        None
    }
}

/// Whether a run of marks is at the side of what is `inside`: no space follows, and no punctuation, unless `outside` is a space or
/// punctuation, too. An underscore within a word is part of it.
fn flanks(outside: Option<char>, inside: Option<char>, mark: char) -> bool {
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_free = is_word(inside) && mark != '_' || !is_word(outside);
    !is_space(inside) && is_free
}

/// The label of `[label](target)` or `[label][reference]`, and the length of the whole.
fn link(rest: &str) -> Option<(&str, usize)> {
    let close = closing(rest, '[', ']')?;
    let label = rest.get(1..close)?;
    let target = rest.get(close + 1..)?;
    let end = match target.chars().next()? {
        '(' => {
            // Parentheses may be part of the address, also one without its counterpart.
            let address = target.split(char::is_whitespace).next().unwrap_or_default();
            closing(address, '(', ')').or_else(|| target.find(')'))?
        }
        '[' => target.find(']')?,
        _ => return None,
    };
    Some((label, close + 1 + end + 1))
}

/// The place of the bracket that closes the one at the beginning.
fn closing(text: &str, opening: char, closing: char) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == opening) - i32::from(c == closing);
        (depth == 0).then_some(at)
    })
}

/// The URL of `<https://…>`.
fn autolink(rest: &str) -> Option<&str> {
    let url = rest.get(1..rest.find('>')?)?;
    let is_url = url.contains("://") || url.starts_with("mailto:");
    (is_url && !url.contains(char::is_whitespace)).then_some(url)
}

/// The character that a backslash escapes. In a path or an expression, `C:\*.log` or `example\.org`, it escapes none.
fn escaped(rest: &str, before: &str) -> Option<char> {
    let next = rest.chars().nth(1)?;
    let is_mark = matches!(next, '*' | '_');
    let is_within = before.ends_with([':', '\\'])
        || !is_mark && before.ends_with(|c: char| c.is_alphanumeric());
    (!is_within && r"\`*_{}[]()#+-.!|<>".contains(next)).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::inline;

    #[test]
    fn many_marks_without_counterparts_stay_and_take_linear_time() {
        let start = std::time::Instant::now();
        let text = "*a _b ".repeat(30_000);
        assert_eq!(inline(&text), text.trim());
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    #[test]
    fn marks_go_and_words_stay() {
        for (text, expected) in [
            ("**Bold** and *it* and __b__ _i_ ***x***.", "Bold and it and b i x."),
            ("See [the guide](https://x.y/z) and [b][1].", "See the guide and b."),
            ("[Tide](https://x.y/Tide_(sea)), (see [b](c))", "Tide, (see b)"),
            ("[Tide](https://x.y/Tide_(sea) rises (twice)", "Tide rises (twice)"),
            ("[Tide](https://x.y \"a title\") rises", "Tide rises"),
            ("![picture](a.png) Text [**b**](c)", "Text b"),
            ("Call <https://x.y> or <b>", "Call https://x.y or <b>"),
            ("snake_case_name, 2 * 3 * 4, *args", "snake_case_name, 2 * 3 * 4, *args"),
            ("Set `a_b = *c*` and ``x ` y``", "Set `a_b = *c*` and ``x ` y``"),
            ("1 \\* 2 \\_x\\_ C:\\dir", "1 * 2 _x_ C:\\dir"),
            ("array[1] and [x] and [y", "array[1] and [x] and [y"),
            ("wrapped\n  line\ttab", "wrapped line tab"),
            ("中文\n换行 和", "中文换行 和"),
            ("a lone ` tick and ** there", "a lone ` tick and ** there"),
            (".org/.*(image|banner) or *.org", ".org/.*(image|banner) or *.org"),
            ("src/**/*.rs and __init__.py, f(*a, **b)", "src/**/*.rs and __init__.py, f(*a, **b)"),
            ("£25* a year, C:\\*.log, `*` and *", "£25* a year, C:\\*.log, `*` and *"),
            ("**粗体**中文, **a *b* c**, (*x*)", "粗体中文, a b c, (x)"),
        ] {
            assert_eq!(inline(text), expected);
        }
    }
}
