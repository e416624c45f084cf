//! Keys for objects without one, derived from their names.

use std::collections::BTreeSet;

/// Keys that are in use, and the maximum length.
pub(super) struct Names {
    taken: BTreeSet<String>,
    longest: usize,
}

impl Names {
    pub(super) fn new(longest: usize) -> Self {
        Self { taken: BTreeSet::new(), longest }
    }

    /// A key for a name, which no other has.
    pub(super) fn take(&mut self, name: &str) -> String {
        let slug = slug(name, self.longest);
        let mut key = slug.clone();
        let mut number = 2;
        while !self.taken.insert(key.clone()) {
            let end = format!("-{number}");
            let begin: String = slug.chars().take(self.longest.saturating_sub(end.len())).collect();
            key = begin + &end;
            number += 1;
        }
        key
    }
}

/// The name in lower-case letters, digits and hyphens, fit for a file name too.
fn slug(name: &str, longest: usize) -> String {
    let mut slug = String::new();
    for character in name.chars().take(4 * longest) {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => slug.push(character.to_ascii_lowercase()),
            '.' if !slug.is_empty() && !slug.ends_with(['.', '-']) => slug.push('.'),
            _ if !slug.is_empty() && !slug.ends_with(['.', '-']) => slug.push('-'),
            _ => {}
        }
        if slug.len() >= longest.min(40) {
            break;
        }
    }
    let slug = slug.trim_end_matches(['.', '-']);
    if slug.is_empty() { "item".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn keys_are_short_plain_and_different() {
        let mut names = Names::new(12);
        for (name, key) in [
            ("Opening hours", "opening-hour"),
            ("Opening hours!", "opening-ho-2"),
            ("../../etc/passwd", "etc-passwd"),
            ("prices.pdf", "prices.pdf"),
            ("PRICES.PDF", "prices.pdf-2"),
            ("日本", "item"),
            ("", "item-2"),
        ] {
            assert_eq!(names.take(name), key, "{name}");
        }
    }
}
