//! Composing a readable text from the chosen sentences.

use cicerone_language::defined_term;

use super::choose::Quoted;
use super::naming::name;
use super::plain;
use super::units::{Kind, STOPS, Unit, fence_of};

/// The longest list item, in words, that is quoted with the sentence or heading above its list.
const FRAGMENT_WORDS: usize = 8;

/// The reply: the sentences of each passage in their order, with passages separated. If there is room within `limit`
/// characters, with headings that name what they are about, unless the `question` does.
pub(super) fn text(passages: &[Quoted<'_>], question: &str, limit: usize) -> String {
    let chars = |quoted: &Quoted<'_>| -> usize {
        let units = quoted.chosen.iter().filter_map(|unit| quoted.units().get(*unit));
        units.map(|unit| quoted.text(unit).chars().count() + 1).sum()
    };
    let room = limit.saturating_sub(passages.iter().map(chars).sum());
    let mut names = Names { question, room, last: None };
    let texts = passages.iter().map(|quoted| passage(quoted, &mut names));
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// The headings that name what a reply is about.
struct Names<'q, 'a> {
    question: &'q str,
    /// The characters that are left for headings.
    room: usize,
    /// The heading of the last sentence.
    last: Option<&'a str>,
}

impl<'a> Names<'_, 'a> {
    /// The heading to put before a `piece` of the reply: the innermost one above `unit` that names something, if it has changed
    /// and neither the piece nor the question has the name. `outer` are those above all of the passage.
    fn of(
        &mut self,
        quoted: &Quoted<'a>,
        outer: &[&'a str],
        unit: &Unit,
        piece: &str,
    ) -> Option<&'a str> {
        let mut headings = quoted.headings_of(unit).chain(outer.iter().copied());
        let named = headings.find_map(|heading| Some((heading, name(heading)?)));
        let (heading, name) = named.unzip();
        if heading == std::mem::replace(&mut self.last, heading) {
            return None;
        }
        let (heading, name) = (heading?, name?);
        if piece.contains(name) || self.is_asked(name) {
            return None;
        }
        self.room = self.room.checked_sub(heading.chars().count() + 2)?;
        Some(heading)
    }

    /// Whether the question has a name, in upper or lower case.
    fn is_asked(&self, name: &str) -> bool {
        let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '%');
        let name = name.to_lowercase();
        let mut words = self.question.split_whitespace().map(|word| word.trim_matches(is_edge));
        words.any(|word| word.to_lowercase() == name)
    }
}

fn passage<'a>(quoted: &Quoted<'a>, names: &mut Names<'_, 'a>) -> String {
    let chosen: Vec<&Unit> =
        quoted.chosen.iter().filter_map(|unit| quoted.units().get(*unit)).collect();
    let outer = quoted.outer_headings(|heading| name(heading).is_some());
    let mut text = String::new();
    let mut before: Option<&Unit> = None;
    for unit in &chosen {
        let is_listed = chosen.iter().filter(|other| other.block == unit.block).count() > 1;
        let mut piece = render(quoted, unit, is_listed);
        if piece.is_empty() {
            continue;
        }
        // The definition of a term cannot be understood without the term.
        if let Some(term) = term(quoted, unit)
            && before.is_none_or(|before| before.block != unit.block)
        {
            piece = format!("{}: {piece}", plain::inline(term));
        }
        // An item that is not a sentence cannot be understood without the text above its list: "Drones" below "You may not bring".
        if before.is_none_or(|before| before.block != unit.block)
            && let Some(lead) = lead(quoted, unit, before)
        {
            let gap = if is_listed { '\n' } else { ' ' };
            piece = format!("{lead}:{gap}{piece}");
        }
        // What is said below the name of a setting or function cannot be understood without the name. The text
        // above a list may be it.
        if let Some(heading) = names.of(quoted, &outer, unit, &piece) {
            let heading = plain::inline(heading);
            let heading = heading.trim_end_matches([':', '：', ' ']);
            // Code and lists begin on a line of their own.
            let is_block = unit.kind == Kind::Code || is_listed && unit.kind != Kind::Sentence;
            let gap = if is_block { '\n' } else { ' ' };
            piece = format!("{heading}:{gap}{piece}");
        }
        if let Some(before) = before {
            text.push_str(gap(before, unit, &text));
        }
        text.push_str(&piece);
        before = Some(unit);
    }
    text
}

/// The text above a list that explains its items, if the item is not a sentence: the sentence before the list if it introduces
/// it, otherwise the heading above it. `None` if `before`, which is quoted before the unit, is that sentence, and for other units.
fn lead(quoted: &Quoted<'_>, unit: &Unit, before: Option<&Unit>) -> Option<String> {
    if !matches!(unit.kind, Kind::Item { .. }) || !is_fragment(quoted.text(unit)) {
        return None;
    }
    let outside = |other: &&Unit| other.block != unit.block && other.range.start < unit.range.start;
    let above = quoted.units().iter().rev().find(outside);
    let introducing = above
        .filter(|above| above.kind == Kind::Sentence && quoted.text(above).ends_with([':', '：']));
    if introducing.is_some() && introducing == before {
        return None;
    }
    let heading = || {
        let inner = quoted.headings_of(unit).next();
        inner.or_else(|| quoted.outer_headings(|_| true).first().copied())
    };
    let lead = introducing.map(|sentence| quoted.text(sentence)).or_else(heading)?;
    let lead = plain::inline(lead);
    let lead = lead.trim_end_matches([':', '：', ' ']);
    (!lead.is_empty()).then(|| lead.to_owned())
}

/// Whether the item of a list is only a few words, without a full stop or a colon.
fn is_fragment(item: &str) -> bool {
    let (_, text) = item.split_once(char::is_whitespace).unwrap_or_default();
    let is_short = text.split_whitespace().nth(FRAGMENT_WORDS).is_none();
    is_short
        && !text.contains([':', '：', '`', '=', '–', '—'])
        && !text.ends_with(STOPS)
        && !text.ends_with(';')
}

/// The term, an option or other code, that the paragraph of a sentence defines; `None` if the
/// sentence itself contains it.
fn term<'a>(quoted: &Quoted<'a>, unit: &Unit) -> Option<&'a str> {
    let first = quoted.units().iter().find(|first| first.block == unit.block)?;
    let is_later = unit.kind == Kind::Sentence && first.range.start < unit.range.start;
    let term = defined_term(quoted.text(first)).filter(|_| is_later)?;
    term.starts_with(['`', '-']).then_some(term)
}

/// The separator between two units, after the `text` so far.
fn gap(before: &Unit, unit: &Unit, text: &str) -> &'static str {
    if before.kind != Kind::Sentence || unit.kind != Kind::Sentence {
        return "\n";
    }
    // A value stands on a line of its own, also if it ends with a remark: "Weight: 24 kg (size M)".
    let last = text.lines().next_back().unwrap_or_default();
    let sentence = last.trim_end_matches(['”', '"', ')']);
    if before.block != unit.block && !sentence.ends_with(STOPS) {
        return "\n";
    }
    let inner = text.trim_end_matches(['”', '’', '）']);
    let is_wide = inner.ends_with(['。', '！', '？', '」', '』']);
    if is_wide { "" } else { " " }
}

/// A unit as plain text. A single list item has no marker.
fn render(quoted: &Quoted<'_>, unit: &Unit, is_listed: bool) -> String {
    let text = quoted.text(unit);
    match unit.kind {
        Kind::Code => closed(text),
        Kind::Item { .. } => match text.split_once(char::is_whitespace) {
            Some((marker, rest)) if is_listed => {
                let marker = if marker == "*" { "-" } else { marker };
                format!("{marker} {}", plain::inline(rest))
            }
            Some((_, rest)) => plain::inline(rest),
            None => plain::inline(text),
        },
        Kind::Row => row(text, header(quoted, unit)),
        Kind::Header | Kind::Heading | Kind::Sentence => plain::inline(text),
    }
}

/// Code with both fences: a passage may end within it.
fn closed(code: &str) -> String {
    let fence = fence_of(code.trim_start()).unwrap_or_default();
    let last = code.lines().next_back().map_or("", str::trim);
    let is_closed = code.contains('\n') && last.starts_with(fence);
    if is_closed { code.to_owned() } else { format!("{code}\n{fence}") }
}

/// The header of the row's table.
fn header<'a>(quoted: &Quoted<'a>, row: &Unit) -> Option<&'a str> {
    let mut table = quoted.units().iter().filter(|unit| unit.block == row.block);
    table.find(|unit| unit.kind == Kind::Header).map(|unit| quoted.text(unit))
}

/// A row of a table: each cell with the name of its column, if it has one.
fn row(text: &str, header: Option<&str>) -> String {
    let values = cells(text);
    let names = header.map(cells).unwrap_or_default();
    if names.len() == values.len() && names.len() > 1 {
        let named = names.iter().zip(&values).filter(|(_, value)| !value.is_empty());
        let named = named.map(|(name, value)| labelled(name, value));
        return named.collect::<Vec<_>>().join("; ");
    }
    let values: Vec<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
    match values.as_slice() {
        [name, value] => labelled(name, value),
        values => values.join("; "),
    }
}

/// A value with its name, which may end with a colon already.
fn labelled(name: &str, value: &str) -> String {
    match name.trim_end_matches([':', '：']) {
        "" => value.to_owned(),
        name => format!("{name}: {value}"),
    }
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim();
    if row.contains('|') {
        let row = row.strip_prefix('|').unwrap_or(row);
        let row = row.strip_suffix('|').unwrap_or(row);
        // If a bar within a cell is escaped, the next piece belongs to the same cell.
        let mut cells: Vec<String> = Vec::new();
        let mut is_open = false;
        for piece in row.split('|') {
            match cells.last_mut().filter(|_| is_open) {
                Some(cell) => cell.push_str(piece),
                None => cells.push(piece.to_owned()),
            }
            is_open = piece.ends_with('\\');
            if let Some(cell) = cells.last_mut().filter(|_| is_open) {
                cell.pop();
                cell.push('|');
            }
        }
        return cells.iter().map(|cell| plain::inline(cell)).collect();
    }
    row.split('\t').map(plain::inline).collect()
}

#[cfg(test)]
mod tests {
    use super::closed;

    #[test]
    fn code_that_is_cut_gets_its_fence() {
        for (code, whole) in [
            ("```sh\nls", "```sh\nls\n```"),
            ("```sh\nls\n```", "```sh\nls\n```"),
            ("   ```sh\n   ls", "   ```sh\n   ls\n```"),
            ("   ```sh\n   ls\n   ```", "   ```sh\n   ls\n   ```"),
            ("````md\n```\nls\n```", "````md\n```\nls\n```\n````"),
        ] {
            assert_eq!(closed(code), whole);
        }
    }
}
