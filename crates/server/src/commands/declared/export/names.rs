//! Keys of objects in the written file, and names of the files next to it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api_client::managed;

/// The longest name that is derived from a title.
const DERIVED_CHARS: usize = 40;

/// The keys of the objects of a list.
///
/// Invariant: an object that the set manages keeps its key, because another one would be another object to `apply`.
pub(super) struct Keys<'a> {
    set: &'a str,
    /// What the server puts before the keys of the file: the key of the agent and a slash.
    begin: String,
    /// Whether a file can have such a key.
    fits: fn(&str) -> bool,
    names: Names,
}

impl<'a> Keys<'a> {
    /// Reserves the keys that objects have in the set.
    pub(super) fn of(
        set: &'a str,
        begin: String,
        fits: fn(&str) -> bool,
        objects: &[Value],
    ) -> Self {
        let longest = cicerone_domain::limits::MANAGED_KEY_CHARS.saturating_sub(begin.len());
        let mut keys = Self { set, begin, fits, names: Names::new(longest.min(DERIVED_CHARS)) };
        for object in objects {
            if let Some(own) = keys.own(object) {
                keys.names.taken.insert(own.to_owned());
            }
        }
        keys
    }

    /// The key that an object has in the set.
    pub(super) fn own<'o>(&self, object: &'o Value) -> Option<&'o str> {
        if managed(object, "set") != self.set {
            return None;
        }
        managed(object, "key").strip_prefix(&self.begin).filter(|key| (self.fits)(key))
    }

    /// The key of an object: its own one, or one that is derived from a name.
    pub(super) fn key(&mut self, object: &Value, name: &str) -> String {
        let own = self.own(object).map(str::to_owned);
        own.unwrap_or_else(|| self.names.take(name, ""))
    }
}

/// Names that are in use, and the maximum length.
pub(super) struct Names {
    taken: BTreeSet<String>,
    longest: usize,
}

impl Names {
    fn new(longest: usize) -> Self {
        Self { taken: BTreeSet::new(), longest }
    }

    /// Names of files.
    pub(super) fn of_files() -> Self {
        Self::new(DERIVED_CHARS)
    }

    /// A name with this end, which no other has. It is fit for a key and for a file, on file systems too that do not
    /// distinguish upper and lower case.
    pub(super) fn take(&mut self, name: &str, end: &str) -> String {
        let slug = slug(name, self.longest);
        let mut taken = format!("{slug}{end}");
        let mut number = 2;
        while !self.taken.insert(taken.clone()) {
            let count = format!("-{number}");
            let most = self.longest.saturating_sub(count.len());
            let begin: String = slug.chars().take(most).collect();
            taken = format!("{begin}{count}{end}");
            number += 1;
        }
        taken
    }
}

/// The name in lower-case letters, digits and hyphens.
fn slug(name: &str, longest: usize) -> String {
    let mut slug = String::new();
    for character in name.chars().take(4 * longest) {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => slug.push(character.to_ascii_lowercase()),
            '.' if !slug.is_empty() && !slug.ends_with(['.', '-']) => slug.push('.'),
            _ if !slug.is_empty() && !slug.ends_with(['.', '-']) => slug.push('-'),
            _ => {}
        }
        if slug.len() >= longest {
            break;
        }
    }
    let slug = slug.trim_end_matches(['.', '-']);
    if slug.is_empty() { "item".to_owned() } else { slug.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Keys, Names};

    #[test]
    fn names_are_short_plain_and_different() {
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
            assert_eq!(names.take(name, ""), key, "{name}");
        }
        let mut files = Names::of_files();
        let taken = ["a", "A", "b"].map(|name| files.take(name, ".txt"));
        assert_eq!(taken, ["a.txt", "a-2.txt", "b.txt"]);
    }

    fn of_set(set: &str, key: &str) -> Value {
        json!({ "managed": { "set": set, "key": key, "hash": "" } })
    }

    #[test]
    fn keys_of_the_set_stay_and_the_others_make_way() {
        let long = format!("guide/{}", "x".repeat(62));
        let objects = [
            json!({ "managed": null }),
            of_set("other", "guide/hours"),
            of_set("museum", "guide/hours"),
            of_set("museum", "guide/de/hours"),
            of_set("museum", "guide/Hours_EN"),
            of_set("museum", &long),
            of_set("museum", "docent/hours"),
        ];
        let mut keys = Keys::of("museum", "guide/".to_owned(), |_| true, &objects);
        let keys: Vec<String> = objects.iter().map(|one| keys.key(one, "Hours")).collect();
        let expected =
            ["hours-2", "hours-3", "hours", "de/hours", "Hours_EN", &long[6..], "hours-4"];
        assert_eq!(keys, expected);
    }

    #[test]
    fn a_key_that_no_file_can_have_is_replaced() {
        let objects = [of_set("museum", "a/b"), of_set("museum", "a")];
        let mut keys = Keys::of("museum", String::new(), |key| !key.contains('/'), &objects);
        assert_eq!(objects.each_ref().map(|one| keys.key(one, "A")), ["a-2", "a"]);
    }
}
