//! The nesting depth of a page, determined before the page is parsed.
//!
//! The parser takes quadratic time in the depth, and a stack frame for each level. This count looks only at tags and
//! follows only the most common rules of the parser, so it may be too high for unusual pages, and a malicious page can
//! mislead it; the sandbox of the reading process limits the damage.

use super::dom::is_inline;

/// Elements without an end tag.
const VOID: [&str; 15] = [
    "area", "base", "basefont", "br", "col", "embed", "frame", "hr", "img", "input", "link",
    "meta", "param", "source", "wbr",
];
/// Elements whose content is text up to their end tag.
const RAW: [&str; 7] = ["iframe", "noframes", "script", "style", "textarea", "title", "xmp"];
/// The elements that a start tag closes: the element, those that it closes, and those that stop the search.
const ENDS: [(&[&str], &[&str], &[&str]); 6] = [
    (&["li"], &["li"], &["ul", "ol", "menu"]),
    (&["dt", "dd"], &["dt", "dd"], &["dl"]),
    (&["td", "th"], &["td", "th"], &["table"]),
    (&["tr"], &["tr", "td", "th"], &["table"]),
    (&["tbody", "thead", "tfoot"], &["tbody", "thead", "tfoot", "tr", "td", "th"], &["table"]),
    (&["option", "optgroup"], &["option"], &["select"]),
];

/// Whether elements are nested more than `limit` deep.
pub(super) fn exceeds(source: &str, limit: usize) -> bool {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = source;
    // How much is left behind the next `>`, which is searched for once for all tags before it.
    let mut behind_end = usize::MAX;
    while let Some((_, tag)) = rest.split_once('<') {
        rest = tag;
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if let Some(end) = tag.strip_prefix('/') {
            close(&mut open, name(end));
        } else {
            let name = name(tag);
            if name.is_empty() || is_one_of(name, &VOID) {
                continue;
            }
            if is_one_of(name, &RAW) {
                rest = after_raw(tag, name);
                continue;
            }
            // In SVG and MathML, a slash closes an element; elsewhere it has no meaning.
            if is_closed(tag, &mut behind_end)
                && open.iter().any(|name| is_one_of(name, &["svg", "math"]))
            {
                continue;
            }
            end_previous(&mut open, name);
            open.push(name);
            if open.len() > limit {
                return true;
            }
        }
    }
    false
}

/// The name at the beginning of a tag; empty if there is none.
fn name(tag: &str) -> &str {
    let end = tag.find(|char: char| !char.is_ascii_alphanumeric() && char != '-');
    let name = end.map_or(tag, |end| tag.get(..end).unwrap_or_default());
    if name.starts_with(|char: char| char.is_ascii_alphabetic()) { name } else { "" }
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a tag ends in a slash. `behind_end` is the length of the text from the `>` on that was found last.
fn is_closed(tag: &str, behind_end: &mut usize) -> bool {
    if tag.len() < *behind_end {
        *behind_end = tag.find('>').map_or(0, |end| tag.len() - end);
    }
    let inside = tag.get(..tag.len() - *behind_end).filter(|_| *behind_end > 0);
    inside.is_some_and(|inside| inside.ends_with('/'))
}

/// The rest after the end tag of an element that contains only text.
fn after_raw<'a>(tag: &'a str, name: &str) -> &'a str {
    let mut rest = tag;
    while let Some((_, end)) = rest.split_once("</") {
        if end.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return end;
        }
        rest = end;
    }
    ""
}

/// Closes the innermost open element with that name, and all elements inside it.
fn close(open: &mut Vec<&str>, name: &str) {
    if let Some(place) = open.iter().rposition(|other| other.eq_ignore_ascii_case(name)) {
        open.truncate(place);
    }
}

/// Closes the elements that a start tag `name` closes.
fn end_previous(open: &mut Vec<&str>, name: &str) {
    let mut ended = None;
    if name.eq_ignore_ascii_case("p") {
        // Only inline elements may be open between two paragraphs.
        let last = open.iter().rposition(|other| !is_inline(other));
        ended = last.filter(|place| open.get(*place).is_some_and(|other| is_one_of(other, &["p"])));
    } else if let Some((_, kinds, keepers)) = ENDS.iter().find(|(of, ..)| is_one_of(name, of)) {
        let within = open.iter().enumerate().rev();
        let within = within.take_while(|(_, other)| !is_one_of(other, keepers));
        ended = within.filter(|(_, other)| is_one_of(other, kinds)).last().map(|(place, _)| place);
    }
    if let Some(place) = ended {
        open.truncate(place);
    }
}

#[cfg(test)]
mod tests {
    use super::exceeds;

    #[test]
    fn a_million_nested_elements_are_told_at_once() {
        assert!(exceeds(&"<div>".repeat(1_000_000), 512));
        assert!(exceeds(&"<div></x>".repeat(1_000_000), 512));
        assert!(exceeds(&"<DIV/>".repeat(513), 512));
        assert!(!exceeds(&"<div>".repeat(512), 512));
    }

    /// The end of each tag once was searched for in the rest of the page: minutes for these pages.
    #[test]
    fn the_time_is_linear_in_tags_without_end() {
        assert!(!exceeds(&"<p".repeat(2_000_000), 512));
        assert!(!exceeds(&format!("{}>", "<p".repeat(2_000_000)), 512));
    }

    #[test]
    fn what_follows_one_another_is_not_nested() {
        for page in [
            "<p>one",
            "<div><p>one</div>",
            "<ul><li>one<li>two</ul>",
            "<li>one",
            "<dt>a<dd><b>b</b>",
            "<br><img src=a><hr/>",
            "<table><tr><td><div>a<td>b<tr><td>c</table>",
            "<tr><td>a<b>b",
            "<svg><path/><path/></svg>",
            "<!-- <div> -->",
            "<script>'<div><div>'</script>",
            "a < b <3 <> ",
        ] {
            assert!(!exceeds(&page.repeat(1_000), 20), "{page}");
        }
    }
}
