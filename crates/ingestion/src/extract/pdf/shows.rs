//! The number of strings that a content stream shows, regardless of how much of it is read.

/// Counts the operators `Tj` and `TJ` outside strings and comments.
///
/// A parser that stops at an error ends a page's text silently; this is the number of strings that it should have
/// reached. Binary data of inline images may hide some, but never adds many.
pub(super) fn count(content: &[u8]) -> usize {
    let mut bytes = content.iter().copied().enumerate();
    let (mut depth, mut count) = (0_usize, 0);
    let mut before = b' ';
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if depth > 0 => drop(bytes.next()),
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'%' if depth == 0 => drop(bytes.find(|(_, byte)| matches!(byte, b'\n' | b'\r'))),
            b'T' if depth == 0 && is_apart(before) => {
                let next = content.get(at + 1).copied().unwrap_or_default();
                let after = content.get(at + 2).copied().unwrap_or(b' ');
                count += usize::from(matches!(next, b'j' | b'J') && is_apart(after));
            }
            _ => {}
        }
        // A comment ends with its line.
        before = if byte == b'%' && depth == 0 { b' ' } else { byte };
    }
    count
}

/// Whether an operator can begin after such a byte, or end before it.
fn is_apart(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0 | b')' | b']' | b'>' | b'(' | b'[' | b'<' | b'/')
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn operators_are_counted_outside_of_strings() {
        assert_eq!(count(b"BT (a Tj) Tj [(b) 3 (c\\) TJ)]TJ ET"), 2);
        assert_eq!(count(b"(Tj) % Tj\nTj"), 1);
        assert_eq!(count(b"(a)) Tj (b) Tj /TjX gs"), 2);
        assert_eq!(count(b""), 0);
    }
}
